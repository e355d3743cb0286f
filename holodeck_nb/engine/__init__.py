"""The road: sessions, turns, scoring, in the order of the suite."""
