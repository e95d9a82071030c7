"""One file or folder per format. `files/registry.py` lists them."""
