"""Clips and what can be done with them. Names are found in their modules when first used: importing is cheap."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poise.motion.blending import blend, concatenate, crossfade, ease, layer
    from poise.motion.body_points import find_point
    from poise.motion.borrowing import borrow
    from poise.motion.clip import Clip
    from poise.motion.contacts import Contacts, find_contacts
    from poise.motion.edits import change_speed, resample, reverse, trim, warp
    from poise.motion.feet import foot_points
    from poise.motion.heading import clip_heading, compute_heading, place, translate, turn
    from poise.motion.interpolation import ClipSpline, interpolate
    from poise.motion.mirroring import find_partners, mirror
    from poise.motion.motion import Motion, Pose
    from poise.motion.offsets import Offset, apply_offsets
    from poise.motion.parts import part_joints
    from poise.motion.retargeting import measure_retargeting, retarget
    from poise.motion.rooting import Rooting, root_at_hips
    from poise.motion.sampled import build_sampled_clip
    from poise.motion.sequencing import Cut, arrange
    from poise.motion.spots import BodySpot, FixedSpot, MidSpot, PropSpot, Spot

_HOME = {
    "blending": ("blend", "concatenate", "crossfade", "ease", "layer"),
    "body_points": ("find_point",),
    "borrowing": ("borrow",),
    "clip": ("Clip",),
    "contacts": ("Contacts", "find_contacts"),
    "edits": ("change_speed", "resample", "reverse", "trim", "warp"),
    "feet": ("foot_points",),
    "heading": ("clip_heading", "compute_heading", "place", "translate", "turn"),
    "interpolation": ("ClipSpline", "interpolate"),
    "mirroring": ("find_partners", "mirror"),
    "motion": ("Motion", "Pose"),
    "offsets": ("Offset", "apply_offsets"),
    "parts": ("part_joints",),
    "retargeting": ("measure_retargeting", "retarget"),
    "rooting": ("Rooting", "root_at_hips"),
    "sampled": ("build_sampled_clip",),
    "sequencing": ("Cut", "arrange"),
    "spots": ("BodySpot", "FixedSpot", "MidSpot", "PropSpot", "Spot"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BodySpot", "Clip", "ClipSpline", "Contacts", "Cut", "FixedSpot", "MidSpot", "Motion", "Offset", "Pose",
    "PropSpot", "Rooting", "Spot", "apply_offsets", "arrange", "blend", "borrow", "build_sampled_clip", "change_speed",
    "clip_heading", "compute_heading", "concatenate", "crossfade", "ease", "find_contacts", "find_partners",
    "find_point", "foot_points", "interpolate", "layer", "measure_retargeting", "mirror", "part_joints",
    "place", "resample", "retarget", "reverse", "root_at_hips", "translate", "trim", "turn", "warp",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
