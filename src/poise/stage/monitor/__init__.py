"""What is watched while a stage runs: events, contacts, effort, falls, and states that are not finite."""
