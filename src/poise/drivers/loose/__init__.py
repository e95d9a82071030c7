"""`Loose` joints hang on springs; joints without a driver rest in a pose; a body that falls goes limp."""
