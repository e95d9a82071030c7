"""Drivers of the root: `root.py` (free, or attached to a prop) and `anchored.py` (hanging from a fixed contact).

`anchor.py` and `kernels.py` are the mechanism of anchored roots, which puppets and walks use, too; `supports.py` and
`support_plan.py` choose the contact.
"""
