"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise import extend as extend
    from poise.body import bodies as bodies
    from poise.body.character import Character
    from poise.body.geometry.primitives import Box, Capsule, Sphere
    from poise.body.skeleton import Skeleton
    from poise.body.strength.joint_strength import JointStrength
    from poise.drivers.balance.balance import Balance
    from poise.drivers.counterpoise.counterpoise import Counterpoise
    from poise.drivers.keep_upright.keep_upright import KeepUpright
    from poise.drivers.kinematic.kinematic import Kinematic
    from poise.drivers.loose.loose import Loose
    from poise.drivers.puppet.puppet import Puppet
    from poise.drivers.root.anchored import Anchored
    from poise.drivers.root.root import Attached, Free
    from poise.drivers.shadow import Shadow
    from poise.drivers.track.track import Track
    from poise.drivers.walk.walk import Walk
    from poise.errors import BusyError, FileError, InputError, PoiseError, SolveError
    from poise.files.character import save_character
    from poise.files.formats.gltf.character import load_character
    from poise.files.registry import load_clip, save_clip
    from poise.jobs.balance.job import balance
    from poise.jobs.convert.job import convert
    from poise.jobs.edit.job import edit
    from poise.jobs.info import info
    from poise.jobs.lift.job import lift
    from poise.jobs.mix.job import mix
    from poise.jobs.pose.job import pose
    from poise.jobs.puppet.job import puppet
    from poise.jobs.retarget import retarget
    from poise.jobs.strength.job import strength
    from poise.jobs.track.job import track
    from poise.jobs.walk.job import walk
    from poise.motion import gestures as gestures
    from poise.motion.clip import Clip
    from poise.motion.forces.forces import compute_forces
    from poise.motion.live import Live
    from poise.motion.motion import Motion, Pose
    from poise.motion.point_path import PointPath
    from poise.puppetry.hands import HandsTake, LiveHands
    from poise.puppetry.layers import PuppetLayer
    from poise.puppetry.mapping import load_mapping
    from poise.puppetry.performance import Rehearsal
    from poise.spatial import rotation as rotation
    from poise.stage.crowd.crowd_take import run_crowd
    from poise.stage.runner import Runner
    from poise.stage.stage import Stage
    from poise.stage.state.files import load_state, save_state
    from poise.stage.take.files import load_take
    from poise.stage.take.take import Take
    from poise.walking.gait import Gait
    from poise.world.contact_settings import ContactSettings
    from poise.world.forces import Load, Push
    from poise.world.ground.ground import Ground, Slope
    from poise.world.ground.height_map import HeightMap
    from poise.world.ground.moving import MovingGround
    from poise.world.ground.profile import Profile, Stairs
    from poise.world.prop import Hinge, Prop
    from poise.world.swing import build_swing


__version__ = "0.1.0"

