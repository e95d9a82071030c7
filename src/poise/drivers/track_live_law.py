"""Springs that follow a motion as it comes, as a law: `track_law` with another guide."""

from __future__ import annotations

from poise.drivers.live_law import FOLLOWER, play
from poise.drivers.loose_law import SPRINGS
from poise.drivers.track_law import FOLLOWED, pull_along
from poise.dynamics.body_kernels import BODY
from poise.spatial.addresses import record, vectors
from poise.spatial.law import law


@law
def follow(body: int, block: int) -> None:
    """Torques towards where the motion is at the end of the step."""
    b, x = record(body, BODY), record(block, FOLLOWED)
    s, g = record(x.springs, SPRINGS), record(x.guide, FOLLOWER)
    play(g, b.t + 0.5 * b.dt)
    pull_along(b, x, s, vectors(g.q, s.count, 4), vectors(g.w, s.count, 3), vectors(g.dw, s.count, 3))
