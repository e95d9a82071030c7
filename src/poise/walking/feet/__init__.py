"""One foot, planted and swinging.

Read `foot` (its shape) and `stance` (its stances and swings) first; `swing` finds a swing that clears the ground.
`records` and `kernels` are the same in compiled code.
"""
