"""Names that the cases use and that a revision may have elsewhere or call otherwise.

A case is run on two revisions, so what is renamed between them must be found under both names. Whoever renames
something writes the new name into the cases, and a line here with the place of the new one and then of the old one:

    "Muscular": ("poise:Muscular", "poise:Strength"),

Lines of old places may go when no revision before the renaming is compared any more. What is public and was never
renamed has no line. `call` and `get` are for arguments and attributes that have another name, `spell` for options of
commands, `PARTS` for what is in results: keys of figures, arrays of files, fields of takes.
"""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from functools import cache
from typing import Any

# Name in the cases -> places, newest first: "module:attribute", or "module" where the attribute has the case's name.
PLACES: dict[str, tuple[str, ...]] = {
    "blend": ("poise.motion",),
    "Block": (
        "poise.extend",
        "poise",
    ),
    "Body": (
        "poise.extend",
        "poise",
    ),
    "BodyContacts": (
        "poise.extend",
        "poise:Touches",
    ),
    "BodyState": (
        "poise.extend",
        "poise",
    ),
    "borrow": ("poise.motion",),
    "build_conductors": (
        "poise.demos.shared.conductors:build_stage",
        "poise.demos.conductors:build_stage",
    ),
    "build_mannequin": (
        "poise.body.geometry.mannequin",
        "poise.body.mannequin",
    ),
    "build_staff": (
        "poise.demos.tracking.staff:build",
        "poise.demos.staff:build",
    ),
    "build_tree": (
        "poise.extend",
        "poise",
    ),
    "Capabilities": (
        "poise.extend",
        "poise:Abilities",
    ),
    "change_speed": ("poise.motion",),
    "Claim": (
        "poise.extend",
        "poise",
    ),
    "clip_idle": (
        "poise.motion.samples:idle",
        "poise.motion.own:idle",
    ),
    "clip_jump": (
        "poise.motion.samples:jump",
        "poise.motion.own:jump",
    ),
    "clip_squat": (
        "poise.motion.samples:squat",
        "poise.motion.own:squat",
    ),
    "clip_walk": (
        "poise.motion.samples:walk",
        "poise.motion.own:walk",
    ),
    "clip_wave": (
        "poise.motion.samples:wave",
        "poise.motion.own:wave",
    ),
    "ClipSpline": ("poise.motion",),
    "compute_bias": (
        "poise.extend",
        "poise",
    ),
    "compute_center_of_mass": (
        "poise.extend",
        "poise",
    ),
    "compute_center_of_mass_jacobian": (
        "poise.extend",
        "poise",
    ),
    "compute_inverse_dynamics": ("poise.dynamics.newton_euler",),
    "compute_joint_space_inertia": (
        "poise.extend",
        "poise",
    ),
    "compute_momentum": (
        "poise.dynamics.kinematics",
        "poise.dynamics.momentum",
    ),
    "compute_point_jacobian": (
        "poise.extend",
        "poise",
    ),
    "compute_world_pose": (
        "poise.extend",
        "poise",
    ),
    "compute_world_velocity": (
        "poise.dynamics.kinematics",
        "poise.dynamics.world",
    ),
    "concatenate": ("poise.motion",),
    "ContactSettings": (
        "poise",
        "poise:Touch",
    ),
    "dance": (
        "poise.demos.marionette.dance",
        "poise.puppetry.dancing",
    ),
    "decode_packet": ("poise.live.osc",),
    "DEMOS": ("poise.demos",),
    "draw_bodies": (
        "poise.demos.shared.conductors",
        "poise.demos.conductors",
    ),
    "draw_conductors": (
        "poise.demos.shared.conductors",
        "poise.demos.conductors",
    ),
    "Driver": (
        "poise.extend",
        "poise",
    ),
    "encode_bundles": ("poise.live.osc",),
    "encode_message": ("poise.live.osc",),
    "Engine": (
        "poise.extend",
        "poise",
    ),
    "Entry": ("poise.registry",),
    "fields": (
        "poise.extend",
        "poise",
    ),
    "find_contacts": ("poise.motion",),
    "FORMATS": (
        "poise.files.registry",
        "poise.files.formats",
    ),
    "Gait": (
        "poise",
        "poise:Manner",
    ),
    "HeldHands": ("poise.puppetry.device",),
    "interpolate": ("poise.motion",),
    "join_segments": (
        "poise.motion",
        "poise.motion:arrange",
    ),
    "Joint": (
        "poise.extend",
        "poise",
    ),
    "JointStrength": (
        "poise",
        "poise:Muscles",
    ),
    "Law": (
        "poise.extend",
        "poise",
    ),
    "law": (
        "poise.extend",
        "poise",
    ),
    "laws": (
        "poise.extend",
        "poise",
    ),
    "layer": ("poise.motion",),
    "limit_accelerations": (
        "poise.dynamics.qp.limited",
        "poise.dynamics.limited",
    ),
    "Limp": (
        "poise.drivers.loose.loose",
        "poise.drivers.limp",
    ),
    "load_sound": ("poise.live.music",),
    "LookAtGoal": (
        "poise.ik.goals",
        "poise.ik.goals:Look",
    ),
    "mirror": ("poise.motion",),
    "MotionPlayer": (
        "poise.extend",
        "poise",
    ),
    "MovingGround": (
        "poise",
        "poise:Moving",
    ),
    "OrientationGoal": (
        "poise.ik.goals",
        "poise.ik.goals:Turn",
    ),
    "OscHands": ("poise.live.osc_hands",),
    "part_joints": ("poise.motion.parts",),
    "place": ("poise.motion",),
    "Player": (
        "poise.extend",
        "poise",
    ),
    "PoseSolver": (
        "poise.ik.pose_solver",
        "poise.ik.posing:Poser",
    ),
    "PositionGoal": (
        "poise.ik.goals",
        "poise.ik.goals:Reach",
    ),
    "pump": (
        "poise.demos.mix.swing",
        "poise.demos.swing",
    ),
    "PuppetLoop": (
        "poise.live.puppet_loop",
        "poise.jobs.puppet_loop",
    ),
    "PuppetSession": (
        "poise.live.puppet_session",
        "poise.jobs.puppet_session",
    ),
    "read_stick": ("poise.live.gamepad",),
    "register_driver": (
        "poise.extend",
        "poise",
    ),
    "register_engine": (
        "poise.extend",
        "poise",
    ),
    "register_format": (
        "poise.extend",
        "poise",
    ),
    "resample": ("poise.motion",),
    "retarget_clip": ("poise.motion:retarget",),
    "RigidInertia": (
        "poise.extend",
        "poise",
    ),
    "run_cli": ("poise.cli:main",),
    "save_hands": (
        "poise.puppetry.hands_file",
        "poise.jobs.hands_file",
    ),
    "Scene": (
        "poise.extend",
        "poise",
    ),
    "SceneBody": (
        "poise.extend",
        "poise",
    ),
    "seat_rider": (
        "poise.demos.mix.swing",
        "poise.demos.swing",
    ),
    "Segment": (
        "poise.motion",
        "poise.motion:Cut",
    ),
    "Simulation": (
        "poise.extend",
        "poise",
    ),
    "SimulationLaws": (
        "poise.extend",
        "poise",
    ),
    "Slope": (
        "poise",
        "poise:Tilted",
    ),
    "speak": (
        "poise.motion.gestures.speak",
        "poise.motion.gestures.speaking",
    ),
    "Stairs": (
        "poise",
        "poise:Steps",
    ),
    "stand_pose": (
        "poise.motion.samples.tracks",
        "poise.motion.own.tracks",
    ),
    "Stress": (
        "poise.motion.gestures.speak",
        "poise.motion.gestures.speaking",
    ),
    "TICK": (
        "poise.jobs.puppet.cued_puppet",
        "poise.jobs.puppet_session",
    ),
    "translate": ("poise.motion",),
    "Tree": (
        "poise.extend",
        "poise",
    ),
    "TreeState": (
        "poise.extend",
        "poise:Kinematics",
    ),
    "trim": ("poise.motion",),
    "turn": ("poise.motion",),
    "turn_on": ("poise.live.gamepad",),
    "VmcSender": (
        "poise.live.vmc",
        "poise.live.vmc_out",
    ),
    "warp": ("poise.motion",),
}
# Command-line options in the cases -> what they were called before.
OPTIONS: dict[str, tuple[str, ...]] = {}
# Keyword arguments and fields in the cases -> what they were called before.
KEYWORDS: dict[str, tuple[str, ...]] = {"active_after_fall": ("keeps",), "status": ("tell",)}
# Parts of results: a pattern of names in the older revision -> the names in the newer one (`re.sub`); None: a part that
# is not compared, in either, since what it holds was never promised (the keys of a saved state, say). A pattern may
# begin with the case's name: r"^puppet [^|]*\|.*/foot$".
PARTS: dict[str, str | None] = {
    r"/settings/(touch|ground)$": None,  # texts with the names of classes, which were renamed
    r"/hand_overs/": "/transitions/",
    r"/walk/follower/": None,  # arrays of the solver, which were renamed; the poses that come of them are compared
    # The states of puppets, walks and anchored roots: numbered columns are attributes, and parts have their own state.
    r"^(puppet .*/players/0)/(angles|speeds|slope|target|tension)$": r"\1/marionette/\2",
    r"^(puppet .*/players/0)/sort$": r"\1/marionette/target_kind",
    r"^(puppet .*/players/0)/aim$": r"\1/marionette/target_orientation",
    r"^(puppet .*/players/0)/down$": r"\1/marionette/in_contact",
    r"^(puppet .*/players/0)/W$": r"\1/marionette/world",
    r"^(puppet .*/players/0)/(spot|stands|lacks)$": r"\1/feet/\2",
    r"^(puppet .*/players/0)/own_(\w+)$": r"\1/own/\2",
    r"^(puppet .*/players/0)/(real|planted|holds)$": r"\1/supports/\2",
    r"^(puppet .*/players/0)/strings/": r"\1/mixer/",
    r"^((puppet|walk|shadow|clip over)[^|]*\|.*/players/\d+/frames)$": r"\1/rotations",
    r"^puppet .*/players/0/(foot|fall|off|sunk|left|bears|roots|air_\w+|counts|stand|up|over|drawn)(/|$)": None,
    r"^puppet .*/players/0/(anchored|flight|clock|lifted_at|blend|get_up)(/|$)": None,
    r"^puppet .*/players/0/(marionette/(foot_|contact|toes_flat)|feet/(\w+_\w+|offset|sunk|bearing))": None,
    r"^[^|]*\|.*/players/\d+/frames/(first|made|others)": None,
    r"^(walk|shadow|clip over)[^|]*\|.*/players/\d+/(clock|places|turns|off|since|loads|counts|begin|lag)(/|$)": None,
    r"^(walk|shadow|clip over)[^|]*\|.*/players/\d+/(over|over_joints|steps|foot|blend)(/|$)": None,
    r"^driver anchored[^|]*\|.*/players/\d+/(anchor|chosen|begin|decided|way|current|clock|path)(/|$)": None,
}
# Functions that write films: a demo does without them, since they take most of its time.
FILMS = ("save_film",)


