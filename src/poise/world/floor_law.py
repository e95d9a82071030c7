"""What is under a place, as a law: for floors that are more than a level ground that stands still."""

from __future__ import annotations

from poise.spatial.addresses import record
from poise.spatial.law import law
from poise.world.floor_kernels import search_floor
from poise.world.ground_record import GROUND


@law
def find(floor: int, _nothing: int) -> None:
    """Answer what is asked of the record, in it."""
    x = record(floor, GROUND)
    x.found[0], x.found[1], x.found[2], x.found[3] = search_floor(x, x.asked[0], x.asked[1], x.asked[2])
