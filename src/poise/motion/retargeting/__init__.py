"""Motion from one skeleton onto another. `transfer` tells the story.

    reference  one pose in which a role means the same on every skeleton
    draft      what each joint takes over from the source
    feet       feet that stand
    hands      hands that touch
    easing     corrections that come and go smoothly
    transfer   all of these: `retarget`
    metrics    how well the result sits: `measure_retargeting`

Names are found in their modules when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.motion.retargeting.metrics import measure_retargeting
    from poise.motion.retargeting.transfer import retarget

_HOME = {"measure_retargeting": "metrics", "retarget": "transfer"}
__all__ = [
    "measure_retargeting",
    "retarget",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
