"""A pose of a room, put aside and taken up again: numbers in one row, compiled.

Numba writes out every `a[:] = b` where it stands, with all that broadcasting asks for. Poses are kept in a dozen places
of kernels that are long as they are: a call each is half of their machine code, and of the time to compile it.
"""

from __future__ import annotations

import numpy as np

from poise.ik.row_kernels import Room
from poise.spatial.compile import kernel


@kernel
def keep_pose(room: Room, kept: np.ndarray) -> None:
    """Write a room's pose into a row of `count_kept`."""
    j, at = len(room.angles), 0
    for k in range(j):
        for a in range(3):
            kept[at] = room.angles[k, a]
            at += 1
            for b in range(3):
                kept[at] = room.local[k, a, b]
                at += 1
    for a in range(3):
        kept[at] = room.place[a]
        at += 1
        for b in range(3):
            kept[at] = room.turn[a, b]
            at += 1


@kernel
def take_pose(kept: np.ndarray, room: Room) -> None:
    """Have a room be in the pose that was kept."""
    j, at = len(room.angles), 0
    for k in range(j):
        for a in range(3):
            room.angles[k, a] = kept[at]
            at += 1
            for b in range(3):
                room.local[k, a, b] = kept[at]
                at += 1
    for a in range(3):
        room.place[a] = kept[at]
        at += 1
        for b in range(3):
            room.turn[a, b] = kept[at]
            at += 1


@kernel
def count_kept(room: Room) -> int:
    """Numbers of a pose."""
    return 12 * len(room.angles) + 12


@kernel
def forget_bounds(room: Room) -> None:
    """Nothing is known of which ranges and rows push."""
    for j in range(len(room.locked)):
        room.locked[j] = 0
    for i in range(len(room.pushes)):
        room.pushes[i] = 0
