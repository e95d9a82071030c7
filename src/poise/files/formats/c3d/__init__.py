"""C3D: tables of a file, where its data are, markers and force plates."""
