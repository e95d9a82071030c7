"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.body import physiques as bodies
    from poise.body.character import Character
    from poise.body.muscles import Muscles
    from poise.body.shape import Box, Capsule, Sphere
    from poise.body.skeleton import Skeleton
    from poise.drivers import laws as laws
    from poise.drivers.anchored import Anchored
    from poise.drivers.attached import Attached
    from poise.drivers.balance import Balance
    from poise.drivers.body import Body
    from poise.drivers.counterpoise import Counterpoise
    from poise.drivers.driver import (
        AccelerationPlayer,
        Bearing,
        Claim,
        Driver,
        MotionPlayer,
        Player,
        Support,
        TorquePlayer,
    )
    from poise.drivers.keep_upright import KeepUpright
    from poise.drivers.kinematic import Kinematic
    from poise.drivers.loose import Loose
    from poise.drivers.puppet import Puppet
    from poise.drivers.registry import register_driver
    from poise.drivers.root import Free
    from poise.drivers.shadow import Shadow
    from poise.drivers.track import Track
    from poise.drivers.walk import Walk
    from poise.dynamics.composite import compute_joint_space_inertia
    from poise.dynamics.hybrid import solve_hybrid_dynamics
    from poise.dynamics.momentum import compute_center_of_mass, compute_center_of_mass_jacobian, compute_point_jacobian
    from poise.dynamics.newton_euler import compute_bias
    from poise.dynamics.tree import Kinematics, Tree, build_tree
    from poise.dynamics.world import compute_world_pose
    from poise.engines.engine import Abilities, BodyState, Engine, Simulation, SimulationLaws, Touches
    from poise.engines.registry import register_engine
    from poise.engines.scene import Joint, Scene, SceneBody
    from poise.errors import BusyError, FileError, InputError, PoiseError, SolveError
    from poise.files.character import save_character
    from poise.files.formats import load_clip, register_format, save_clip
    from poise.files.gltf.character import load_character
    from poise.jobs.balance import balance
    from poise.jobs.convert import convert
    from poise.jobs.edit import edit
    from poise.jobs.info import info
    from poise.jobs.lift import lift
    from poise.jobs.mix import mix
    from poise.jobs.performance import Rehearsal
    from poise.jobs.pose import pose
    from poise.jobs.puppet import puppet
    from poise.jobs.puppet_mapping import load_mapping
    from poise.jobs.retarget import retarget
    from poise.jobs.strength import strength
    from poise.jobs.track import track
    from poise.jobs.walk import walk
    from poise.motion import gestures as gestures
    from poise.motion.clip import Clip
    from poise.motion.forces import compute_forces
    from poise.motion.live import Live
    from poise.motion.motion import Motion, Pose
    from poise.motion.point_path import PointPath
    from poise.puppetry.hands import HandsTake, LiveHands
    from poise.puppetry.strings import PuppetLayer
    from poise.spatial import rotation as rotation
    from poise.spatial.inertia import RigidInertia
    from poise.spatial.law import Block, Law, fields, law
    from poise.stage.crowd_take import run_crowd
    from poise.stage.runner import Runner
    from poise.stage.stage import Stage
    from poise.stage.state_file import load_state, save_state
    from poise.stage.take import Take
    from poise.stage.take_file import load_take
    from poise.walking.manner import Manner
    from poise.world.ground import Ground
    from poise.world.height_map import HeightMap
    from poise.world.load import Load
    from poise.world.moving import Moving
    from poise.world.profile import Profile
    from poise.world.prop import Hinge, Prop
    from poise.world.push import Push
    from poise.world.steps import Steps
    from poise.world.swing import build_swing
    from poise.world.tilted import Tilted
    from poise.world.touch import Touch

__version__ = "0.1.0"

