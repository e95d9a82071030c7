"""Streams in and out, gamepads, sound: what comes and goes while a stage runs."""
