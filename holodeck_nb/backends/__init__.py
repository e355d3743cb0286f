"""Whom we talk to: sessions with an agent, scripted, called or reached over a network."""
