"""A foot on the ground and in the air: stance, swing, and the compiled poses of both."""
