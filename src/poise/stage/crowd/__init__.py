"""Crowds: many actors stepped on several threads."""
