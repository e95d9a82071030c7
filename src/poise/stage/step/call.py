"""An entry of the step's list: a law, and the body and block that it is called with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np

from poise.compiled.law import Block


class Addressed(Protocol):
    """A law or a callback."""

    @property
    def address(self) -> int:
        """Where it is in memory."""
        ...


class Call(NamedTuple):
    """A law, and the body and the block that it is called with."""

    law: Addressed
    body: Block
    block: Block


def build_table(calls: Sequence[Call]) -> np.ndarray:
    """Return the addresses (n, 3) of law, body and block of each call."""
    rows = [[call.law.address, call.body.address, call.block.address] for call in calls]
    return np.array(rows, np.int64).reshape(-1, 3)
