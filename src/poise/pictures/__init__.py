"""Pictures, films and plots, without a screen or OpenGL.

Read `picture` first: bodies, items and a camera, drawn by `raster`; `film` and `image` write files,
`plots` draws curves.
"""
