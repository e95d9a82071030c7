"""From where a hand or foot should be to the joint rotations that put it there."""
