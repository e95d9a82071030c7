"""One file or folder per format; `files/registry.py` lists them. A format is imported when it is first used.

A reader returns a `Recording`, in the file's own units and axes; `files/reading` interprets it. `markers` is shared by
the formats of optical markers (C3D, TRC).
"""
