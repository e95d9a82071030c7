"""The world besides bodies: ground, props, loads, pushes, and settings of contacts."""
