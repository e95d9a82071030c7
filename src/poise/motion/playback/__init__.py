"""Playing motions from compiled code: cubic splines, clocks and fades."""
