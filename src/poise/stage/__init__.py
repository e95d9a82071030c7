"""The stage: actors, the drivers of their joints, the coupling of their parts, and the step."""