@cache
def find(name: str) -> Any:
    """A name of `poise` or of the table above, wherever this revision has it."""
    if name not in PLACES:
        return getattr(importlib.import_module("poise"), name)
    for place in PLACES[name]:
        module, _, attribute = place.partition(":")
        try:
            return getattr(importlib.import_module(module), attribute or name)
        except (ImportError, AttributeError):
            continue
    raise LookupError(f"no revision's place of '{name}' exists here: {', '.join(PLACES[name])}. Add it to names.py.")


class Names:
    """`poise` for the cases: `poise.Walk` is `find("Walk")`, so that a public name can be renamed too."""

    def __getattr__(self, name: str) -> Any:
        return find(name)


poise: Any = Names()


def call(function: Callable[..., Any], *words: Any, **more: Any) -> Any:
    """Call a function with keyword arguments under the names that it has in this revision."""
    known = inspect.signature(function).parameters
    return function(*words, **{_choose(name, KEYWORDS, known): value for name, value in more.items()})


def get(thing: Any, name: str) -> Any:
    """An attribute under the name that it has in this revision."""
    return getattr(thing, _choose(name, KEYWORDS, dir(thing)))


def spell(words: tuple[str, ...]) -> tuple[str, ...]:
    """A command's words with its options as this revision calls them."""
    if not any(word in OPTIONS for word in words):
        return words
    known = _help_of(words[0])
    return tuple(_choose(word, OPTIONS, known) for word in words)


def rename_part(part: str, case: str = "") -> str | None:
    """What the newer revision calls a part of a case's result; None where it is not compared."""
    full = f"{case}|{part}"
    for pattern, name in PARTS.items():
        if name is None and re.search(pattern, full):
            return None
        full = full if name is None else re.sub(pattern, name, full)
    return full.partition("|")[2]


def _choose(name: str, table: dict[str, tuple[str, ...]], known: Any) -> str:
    return next((each for each in (name, *table.get(name, ())) if each in known), name)


@cache
def _help_of(command: str) -> frozenset[str]:
    """The options that a command's help names."""
    import contextlib
    import io

    with contextlib.redirect_stdout(io.StringIO()) as out:
        find("run_cli")([command, "--help"])
    return frozenset(re.findall(r"--[a-z][a-z-]*", out.getvalue()))
