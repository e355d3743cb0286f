"""What is asked: the suite file as frozen models."""
