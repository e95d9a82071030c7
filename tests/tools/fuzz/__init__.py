"""Broken files by the thousand, for every reader in FORMATS: docs/fuzzing.md tells how to run them."""
