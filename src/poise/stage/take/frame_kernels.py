"""A frame of a body, compiled: its state with given joints at the frame's time, and the torques of its joints."""

from __future__ import annotations

from typing import Annotated

from poise.compiled.kernel import kernel
from poise.compiled.layout import Floats, Ints, Layout, at
from poise.compiled.views import call_with_two
from poise.dynamics.body_kernels import Body, update_body
from poise.stage.monitor.kernels import JointLoads, measure


class Frame(Layout):
    """One frame, and the calls that write given joints."""

    joints: int
    write_count: int
    writes: Annotated[Ints, "write_count", 3]  # law, body and block
    root: Annotated[Floats, 3]
    velocity: Annotated[Floats, 3]
    center: Annotated[Floats, 3]
    center_velocity: Annotated[Floats, 3]
    rotations: Annotated[Floats, "joints", 4]
    angular_velocity: Annotated[Floats, "joints", 3]


@kernel
def record_frame(body: int, block: int, joint_loads: int, t: float) -> int:
    """Write a frame at time t (s), and the loads in it; restore the body's state, but not its poses in the world.

    body, block, joint_loads  addresses of the `Body`, the `Frame` and the `JointLoads`

    Return the number of joints whose overload begins or ends.
    """
    b, frame, loads = at(body, Body), at(block, Frame), at(joint_loads, JointLoads)
    writes = frame.writes
    q, w, dw, root, v = b.q.copy(), b.w.copy(), b.dw.copy(), b.root.copy(), b.v.copy()
    b.at = t
    for k in range(frame.write_count):
        call_with_two(writes[k, 0], writes[k, 1], writes[k, 2])
    update_body(b)
    changed = measure(b, loads)
    frame.root[:], frame.velocity[:], frame.center[:], frame.center_velocity[:] = b.root, b.v, b.c, b.dc
    frame.rotations[:], frame.angular_velocity[:] = b.q, b.w
    b.q[:], b.w[:], b.dw[:], b.root[:], b.v[:] = q, w, dw, root, v
    return changed
