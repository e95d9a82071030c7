"""Acclaim: `asf` reads a skeleton, `amc` its motion. Both are only read."""
