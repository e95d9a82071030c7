"""Steps that several jobs take, in the order in which they take them: body, base, simulation, outputs, metrics,
pictures.
"""
