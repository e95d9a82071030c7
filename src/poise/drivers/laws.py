"""Everything that a compiled law is written with, in one place: `from poise.extend import laws`.

    class Springs(laws.Layout):
        count: int
        joints: Annotated[laws.Ints, "count"]
        ...

    @laws.law
    def pull(body, block):
        pull_joints(laws.at(body, laws.Body), laws.at(block, Springs))

`fields` and `record` are the older way to the same memory: fields are addresses there, and views make arrays of them.

A file with laws is imported when they are used: Numba takes half a second to import.
"""

from __future__ import annotations

from poise.compiled.kernel import kernel
from poise.compiled.law import Block, Law, fields, law
from poise.compiled.layout import Flags, Floats, Ints, Layout, at
from poise.compiled.views import blocks, flags, floats, integers, record, tables, vectors
from poise.drivers.loose.kernels import pull_to_pose, tell_aims
from poise.dynamics.body_kernels import BODY, Body, cross, turn, turn_back, update_body
from poise.motion.playback.part_kernels import log_between, multiply, set_exp

__all__ = [
    "BODY",
    "Block",
    "Body",
    "Flags",
    "Floats",
    "Ints",
    "Law",
    "Layout",
    "at",
    "blocks",
    "cross",
    "fields",
    "flags",
    "floats",
    "integers",
    "kernel",
    "law",
    "log_between",
    "multiply",
    "pull_to_pose",
    "record",
    "set_exp",
    "tables",
    "tell_aims",
    "turn",
    "turn_back",
    "update_body",
    "vectors",
]
