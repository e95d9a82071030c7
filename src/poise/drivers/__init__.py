"""Drivers, each of which moves a part of a body; one folder per driver. Read `driver`, `body` and `loose/` first."""
