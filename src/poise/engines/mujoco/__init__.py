"""The engine `mujoco`: its model of a scene, its step as compiled laws, and contacts of prescribed segments."""
