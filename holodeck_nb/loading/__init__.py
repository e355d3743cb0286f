"""From a file to a suite, or to every problem in it at once."""
