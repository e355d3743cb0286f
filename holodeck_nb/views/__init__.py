"""How results are shown: frames, HTML, progress, reports. Reads results only."""
