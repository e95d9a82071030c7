"""Where everything of a body is, from its state."""

from __future__ import annotations

from poise.dynamics.body_kernels import BODY, update_body
from poise.spatial.addresses import record
from poise.spatial.law import law


@law
def update(body: int, _block: int) -> None:
    """World poses and velocities, and the centre of mass."""
    update_body(record(body, BODY))
