"""Other programs that tests ask: Blender, Chromium, the Khronos glTF validator."""
