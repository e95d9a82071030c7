"""Physics engines behind one small protocol, `engine.py`; one folder per adapter. Engines know no drivers."""
