"""Demos of the balance paper: poses and walks by inverse kinematics with the centre of mass first."""
