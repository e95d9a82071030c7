"""The package's algorithms once more, written another way: for reading, and to hold the fast ones to."""
