"""From the numbers of a file to metres, Y up and roles. Read `pipeline` first: its steps, each of which returns
findings.

`recording` is what a reader returns, `options` what the caller states. The steps: `repairs`, `unit`, `up_axis`,
`rest_pose`; `reframe` applies what they found. `observations` are remarks that change nothing.
"""
