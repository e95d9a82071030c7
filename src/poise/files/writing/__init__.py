"""Writing a clip, and reading back where its joints are by code that shares nothing with the writers."""
