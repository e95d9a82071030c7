"""Takes: the recorded result of a run, and its file."""
