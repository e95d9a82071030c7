"""Jobs: whole tasks from files to files, called by commands, recipes and Python alike; one file or folder per job."""
