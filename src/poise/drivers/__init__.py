"""What moves a part of a body: one driver a file."""
