"""Acclaim: a skeleton (ASF) and its motion (AMC)."""
