"""Monitors of a running stage: events, contacts, effort, falls, and states that are not finite."""
