"""An entry of the step's list: a law, and whom it is called with."""

from __future__ import annotations

from typing import NamedTuple, Protocol

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
