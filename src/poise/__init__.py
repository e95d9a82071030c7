"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.body.shape import Box, Capsule, Sphere
    from poise.body.skeleton import Skeleton
    from poise.drivers.anchored import Anchored
    from poise.drivers.attached import Attached
    from poise.drivers.balance import Balance
    from poise.drivers.kinematic import Kinematic
    from poise.drivers.loose import Loose
    from poise.drivers.root import Free
    from poise.drivers.track import Track
    from poise.errors import BusyError, FileError, InputError, PoiseError, SolveError
    from poise.files.formats import load_clip, save_clip
    from poise.files.gltf.character import load_character
    from poise.jobs.convert import convert
    from poise.jobs.info import info
    from poise.jobs.mix import mix
    from poise.jobs.retarget import retarget
    from poise.motion import gestures as gestures
    from poise.motion.clip import Clip
    from poise.motion.forces import compute_forces
    from poise.spatial.inertia import RigidInertia
    from poise.stage.crowd_take import run_crowd
    from poise.stage.stage import Stage
    from poise.stage.take import Take
    from poise.stage.take_file import load_take
    from poise.world.ground import Ground
    from poise.world.height_map import HeightMap
    from poise.world.load import Load
    from poise.world.moving import Moving
    from poise.world.prop import Hinge, Prop
    from poise.world.push import Push
    from poise.world.steps import Steps
    from poise.world.tilted import Tilted

__version__ = "0.1.0"

# Where each public name lives; its module is imported when the name is first used (PEP 562).
_HOMES = {
    "Anchored": "poise.drivers.anchored",
    "Attached": "poise.drivers.attached",
    "Balance": "poise.drivers.balance",
    "Box": "poise.body.shape",
    "BusyError": "poise.errors",
    "Capsule": "poise.body.shape",
    "Character": "poise.body.character",
    "Clip": "poise.motion.clip",
    "FileError": "poise.errors",
    "Free": "poise.drivers.root",
    "Ground": "poise.world.ground",
    "HeightMap": "poise.world.height_map",
    "Hinge": "poise.world.prop",
    "InputError": "poise.errors",
    "Kinematic": "poise.drivers.kinematic",
    "Load": "poise.world.load",
    "Loose": "poise.drivers.loose",
    "Moving": "poise.world.moving",
    "PoiseError": "poise.errors",
    "Prop": "poise.world.prop",
    "Push": "poise.world.push",
    "RigidInertia": "poise.spatial.inertia",
    "Skeleton": "poise.body.skeleton",
    "SolveError": "poise.errors",
    "Sphere": "poise.body.shape",
    "Stage": "poise.stage.stage",
    "Steps": "poise.world.steps",
    "Take": "poise.stage.take",
    "Tilted": "poise.world.tilted",
    "Track": "poise.drivers.track",
    "compute_forces": "poise.motion.forces",
    "convert": "poise.jobs.convert",
    "info": "poise.jobs.info",
    "load_character": "poise.files.gltf.character",
    "load_clip": "poise.files.formats",
    "load_take": "poise.stage.take_file",
    "mix": "poise.jobs.mix",
    "retarget": "poise.jobs.retarget",
    "run_crowd": "poise.stage.crowd_take",
    "save_clip": "poise.files.formats",
}
__all__ = [
    "Anchored",
    "Attached",
    "Balance",
    "Box",
    "BusyError",
    "Capsule",
    "Character",
    "Clip",
    "FileError",
    "Free",
    "Ground",
    "HeightMap",
    "Hinge",
    "InputError",
    "Kinematic",
    "Load",
    "Loose",
    "Moving",
    "PoiseError",
    "Prop",
    "Push",
    "RigidInertia",
    "Skeleton",
    "SolveError",
    "Sphere",
    "Stage",
    "Steps",
    "Take",
    "Tilted",
    "Track",
    "__version__",
    "compute_forces",
    "convert",
    "gestures",
    "info",
    "load_character",
    "load_clip",
    "load_take",
    "mix",
    "retarget",
    "run_crowd",
    "save_clip",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name == "gestures":
        return importlib.import_module("poise.motion.gestures")
    if name not in _HOMES:
        raise AttributeError(f"module 'poise' has no attribute '{name}'. It has: {', '.join(_HOMES)}.")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, "gestures"})
