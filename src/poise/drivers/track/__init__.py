"""`Track`: springs follow a clip or a live motion."""
