"""Arguments of a stage: converted to what is meant, or refused with a message.

What an engine cannot do is refused by name, before anything is built: see `engines/engine.py:Capabilities`. Nudges are
the exception: they only correct drift, and an engine without them leaves them out.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Collection, Iterable, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from poise.body.character import Character
from poise.body.roles import BODY, PARTS
from poise.body.skeleton import Skeleton
from poise.drivers.checks import EXAMPLES, check_claim, check_driver
from poise.drivers.driver import MOTION, Claim, Driver
from poise.drivers.root.root import check_part
from poise.engines.engine import Engine
from poise.engines.registry import DEFAULT
from poise.engines.scene import HINGES, Scene
from poise.errors import InputError, RangeError, check_range, unknown_name
from poise.kinds import brief
from poise.motion.motion import Pose
from poise.motion.parts import part_joints
from poise.stage.attachment import check_boarding, check_free
from poise.stage.coupling.paper import check_live, check_standing
from poise.world.contact_settings import ContactSettings
from poise.world.forces import Load
from poise.world.prop import Prop

if TYPE_CHECKING:
    from poise.stage.actor import Actor
    from poise.stage.assignment import Assignment
    from poise.stage.partition import Partition
ROOT = "root"


def check_drive(actor: Actor, part: Any, driver: Any) -> tuple[Driver, str, Claim]:
    """Return the driver of a part of an actor, the part's name and the driver's claim; raise InputError otherwise."""
    stage, skeleton = actor.stage, actor.character.skeleton
    driver = take_driver(driver, part)
    joints = find_driven(skeleton, part, driver)
    name = part if isinstance(part, str) else ", ".join(part)
    check_driver(driver)
    check_part(driver, name, part == ROOT)
    claim = driver.claim(actor.character, joints, name)
    check_claim(claim, driver, joints, skeleton)
    check_driven(stage.engine, driver, claim)
    if driver.level != MOTION and claim.follows is not None:
        _check_followed(actor, driver, claim.follows)
    if claim.rides_on is not None:
        if stage.is_built and claim.rides_on not in stage.props:  # none will come any more
            raise unknown_name("prop", claim.rides_on, stage.props, "this stage")
        check_free(stage, claim.rides_on)
    if actor.started:
        with stage.hold():
            driver.check(actor.body)
            if claim.rides_on is not None:
                check_boarding(actor.body, claim.rides_on, actor.name)
    return driver, name, claim


def _check_followed(actor: Actor, driver: Driver, other: Any) -> None:
    """Raise InputError unless a physical body follows another actor of its stage."""
    who = type(driver).__name__
    if other is actor:
        raise InputError(f"'{actor.name}' cannot follow itself; give {who} another actor.")
    if actor.stage.actors.get(other.name) is not other:
        raise InputError(
            f"{who} follows an actor of its own stage; '{other.name}' is not on the stage of '{actor.name}'. Add it "
            "there: stage.add(character)."
        )


def check_split(actor: Actor, entries: Sequence[Assignment], partition: Partition) -> None:
    """Raise InputError if the `paper` coupling would not be stable with other drivers of an actor."""
    if not actor.is_guarded:
        return
    live = [a for a in entries if a.claim.follows is not None and a.driver.level == MOTION]
    check_live(actor.body, [i for a in live for i in a.claim.moved], actor.name)
    if actor.started:
        given = ~np.isin(np.arange(len(actor.body.tree)), partition.physical)
        stands = any(a.claim.needs_ground for a in entries) and not actor.has_lost_balance
        check_standing(actor.body, given, stands, actor.name)


def take_driver(driver: Any, part: Any) -> Driver:
    """Return a driver; a class that can be made without arguments is made one."""
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
    """Return the joints of a part's name, or of names of joints.

    The entire body is without the root if the driver is physical: only the ground and the root's own driver hold that.
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
    """Return a character, or that of a file."""
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
    """Return an actor's name, any text; another one if none is given."""
    if name is None or name == "":
        return otherwise
    if not isinstance(name, str):
        raise InputError(f"an actor's name is text, or left out; given {brief(name)}.")
    return name


def take_pose(pose: Any, character: Character, name: str) -> Pose:
    """Return a pose of a character; raise InputError if it does not fit."""
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
    """Return a load; raise InputError for anything else."""
    if isinstance(load, Load):
        return load
    joint = load if isinstance(load, str) else "rightHand"
    raise InputError(f"a load is a joint and kilograms, as in poise.Load({joint!r}, 2); given {brief(load)}.")


def take_loads(loads: Any) -> list[Load]:
    """Return several loads, or one by itself, as a list."""
    if isinstance(loads, Load | str) or not isinstance(loads, Iterable):
        loads = [loads]
    return [take_load(load) for load in loads]


def take_prop(prop: Any) -> Prop:
    """Return a prop; raise InputError for anything else."""
    if isinstance(prop, Prop):
        return prop
    raise InputError(
        f"a prop is a poise.Prop, as in poise.Prop.box('table', (1.2, 0.7, 0.6), mass=12); given {brief(prop)}."
    )


def take_touch(touch: Any) -> ContactSettings:
    """Return the contact settings; raise InputError for anything else."""
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
    """Raise InputError if a setting is out of its range."""
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
    """Return gravity (3,) m/s2; raise InputError unless it is three finite numbers."""
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
    """Raise InputError if an engine does not have a coupling."""
    if couple not in engine.abilities.couplings:
        able = ", ".join(engine.abilities.couplings) or "none"
        raise InputError(f"the engine '{engine.name}' cannot couple by '{couple}', only by {able}.")


def check_driven(engine: Engine, driver: Driver, claim: Claim) -> None:
    """Raise InputError if an engine cannot do what a driver requires."""
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
    """Raise InputError if an engine cannot build a scene."""
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
