"""Writing a clip: `writing` chooses form and body, `round_trip` reads the written file back and measures its error.

`independent` reads files once more by code that shares nothing with readers and writers.
"""
