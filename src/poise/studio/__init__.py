"""Pages: what is shown and played in a browser."""
