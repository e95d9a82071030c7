"""`Puppet`: a body that hands play. Read `puppet.py` (driver) and `player.py` (frames) first.

`supports.py` chooses the support that the root hangs from, `ground_contact.py` decides which feet are down,
`feet.py` holds them, `flight.py` is for hops, `get_up.py` for falls; `settings.py` has what they share.
"""
