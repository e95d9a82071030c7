"""Pages in a browser, in which a puppet is shown and played."""
