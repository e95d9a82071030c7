"""The compiled solver: rows of goals, blocks of unknowns, steps, and the search near what is out of reach."""
