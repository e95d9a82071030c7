"""BVH: its grammar, clips out of its channels, and two writers, clean and in the source's own form."""
