"""Edits of clips: time, blends, sequences, loops, mirrors, and offsets by inverse kinematics."""
