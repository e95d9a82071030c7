"""Torques that joints can give: constant ranges, and ranges that depend on angle and velocity."""
