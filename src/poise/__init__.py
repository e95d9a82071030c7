"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.body.character import Character
    from poise.body.skeleton import Skeleton
    from poise.drivers.attached import Attached
    from poise.drivers.balance import Balance
    from poise.drivers.kinematic import Kinematic
    from poise.drivers.loose import Loose
    from poise.drivers.rig import Load
    from poise.drivers.root import Free
    from poise.drivers.track import Track
    from poise.errors import BusyError, FileError, InputError, PoiseError, SolveError
    from poise.files.formats import load_clip, save_clip
    from poise.files.gltf.character import load_character
    from poise.motion import gestures as gestures
    from poise.motion.clip import Clip
    from poise.motion.forces import compute_forces
    from poise.motion.live import Live
    from poise.motion.motion import Motion, Pose
    from poise.motion.retargeting import retarget
    from poise.stage.crowd_take import run_crowd
    from poise.stage.runner import Runner
    from poise.stage.stage import Stage
    from poise.stage.state_file import load_state, save_state
    from poise.stage.take import Take
    from poise.stage.take_file import load_take
    from poise.world.ground import Ground
    from poise.world.prop import Prop

__version__ = "0.1.0"

# Where each public name lives; its module is imported when the name is first used (PEP 562).
_HOMES = {
    "Attached": "poise.drivers.attached",
    "Balance": "poise.drivers.balance",
    "BusyError": "poise.errors",
    "Character": "poise.body.character",
    "Clip": "poise.motion.clip",
    "FileError": "poise.errors",
    "Free": "poise.drivers.root",
    "Ground": "poise.world.ground",
    "InputError": "poise.errors",
    "Kinematic": "poise.drivers.kinematic",
    "Live": "poise.motion.live",
    "Load": "poise.drivers.rig",
    "Loose": "poise.drivers.loose",
    "Motion": "poise.motion.motion",
    "PoiseError": "poise.errors",
    "Pose": "poise.motion.motion",
    "Prop": "poise.world.prop",
    "Runner": "poise.stage.runner",
    "Skeleton": "poise.body.skeleton",
    "SolveError": "poise.errors",
    "Stage": "poise.stage.stage",
    "Take": "poise.stage.take",
    "Track": "poise.drivers.track",
    "compute_forces": "poise.motion.forces",
    "load_character": "poise.files.gltf.character",
    "load_clip": "poise.files.formats",
    "load_state": "poise.stage.state_file",
    "load_take": "poise.stage.take_file",
    "retarget": "poise.motion.retargeting",
    "run_crowd": "poise.stage.crowd_take",
    "save_clip": "poise.files.formats",
    "save_state": "poise.stage.state_file",
}
__all__ = [
    "Attached",
    "Balance",
    "BusyError",
    "Character",
    "Clip",
    "FileError",
    "Free",
    "Ground",
    "InputError",
    "Kinematic",
    "Live",
    "Load",
    "Loose",
    "Motion",
    "PoiseError",
    "Pose",
    "Prop",
    "Runner",
    "Skeleton",
    "SolveError",
    "Stage",
    "Take",
    "Track",
    "__version__",
    "compute_forces",
    "gestures",
    "load_character",
    "load_clip",
    "load_state",
    "load_take",
    "retarget",
    "run_crowd",
    "save_clip",
    "save_state",
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
