"""Shapes of bodies.

`primitives`, `mesh`, `polyhedron` and `loft` are shapes alone. `rest_frame` measures a rest pose; `mannequin` draws a
body on it (`mannequin_sections` has its tables), `soles` finds the soles. `skin` is a character's mesh, `skin_segments`
cuts it into segments.
"""
