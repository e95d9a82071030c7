"""Drivers of the root: free, attached to a prop, or anchored to the contact that bears the body."""
