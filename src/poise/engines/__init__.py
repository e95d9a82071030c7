"""Physics engines behind one small protocol: `engine.py` is what the stage speaks to, one adapter a file."""
