"""`Strength`: joints follow a motion as far as muscles and friction allow."""
