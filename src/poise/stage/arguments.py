"""Arguments of a stage: what a user gives it, taken as it is meant, or refused with a message.

What an engine cannot do is refused by name, before anything is built: see `engines/engine.py:Capabilities`.

Nudges are the exception: they only correct drift, and an engine that does not take them goes without.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterable
from os import PathLike
from typing import Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import BODY, PARTS
from poise.body.skeleton import Skeleton
from poise.drivers.checks import EXAMPLES
from poise.drivers.driver import MOTION, Claim, Driver
from poise.engines.engine import Engine
from poise.engines.registry import DEFAULT
from poise.engines.scene import HINGES, Scene
from poise.errors import InputError, RangeError, check_range, unknown_name
from poise.kinds import brief
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.world.contact_settings import ContactSettings
from poise.world.forces import Load
from poise.world.prop import Prop

ROOT = "root"


def take_driver(driver: Any, part: Any) -> Driver:
    """A driver; a class that can be made without arguments is made one."""
    is_class = inspect.isclass(driver)
    if not is_class and callable(getattr(driver, "claim", None)) and callable(getattr(driver, "build", None)):
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
        from poise.files.formats.gltf.character import load_character

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


def take_touch(touch: Any) -> ContactSettings:
    """Who touches whom."""
    if isinstance(touch, ContactSettings):
        return touch
    raise InputError(
        f"who touches whom is a poise.ContactSettings, as in poise.ContactSettings(actors=False); given {brief(touch)}."
    )


COUPLINGS = ("exact", "paper")
MOST_GRAVITY = 1000.0  # m/s2
STEPS = (1e-5, 0.05)  # s


def is_step(dt: float) -> bool:
    """Whether a stage can take steps of dt (s); round-off aside, since 1 / 1e5 frames a second is below 1e-5 s."""
    return math.isfinite(dt) and STEPS[0] * (1.0 - 1e-9) <= dt <= STEPS[1] * (1.0 + 1e-9)


def check_settings(
    dt: float, couple: str, gain: float, torque_only: bool, coupling_filter: float | None, threads: int
) -> None:
    """Raise InputError for what no stage can be."""
    if couple not in COUPLINGS:
        raise unknown_name("coupling", couple, COUPLINGS)
    if not is_step(dt):
        raise RangeError("the step of a stage", dt, *STEPS, "s")
    check_range("the coupling gain", gain, -10.0, 10.0)
    if not isinstance(threads, int):
        raise RangeError("the number of threads", threads, 1, 256)
    check_range("the number of threads", threads, 1, 256)
    if torque_only and couple == "exact":
        raise InputError("torque alone is an option of the 'paper' coupling; 'exact' hands on the whole wrench.")
    if coupling_filter is not None:
        if couple == "exact":
            raise InputError("a coupling filter requires the 'paper' coupling; 'exact' uses no past accelerations.")
        if not 0.0 <= coupling_filter < 1.0:
            raise InputError(f"the coupling filter must be from 0 (as published) to below 1; got {coupling_filter:g}.")


def take_gravity(gravity: Iterable[float]) -> np.ndarray:
    """(3,) m/s2."""
    try:
        found = np.array([float(a) for a in gravity])
    except (TypeError, ValueError):
        raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {gravity!r}.") from None
    if found.shape != (3,) or not np.isfinite(found).all():
        raise InputError(f"gravity is three finite numbers (m/s2, world axes); given {found.tolist()}.")
    pull = float(np.linalg.norm(found))
    if pull > MOST_GRAVITY:
        raise InputError(f"gravity is {pull:g} m/s2; at most {MOST_GRAVITY:g} can be used. The Earth's is 9.81.")
    return found


def check_coupling(engine: Engine, couple: str) -> None:
    """Raise InputError where an engine cannot couple in a way."""
    if couple not in engine.abilities.couplings:
        able = ", ".join(engine.abilities.couplings) or "none"
        raise InputError(f"the engine '{engine.name}' cannot couple by '{couple}', only by {able}.")


def check_driven(engine: Engine, driver: Driver, claim: Claim) -> None:
    """Raise InputError where an engine cannot do what a driver asks for."""
    able, who = engine.abilities, type(driver).__name__
    if claim.rides_on is not None and not able.carriers:
        raise InputError(
            f"{who} has the root ride on '{claim.rides_on}', and with the engine '{engine.name}' nobody rides on a "
            f"prop. Use an engine that can, such as '{DEFAULT}'."
        )
    if claim.pinned and not able.pins:
        raise InputError(
            f"{who} fixes joints to the world, which the engine '{engine.name}' cannot. "
            f"Leave them unpinned, or use an engine that can, such as '{DEFAULT}'."
        )


def check_scene(engine: Engine, scene: Scene) -> None:
    """Raise InputError where an engine cannot build a scene."""
    able = engine.abilities
    if scene.props and not able.props:
        raise InputError(
            f"'{scene.props[0].name}' is a prop, and the engine '{engine.name}' has none. "
            f"Leave it away, or use an engine that has props, such as '{DEFAULT}'."
        )
    for body in scene.bodies:
        hinge = next((i for i, joint in enumerate(body.joints) if joint.kind == HINGES), None)
        if hinge is not None and not able.hinges:
            raise InputError(
                f"a driver of '{body.name}' makes a hinge of '{body.tree.names[hinge]}', and the engine "
                f"'{engine.name}' has only ball joints. Use another driver there, or an engine that has hinges, such "
                f"as '{DEFAULT}'."
            )
