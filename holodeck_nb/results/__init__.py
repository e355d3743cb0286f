"""What happened: records of turns, their roll-ups, and the stream of events."""
