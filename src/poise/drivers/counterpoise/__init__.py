"""`Counterpoise`: trunk and head lean against what the arms do to the centre of mass.

`lean` measures the arms' shift; `leaning` turns the targets of springs, where springs hold the trunk; `taking_part`
plays a gesture's own track of the body.
"""
