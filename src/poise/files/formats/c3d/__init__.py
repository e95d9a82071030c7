"""C3D: `tables` reads the parameters and data that `layout` locates, `c3d` makes markers of them, `force_plates`
forces.
"""
