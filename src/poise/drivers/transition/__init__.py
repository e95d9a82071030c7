"""Hand-overs: the position and velocity at which one driver ends blend into what the next driver asks for."""
