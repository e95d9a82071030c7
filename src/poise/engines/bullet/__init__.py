"""The engine `bullet`."""
