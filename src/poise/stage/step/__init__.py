"""The step: a list of laws and Python calls, made once for every change, run as one compiled program where it can
be.
"""
