"""Clips and what can be done with them. Names are found in their modules when first used: importing is cheap."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from poise.motion.clip import Clip, ClipSpline, build_sampled_clip, interpolate
    from poise.motion.contacts.contacts import Contacts, find_contacts
    from poise.motion.contacts.points import foot_points
    from poise.motion.edits.blend import blend, concatenate, ease, layer
    from poise.motion.edits.body_points import find_point
    from poise.motion.edits.borrow import borrow
    from poise.motion.edits.ground import clip_heading, compute_heading, place, translate, turn
    from poise.motion.edits.mirror import find_partners, mirror
    from poise.motion.edits.offsets import Offset, apply_offsets
    from poise.motion.edits.sequence import Segment, join_segments
    from poise.motion.edits.targets import BodyTarget, MidpointTarget, PointTarget, PropTarget, Target
    from poise.motion.edits.timing import change_speed, resample, trim, warp
    from poise.motion.motion import Motion, Pose
    from poise.motion.parts import part_joints
    from poise.motion.retargeting import measure_retargeting, retarget
    from poise.motion.root import HipsRoot, root_at_hips

_HOME = {
    "clip": (
        "Clip",
        "ClipSpline",
        "build_sampled_clip",
        "interpolate",
    ),
    "contacts.contacts": (
        "Contacts",
        "find_contacts",
    ),
    "contacts.points": ("foot_points",),
    "edits.blend": (
        "blend",
        "concatenate",
        "ease",
        "layer",
    ),
    "edits.body_points": ("find_point",),
    "edits.borrow": ("borrow",),
    "edits.ground": (
        "clip_heading",
        "compute_heading",
        "place",
        "translate",
        "turn",
    ),
    "edits.mirror": (
        "find_partners",
        "mirror",
    ),
    "edits.offsets": (
        "Offset",
        "apply_offsets",
    ),
    "edits.sequence": (
        "Segment",
        "join_segments",
    ),
    "edits.targets": (
        "BodyTarget",
        "MidpointTarget",
        "PointTarget",
        "PropTarget",
        "Target",
    ),
    "edits.timing": (
        "change_speed",
        "resample",
        "trim",
        "warp",
    ),
    "motion": (
        "Motion",
        "Pose",
    ),
    "parts": ("part_joints",),
    "retargeting": (
        "measure_retargeting",
        "retarget",
    ),
    "root": (
        "HipsRoot",
        "root_at_hips",
    ),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}

__all__ = [
    "BodyTarget",
    "Clip",
    "ClipSpline",
    "Contacts",
    "HipsRoot",
    "MidpointTarget",
    "Motion",
    "Offset",
    "PointTarget",
    "Pose",
    "PropTarget",
    "Segment",
    "Target",
    "apply_offsets",
    "blend",
    "borrow",
    "build_sampled_clip",
    "change_speed",
    "clip_heading",
    "compute_heading",
    "concatenate",
    "ease",
    "find_contacts",
    "find_partners",
    "find_point",
    "foot_points",
    "interpolate",
    "join_segments",
    "layer",
    "measure_retargeting",
    "mirror",
    "part_joints",
    "place",
    "resample",
    "retarget",
    "root_at_hips",
    "translate",
    "trim",
    "turn",
    "warp",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULE_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
