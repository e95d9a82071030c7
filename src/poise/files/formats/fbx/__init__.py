"""FBX, read and written by Blender in a process of its own."""
