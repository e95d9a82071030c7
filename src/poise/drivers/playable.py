"""What can be played on a body: a clip, a gesture, or anything else that gives a pose at a time."""

from __future__ import annotations

from os import PathLike
from typing import Any

from poise.errors import InputError
from poise.motion.motion import Motion


def check_playable(motion: Any, driver: str) -> None:
    """Refuse what is no motion, with what to do instead."""
    if isinstance(motion, Motion) or hasattr(motion, "pose") or isinstance(getattr(motion, "clip", None), Motion):
        return
    if isinstance(motion, str | PathLike):
        raise InputError(
            f"{driver} plays a motion, and '{motion}' is the name of one. Load it first: "
            f"poise.{driver}(poise.load_clip('{motion}'))."
        )
    raise InputError(
        f"{driver} plays a clip or a gesture, such as poise.load_clip('wave.bvh') or poise.gestures.conduct(); given "
        f"a {type(motion).__name__}."
    )
