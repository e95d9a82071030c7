"""A body that is played by two hands: what they do, what that means, and the little physics in between."""
