"""The surroundings of a body: `ground`, `prop`, loads and pushes (`forces`), `contact_settings`.

`collision_shapes` and `foot_boxes` are the body's shapes for contacts, `overlap` finds shapes that overlap, `grip` a
prop in a hand, `scenery` a file of all that. `swing` is a prop for the demos. Nothing here knows an engine.
"""
