"""Motions played by compiled code: `track` builds cubic splines, `kernels` evaluates them on a clock, `part_kernels`
fades between two and takes joints over.
"""
