"""Poise: character animation that obeys physics without giving up control."""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.lazy import find_names_later

if TYPE_CHECKING:
    from poise import extend as extend
    from poise.body import bodies as bodies
    from poise.body.character import Character as Character
    from poise.body.geometry.primitives import Box as Box
    from poise.body.geometry.primitives import Capsule as Capsule
    from poise.body.geometry.primitives import Sphere as Sphere
    from poise.body.skeleton import Skeleton as Skeleton
    from poise.body.strength.joint_strength import JointStrength as JointStrength
    from poise.drivers.balance.balance import Balance as Balance
    from poise.drivers.counterpoise.counterpoise import Counterpoise as Counterpoise
    from poise.drivers.keep_upright.keep_upright import KeepUpright as KeepUpright
    from poise.drivers.kinematic.kinematic import Kinematic as Kinematic
    from poise.drivers.loose.loose import Loose as Loose
    from poise.drivers.puppet.puppet import Puppet as Puppet
    from poise.drivers.root.anchored import Anchored as Anchored
    from poise.drivers.root.root import Attached as Attached
    from poise.drivers.root.root import Free as Free
    from poise.drivers.shadow import Shadow as Shadow
    from poise.drivers.strength.strength import Strength as Strength
    from poise.drivers.track.track import Track as Track
    from poise.drivers.walk.walk import Walk as Walk
    from poise.errors import (
        BusyError as BusyError,
    )
    from poise.errors import (
        FileError as FileError,
    )
    from poise.errors import (
        InputError as InputError,
    )
    from poise.errors import (
        PoiseError as PoiseError,
    )
    from poise.errors import (
        SolveError as SolveError,
    )
    from poise.files.character import save_character as save_character
    from poise.files.formats.gltf.character import load_character as load_character
    from poise.files.registry import load_clip as load_clip
    from poise.files.registry import save_clip as save_clip
    from poise.jobs.balance.job import balance as balance
    from poise.jobs.convert.job import convert as convert
    from poise.jobs.edit.job import edit as edit
    from poise.jobs.info import info as info
    from poise.jobs.lift.job import lift as lift
    from poise.jobs.mix.job import mix as mix
    from poise.jobs.pose.job import pose as pose
    from poise.jobs.puppet.job import puppet as puppet
    from poise.jobs.retarget import retarget as retarget
    from poise.jobs.strength.job import strength as strength
    from poise.jobs.track.job import track as track
    from poise.jobs.walk.job import walk as walk
    from poise.motion import gestures as gestures
    from poise.motion.clip import Clip as Clip
    from poise.motion.forces.forces import compute_forces as compute_forces
    from poise.motion.live import Live as Live
    from poise.motion.motion import Motion as Motion
    from poise.motion.motion import Pose as Pose
    from poise.motion.point_path import PointPath as PointPath
    from poise.puppetry.hands import HandsTake as HandsTake
    from poise.puppetry.hands import LiveHands as LiveHands
    from poise.puppetry.layers import PuppetLayer as PuppetLayer
    from poise.puppetry.mapping import load_mapping as load_mapping
    from poise.puppetry.performance import Rehearsal as Rehearsal
    from poise.spatial import rotation as rotation
    from poise.stage.crowd.crowd_take import run_crowd as run_crowd
    from poise.stage.runner import Runner as Runner
    from poise.stage.stage import Stage as Stage
    from poise.stage.state.files import load_state as load_state
    from poise.stage.state.files import save_state as save_state
    from poise.stage.take.files import load_take as load_take
    from poise.stage.take.take import Take as Take
    from poise.walking.gait import Gait as Gait
    from poise.world.contact_settings import ContactSettings as ContactSettings
    from poise.world.forces import Load as Load
    from poise.world.forces import Push as Push
    from poise.world.ground.ground import Ground as Ground
    from poise.world.ground.ground import Slope as Slope
    from poise.world.ground.height_map import HeightMap as HeightMap
    from poise.world.ground.moving import MovingGround as MovingGround
    from poise.world.ground.profile import Profile as Profile
    from poise.world.ground.profile import Stairs as Stairs
    from poise.world.prop import Hinge as Hinge
    from poise.world.prop import Prop as Prop
    from poise.world.swing import build_swing as build_swing

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = find_names_later(
    "poise",
    {
        "poise.body.bodies": "",
        "poise.body.character": "Character",
        "poise.body.geometry.primitives": "Box Capsule Sphere",
        "poise.body.skeleton": "Skeleton",
        "poise.body.strength.joint_strength": "JointStrength",
        "poise.drivers.balance.balance": "Balance",
        "poise.drivers.counterpoise.counterpoise": "Counterpoise",
        "poise.drivers.keep_upright.keep_upright": "KeepUpright",
        "poise.drivers.kinematic.kinematic": "Kinematic",
        "poise.drivers.loose.loose": "Loose",
        "poise.drivers.puppet.puppet": "Puppet",
        "poise.drivers.root.anchored": "Anchored",
        "poise.drivers.root.root": "Attached Free",
        "poise.drivers.shadow": "Shadow",
        "poise.drivers.strength.strength": "Strength",
        "poise.drivers.track.track": "Track",
        "poise.drivers.walk.walk": "Walk",
        "poise.errors": "BusyError FileError InputError PoiseError SolveError",
        "poise.extend": "",
        "poise.files.character": "save_character",
        "poise.files.formats.gltf.character": "load_character",
        "poise.files.registry": "load_clip save_clip",
        "poise.jobs.balance.job": "balance",
        "poise.jobs.convert.job": "convert",
        "poise.jobs.edit.job": "edit",
        "poise.jobs.info": "info",
        "poise.jobs.lift.job": "lift",
        "poise.jobs.mix.job": "mix",
        "poise.jobs.pose.job": "pose",
        "poise.jobs.puppet.job": "puppet",
        "poise.jobs.retarget": "retarget",
        "poise.jobs.strength.job": "strength",
        "poise.jobs.track.job": "track",
        "poise.jobs.walk.job": "walk",
        "poise.motion.clip": "Clip",
        "poise.motion.forces.forces": "compute_forces",
        "poise.motion.gestures": "",
        "poise.motion.live": "Live",
        "poise.motion.motion": "Motion Pose",
        "poise.motion.point_path": "PointPath",
        "poise.puppetry.hands": "HandsTake LiveHands",
        "poise.puppetry.layers": "PuppetLayer",
        "poise.puppetry.mapping": "load_mapping",
        "poise.puppetry.performance": "Rehearsal",
        "poise.spatial.rotation": "",
        "poise.stage.crowd.crowd_take": "run_crowd",
        "poise.stage.runner": "Runner",
        "poise.stage.stage": "Stage",
        "poise.stage.state.files": "load_state save_state",
        "poise.stage.take.files": "load_take",
        "poise.stage.take.take": "Take",
        "poise.walking.gait": "Gait",
        "poise.world.contact_settings": "ContactSettings",
        "poise.world.forces": "Load Push",
        "poise.world.ground.ground": "Ground Slope",
        "poise.world.ground.height_map": "HeightMap",
        "poise.world.ground.moving": "MovingGround",
        "poise.world.ground.profile": "Profile Stairs",
        "poise.world.prop": "Hinge Prop",
        "poise.world.swing": "build_swing",
    },
)
