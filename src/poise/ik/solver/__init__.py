"""The compiled solver. Read `records` first: the layouts that all kernels share.

`model_kernels` places the bodies, `row_kernels` writes a row for each number that a goal asks for, `block_kernels`
solves the rows (`published_kernels`: by the published methods), and `step_kernels` turns the joints. `solve_kernels`
finds one pose of these steps, `unreachable_kernels` and `quadratic_kernels` bring it near goals that are out of reach,
`follow_kernels` poses frame after frame. `limb_bfgs_kernels` stands alone.
"""
