"""What there is besides bodies: ground, props and loads."""
