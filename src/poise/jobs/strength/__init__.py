"""How strong a body is, and how strong it has to be for a motion. `job` has the command, `needed` the method."""
