"""Grounds. Read `ground` first (level, sloped), then `profile` (stairs among them), `height_map` and `moving`.

`floor` is a ground with fixed props, `record` the same as compiled code reads it, `kernels` the queries. `terrain`
builds grounds by name, `files` reads them.
"""