# Where each public name lives; its module is imported when the name is first used (PEP 562).
_HOMES = {
    "Anchored": "poise.drivers.root.anchored",
    "Attached": "poise.drivers.root.root",
    "Balance": "poise.drivers.balance.balance",
    "Box": "poise.body.geometry.primitives",
    "BusyError": "poise.errors",
    "Capsule": "poise.body.geometry.primitives",
    "Character": "poise.body.character",
    "Clip": "poise.motion.clip",
    "ContactSettings": "poise.world.contact_settings",
    "Counterpoise": "poise.drivers.counterpoise.counterpoise",
    "FileError": "poise.errors",
    "Free": "poise.drivers.root.root",
    "Gait": "poise.walking.gait",
    "Ground": "poise.world.ground.ground",
    "HandsTake": "poise.puppetry.hands",
    "HeightMap": "poise.world.ground.height_map",
    "Hinge": "poise.world.prop",
    "InputError": "poise.errors",
    "JointStrength": "poise.body.strength.joint_strength",
    "KeepUpright": "poise.drivers.keep_upright.keep_upright",
    "Kinematic": "poise.drivers.kinematic.kinematic",
    "Live": "poise.motion.live",
    "LiveHands": "poise.puppetry.hands",
    "Load": "poise.world.forces",
    "Loose": "poise.drivers.loose.loose",
    "Motion": "poise.motion.motion",
    "MovingGround": "poise.world.ground.moving",
    "PointPath": "poise.motion.point_path",
    "PoiseError": "poise.errors",
    "Pose": "poise.motion.motion",
    "Profile": "poise.world.ground.profile",
    "Prop": "poise.world.prop",
    "Puppet": "poise.drivers.puppet.puppet",
    "PuppetLayer": "poise.puppetry.layers",
    "Push": "poise.world.forces",
    "Rehearsal": "poise.puppetry.performance",
    "Runner": "poise.stage.runner",
    "Shadow": "poise.drivers.shadow",
    "Skeleton": "poise.body.skeleton",
    "Slope": "poise.world.ground.ground",
    "SolveError": "poise.errors",
    "Sphere": "poise.body.geometry.primitives",
    "Stage": "poise.stage.stage",
    "Stairs": "poise.world.ground.profile",
    "Strength": "poise.drivers.strength.strength",
    "Take": "poise.stage.take.take",
    "Track": "poise.drivers.track.track",
    "Walk": "poise.drivers.walk.walk",
    "balance": "poise.jobs.balance.job",
    "build_swing": "poise.world.swing",
    "compute_forces": "poise.motion.forces.forces",
    "convert": "poise.jobs.convert.job",
    "edit": "poise.jobs.edit.job",
    "info": "poise.jobs.info",
    "lift": "poise.jobs.lift.job",
    "load_character": "poise.files.formats.gltf.character",
    "load_clip": "poise.files.registry",
    "load_mapping": "poise.puppetry.mapping",
    "load_state": "poise.stage.state.files",
    "load_take": "poise.stage.take.files",
    "mix": "poise.jobs.mix.job",
    "pose": "poise.jobs.pose.job",
    "puppet": "poise.jobs.puppet.job",
    "retarget": "poise.jobs.retarget",
    "run_crowd": "poise.stage.crowd.crowd_take",
    "save_character": "poise.files.character",
    "save_clip": "poise.files.registry",
    "save_state": "poise.stage.state.files",
    "strength": "poise.jobs.strength.job",
    "track": "poise.jobs.track.job",
    "walk": "poise.jobs.walk.job",
}

# Modules of the package that are public as they are.
_MODULES = {
    "bodies": "poise.body.bodies",
    "extend": "poise.extend",
    "gestures": "poise.motion.gestures",
    "rotation": "poise.spatial.rotation",
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
    "ContactSettings",
    "Counterpoise",
    "FileError",
    "Free",
    "Gait",
    "Ground",
    "HandsTake",
    "HeightMap",
    "Hinge",
    "InputError",
    "JointStrength",
    "KeepUpright",
    "Kinematic",
    "Live",
    "LiveHands",
    "Load",
    "Loose",
    "Motion",
    "MovingGround",
    "PointPath",
    "PoiseError",
    "Pose",
    "Profile",
    "Prop",
    "Puppet",
    "PuppetLayer",
    "Push",
    "Rehearsal",
    "Runner",
    "Shadow",
    "Skeleton",
    "Slope",
    "SolveError",
    "Sphere",
    "Stage",
    "Stairs",
    "Strength",
    "Take",
    "Track",
    "Walk",
    "__version__",
    "balance",
    "bodies",
    "build_swing",
    "compute_forces",
    "convert",
    "edit",
    "extend",
    "gestures",
    "info",
    "lift",
    "load_character",
    "load_clip",
    "load_mapping",
    "load_state",
    "load_take",
    "mix",
    "pose",
    "puppet",
    "retarget",
    "rotation",
    "run_crowd",
    "save_character",
    "save_clip",
    "save_state",
    "strength",
    "track",
    "walk",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'poise' has no attribute '{name}'. It has: {', '.join(_HOMES)}.")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES, *_MODULES})