# Where each public name lives; its module is imported when the name is first used (PEP 562).
_HOMES = {
    "Abilities": "poise.engines.engine",
    "AccelerationPlayer": "poise.drivers.driver",
    "Anchored": "poise.drivers.anchored",
    "Attached": "poise.drivers.attached",
    "Balance": "poise.drivers.balance",
    "Counterpoise": "poise.drivers.counterpoise",
    "Bearing": "poise.drivers.driver",
    "Block": "poise.spatial.law",
    "Body": "poise.drivers.body",
    "BodyState": "poise.engines.engine",
    "Box": "poise.body.shape",
    "BusyError": "poise.errors",
    "Capsule": "poise.body.shape",
    "Character": "poise.body.character",
    "Claim": "poise.drivers.driver",
    "Clip": "poise.motion.clip",
    "Driver": "poise.drivers.driver",
    "Engine": "poise.engines.engine",
    "FileError": "poise.errors",
    "Free": "poise.drivers.root",
    "Ground": "poise.world.ground",
    "HandsTake": "poise.puppetry.hands",
    "HeightMap": "poise.world.height_map",
    "Hinge": "poise.world.prop",
    "InputError": "poise.errors",
    "Joint": "poise.engines.scene",
    "KeepUpright": "poise.drivers.keep_upright",
    "Kinematic": "poise.drivers.kinematic",
    "Kinematics": "poise.dynamics.tree",
    "Law": "poise.spatial.law",
    "Live": "poise.motion.live",
    "LiveHands": "poise.puppetry.hands",
    "Load": "poise.world.load",
    "Loose": "poise.drivers.loose",
    "Manner": "poise.walking.manner",
    "Motion": "poise.motion.motion",
    "MotionPlayer": "poise.drivers.driver",
    "Moving": "poise.world.moving",
    "Muscles": "poise.body.muscles",
    "Player": "poise.drivers.driver",
    "PoiseError": "poise.errors",
    "PointPath": "poise.motion.point_path",
    "Pose": "poise.motion.motion",
    "Profile": "poise.world.profile",
    "Prop": "poise.world.prop",
    "Puppet": "poise.drivers.puppet",
    "PuppetLayer": "poise.puppetry.strings",
    "Push": "poise.world.push",
    "Rehearsal": "poise.jobs.performance",
    "RigidInertia": "poise.spatial.inertia",
    "Runner": "poise.stage.runner",
    "Scene": "poise.engines.scene",
    "SceneBody": "poise.engines.scene",
    "Shadow": "poise.drivers.shadow",
    "Simulation": "poise.engines.engine",
    "SimulationLaws": "poise.engines.engine",
    "Skeleton": "poise.body.skeleton",
    "SolveError": "poise.errors",
    "Sphere": "poise.body.shape",
    "Stage": "poise.stage.stage",
    "Steps": "poise.world.steps",
    "Strength": "poise.drivers.strength",
    "Support": "poise.drivers.driver",
    "Take": "poise.stage.take",
    "Tilted": "poise.world.tilted",
    "TorquePlayer": "poise.drivers.driver",
    "Touch": "poise.world.touch",
    "Touches": "poise.engines.engine",
    "Track": "poise.drivers.track",
    "Tree": "poise.dynamics.tree",
    "balance": "poise.jobs.balance",
    "Walk": "poise.drivers.walk",
    "build_swing": "poise.world.swing",
    "build_tree": "poise.dynamics.tree",
    "compute_bias": "poise.dynamics.newton_euler",
    "compute_center_of_mass": "poise.dynamics.momentum",
    "compute_center_of_mass_jacobian": "poise.dynamics.momentum",
    "compute_forces": "poise.motion.forces",
    "compute_joint_space_inertia": "poise.dynamics.composite",
    "compute_point_jacobian": "poise.dynamics.momentum",
    "compute_world_pose": "poise.dynamics.world",
    "convert": "poise.jobs.convert",
    "edit": "poise.jobs.edit",
    "fields": "poise.spatial.law",
    "info": "poise.jobs.info",
    "law": "poise.spatial.law",
    "lift": "poise.jobs.lift",
    "load_character": "poise.files.gltf.character",
    "load_clip": "poise.files.formats",
    "load_mapping": "poise.jobs.puppet_mapping",
    "load_state": "poise.stage.state_file",
    "load_take": "poise.stage.take_file",
    "mix": "poise.jobs.mix",
    "pose": "poise.jobs.pose",
    "puppet": "poise.jobs.puppet",
    "register_driver": "poise.drivers.registry",
    "register_engine": "poise.engines.registry",
    "register_format": "poise.files.formats",
    "retarget": "poise.jobs.retarget",
    "run_crowd": "poise.stage.crowd_take",
    "save_character": "poise.files.character",
    "save_clip": "poise.files.formats",
    "save_state": "poise.stage.state_file",
    "solve_hybrid_dynamics": "poise.dynamics.hybrid",
    "strength": "poise.jobs.strength",
    "track": "poise.jobs.track",
    "walk": "poise.jobs.walk",
}
# Modules of the package that are public as they are.
_MODULES = {
    "bodies": "poise.body.physiques",
    "gestures": "poise.motion.gestures",
    "laws": "poise.drivers.laws",
    "rotation": "poise.spatial.rotation",
}
__all__ = [
    "Abilities",
    "AccelerationPlayer",
    "Anchored",
    "Attached",
    "Balance",
    "Counterpoise",
    "Bearing",
    "Block",
    "Body",
    "BodyState",
    "Box",
    "BusyError",
    "Capsule",
    "Character",
    "Claim",
    "Clip",
    "Driver",
    "Engine",
    "FileError",
    "Free",
    "Ground",
    "HandsTake",
    "HeightMap",
    "Hinge",
    "InputError",
    "Joint",
    "KeepUpright",
    "Kinematic",
    "Kinematics",
    "Law",
    "Live",
    "LiveHands",
    "Load",
    "Loose",
    "Manner",
    "Motion",
    "MotionPlayer",
    "Moving",
    "Muscles",
    "Player",
    "PoiseError",
    "PointPath",
    "Pose",
    "Profile",
    "Prop",
    "Puppet",
    "PuppetLayer",
    "Push",
    "Rehearsal",
    "RigidInertia",
    "Runner",
    "Scene",
    "SceneBody",
    "Shadow",
    "Simulation",
    "SimulationLaws",
    "Skeleton",
    "SolveError",
    "Sphere",
    "Stage",
    "Steps",
    "Strength",
    "Support",
    "Take",
    "Tilted",
    "TorquePlayer",
    "Touch",
    "Touches",
    "Track",
    "Tree",
    "Walk",
    "__version__",
    "balance",
    "bodies",
    "build_swing",
    "build_tree",
    "compute_bias",
    "compute_center_of_mass",
    "compute_center_of_mass_jacobian",
    "compute_forces",
    "compute_joint_space_inertia",
    "compute_point_jacobian",
    "compute_world_pose",
    "convert",
    "edit",
    "fields",
    "gestures",
    "info",
    "law",
    "laws",
    "lift",
    "load_character",
    "load_clip",
    "load_mapping",
    "load_state",
    "load_take",
    "mix",
    "pose",
    "puppet",
    "register_driver",
    "register_engine",
    "register_format",
    "retarget",
    "rotation",
    "run_crowd",
    "save_character",
    "save_clip",
    "save_state",
    "solve_hybrid_dynamics",
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
