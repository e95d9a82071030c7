"""Compiled contact: forces within friction cones, and what they do to joint accelerations and torques."""
