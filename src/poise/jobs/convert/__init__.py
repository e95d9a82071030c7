"""The conversion of a motion file, or of every file of a folder: `job.py`, then `folder.py`."""
