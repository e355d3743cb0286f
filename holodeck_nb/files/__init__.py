"""Files as turn inputs: fetched, kept, and read in bounded child processes."""
