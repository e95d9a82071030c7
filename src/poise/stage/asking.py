"""What a user gives a stage, taken as it is meant, or refused by a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.body.vocabulary import BODY, PARTS
from poise.drivers.checks import EXAMPLES
from poise.drivers.driver import MOTION, Driver
from poise.errors import InputError
from poise.kinds import brief
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.world.load import Load
from poise.world.prop import Prop
from poise.world.touch import Touch

ROOT = "root"


def take_driver(driver: Any, part: Any) -> Driver:
    """A driver; a class that can be made without arguments is made one."""
    is_class = inspect.isclass(driver)
    if not is_class and callable(getattr(driver, "claim", None)) and callable(getattr(driver, "play", None)):
        return driver
    if is_class and issubclass(driver, Driver):
        try:
            return driver()
        except TypeError:
            raise InputError(
                f"'{part}' is to be driven by {driver.__name__}, which needs something to go by. Make it first: "
                f"{driver.__name__}(...)."
            ) from None
    raise InputError(f"'{part}' is driven by a driver, such as {EXAMPLES}; given {brief(driver)}.")


def find_driven(skeleton: Skeleton, part: Any, driver: Driver) -> list[int]:
    """The joints that a driver is given by a part's name or by names of joints.

    The whole body is without the root where it is physical: nothing but the ground and the root's own driver hold it.
    """
    names = [part] if isinstance(part, str) else part
    if not (isinstance(names, Collection) and all(isinstance(name, str) for name in names)):
        known = ", ".join((*PARTS, ROOT))
        raise InputError(f"what is driven is a part ({known}) or a list of joints; given {brief(part)}.")
    if not names:
        raise InputError("what is driven is a part or a list of joints; an empty list given.")
    if not isinstance(part, str):
        return part_joints(skeleton, part)
    joints = [0] if part == ROOT else part_joints(skeleton, part)
    return joints[1:] if part == BODY and driver.level != MOTION else joints


def take_character(character: Any) -> Character:
    """A character, or that of a file."""
    if isinstance(character, Character):
        return character
    if isinstance(character, str | PathLike):
        from poise.files.gltf.character import load_character

        return load_character(character)
    raise InputError(
        f"an actor is a poise.Character or the path of one's file; given {brief(character)}. Make one: "
        "poise.Character.human(), or poise.Character.from_skeleton(clip.skeleton)."
    )


def take_name(name: Any, otherwise: str) -> str:
    """An actor's name, any text; the character's own where none is given."""
    if name is None or name == "":
        return otherwise
    if not isinstance(name, str):
        raise InputError(f"an actor's name is text, or left out; given {brief(name)}.")
    return name


def take_pose(pose: Any, character: Character, name: str) -> Pose:
    """A pose of a character, to begin with."""
    root, rotations = getattr(pose, "root", None), getattr(pose, "rotations", None)
    if not (isinstance(root, np.ndarray) and isinstance(rotations, np.ndarray)):
        raise InputError(f"a pose is a poise.Pose, as in clip.pose(0.0); given {brief(pose)}.")
    if root.shape != (3,) or rotations.shape != (len(character.skeleton), 4):
        raise InputError(
            f"the pose has {rotations.shape[0] if rotations.ndim else 0} rotations; '{name}' has "
            f"{len(character.skeleton)} joints."
        )
    if not (np.isfinite(root).all() and np.isfinite(rotations).all()):
        raise InputError(f"the pose that '{name}' begins with has numbers that are not finite.")
    lengths = np.linalg.norm(rotations, axis=-1)
    worst = int(np.argmax(np.abs(lengths - 1.0)))
    if abs(lengths[worst] - 1.0) > 1e-3:
        raise InputError(
            f"rotations of a pose are unit quaternions (wxyz); that of '{character.skeleton.labels[worst]}' is "
            f"{lengths[worst]:g} long. Divide it by its length."
        )
    return pose


def take_load(load: Any) -> Load:
    """Something heavy."""
    if isinstance(load, Load):
        return load
    joint = load if isinstance(load, str) else "rightHand"
    raise InputError(f"a load is a joint and kilograms, as in poise.Load({joint!r}, 2); given {brief(load)}.")


def take_loads(loads: Any) -> list[Load]:
    """Several of them; one by itself is one."""
    if isinstance(loads, Load | str) or not isinstance(loads, Iterable):
        loads = [loads]
    return [take_load(load) for load in loads]


def take_prop(prop: Any) -> Prop:
    """A thing."""
    if isinstance(prop, Prop):
        return prop
    raise InputError(
        f"a prop is a poise.Prop, as in poise.Prop.box('table', (1.2, 0.7, 0.6), mass=12); given {brief(prop)}."
    )


def take_touch(touch: Any) -> Touch:
    """Who touches whom."""
    if isinstance(touch, Touch):
        return touch
    raise InputError(f"who touches whom is a poise.Touch, as in poise.Touch(actors=False); given {brief(touch)}.")
