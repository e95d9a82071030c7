"""What is done with motions from beginning to end: one file a job, called by commands, recipes and Python alike."""
