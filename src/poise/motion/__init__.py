"""Clips and what can be done with them. Names are found in their modules when first used: importing is cheap."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.lazy import find_names_later

if TYPE_CHECKING:
    from poise.motion.clip import (
        Clip as Clip,
    )
    from poise.motion.clip import (
        ClipSpline as ClipSpline,
    )
    from poise.motion.clip import (
        build_sampled_clip as build_sampled_clip,
    )
    from poise.motion.clip import (
        interpolate as interpolate,
    )
    from poise.motion.contacts.contacts import Contacts as Contacts
    from poise.motion.contacts.contacts import find_contacts as find_contacts
    from poise.motion.contacts.points import foot_points as foot_points
    from poise.motion.edits.blend import blend as blend
    from poise.motion.edits.blend import concatenate as concatenate
    from poise.motion.edits.blend import ease as ease
    from poise.motion.edits.blend import layer as layer
    from poise.motion.edits.body_points import find_point as find_point
    from poise.motion.edits.borrow import borrow as borrow
    from poise.motion.edits.ground import (
        clip_heading as clip_heading,
    )
    from poise.motion.edits.ground import (
        compute_heading as compute_heading,
    )
    from poise.motion.edits.ground import (
        place as place,
    )
    from poise.motion.edits.ground import (
        translate as translate,
    )
    from poise.motion.edits.ground import (
        turn as turn,
    )
    from poise.motion.edits.mirror import find_partners as find_partners
    from poise.motion.edits.mirror import mirror as mirror
    from poise.motion.edits.offsets import Offset as Offset
    from poise.motion.edits.offsets import apply_offsets as apply_offsets
    from poise.motion.edits.sequence import Segment as Segment
    from poise.motion.edits.sequence import join_segments as join_segments
    from poise.motion.edits.targets import (
        BodyTarget as BodyTarget,
    )
    from poise.motion.edits.targets import (
        MidpointTarget as MidpointTarget,
    )
    from poise.motion.edits.targets import (
        PointTarget as PointTarget,
    )
    from poise.motion.edits.targets import (
        PropTarget as PropTarget,
    )
    from poise.motion.edits.targets import (
        Target as Target,
    )
    from poise.motion.edits.timing import change_speed as change_speed
    from poise.motion.edits.timing import resample as resample
    from poise.motion.edits.timing import trim as trim
    from poise.motion.edits.timing import warp as warp
    from poise.motion.motion import Motion as Motion
    from poise.motion.motion import Pose as Pose
    from poise.motion.parts import part_joints as part_joints
    from poise.motion.retargeting import measure_retargeting as measure_retargeting
    from poise.motion.retargeting import retarget as retarget
    from poise.motion.root import HipsRoot as HipsRoot
    from poise.motion.root import root_at_hips as root_at_hips

__getattr__, __dir__, __all__ = find_names_later(
    "poise.motion",
    {
        "poise.motion.clip": "Clip ClipSpline build_sampled_clip interpolate",
        "poise.motion.contacts.contacts": "Contacts find_contacts",
        "poise.motion.contacts.points": "foot_points",
        "poise.motion.edits.blend": "blend concatenate ease layer",
        "poise.motion.edits.body_points": "find_point",
        "poise.motion.edits.borrow": "borrow",
        "poise.motion.edits.ground": "clip_heading compute_heading place translate turn",
        "poise.motion.edits.mirror": "find_partners mirror",
        "poise.motion.edits.offsets": "Offset apply_offsets",
        "poise.motion.edits.sequence": "Segment join_segments",
        "poise.motion.edits.targets": "BodyTarget MidpointTarget PointTarget PropTarget Target",
        "poise.motion.edits.timing": "change_speed resample trim warp",
        "poise.motion.motion": "Motion Pose",
        "poise.motion.parts": "part_joints",
        "poise.motion.retargeting": "measure_retargeting retarget",
        "poise.motion.root": "HipsRoot root_at_hips",
    },
)
