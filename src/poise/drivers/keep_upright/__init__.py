"""`KeepUpright`: a hand keeps a held staff upright."""
