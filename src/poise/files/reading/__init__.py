"""From what a file states to metres, Y up and roles: `pipeline` does it in steps, each of which says what it found."""
