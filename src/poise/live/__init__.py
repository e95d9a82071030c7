"""Streams in and out, gamepads, sound, and the session of a puppet: what comes and goes while a stage runs."""
