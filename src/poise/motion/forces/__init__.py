"""Ground force and joint torques from motion alone."""
