"""A push: a force on a body for a while."""

from __future__ import annotations

import math
from dataclasses import dataclass

from poise.errors import InputError
from poise.kinds import checked


@checked
@dataclass(frozen=True)
class Push:
    """A force on one body, at its centre of mass.

    joint    name or role of the joint whose body is pushed
    force    (3,) N, world axes
    seconds  s that it lasts
    start    s on the stage's clock; in a mix, since the clip's first frame
    """

    joint: str
    force: tuple[float, float, float]
    seconds: float
    start: float = 0.0

    def __post_init__(self) -> None:
        if not isinstance(self.joint, str):
            raise InputError(f"a push is at a joint, by its name or role, as in 'chest'; given {self.joint!r}.")
        try:
            x, y, z = (float(a) for a in self.force)
        except (TypeError, ValueError):
            raise InputError(f"a push is three newtons (world axes); given {self.force!r}.") from None
        try:
            seconds, start = float(self.seconds), float(self.start)
        except (TypeError, ValueError):
            raise InputError(
                f"a push begins and lasts for numbers of seconds; given {self.start!r} and {self.seconds!r}."
            ) from None
        if not (all(map(math.isfinite, (x, y, z, seconds, start))) and seconds > 0.0):
            raise InputError(f"a push takes finite newtons for more than 0 s; given {[x, y, z]} for {seconds:g} s.")
        for name, value in (("force", (x, y, z)), ("seconds", seconds), ("start", start)):
            object.__setattr__(self, name, value)
