"""What a user gives a stage, taken as it is meant, or refused by a sentence."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterable
from os import PathLike
from typing import Any

from poise.body.character import Character
from poise.body.skeleton import Skeleton
from poise.body.vocabulary import BODY, PARTS
from poise.drivers.checks import EXAMPLES
from poise.drivers.driver import MOTION, Driver
from poise.errors import InputError
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
    raise InputError(f"'{part}' is driven by a driver, such as {EXAMPLES}; given {_brief(driver)}.")


def find_driven(skeleton: Skeleton, part: Any, driver: Driver) -> list[int]:
    """The joints that a driver is given by a part's name or by names of joints.

    The whole body is without the root where it is physical: nothing but the ground and the root's own driver hold it.
    """
    names = [part] if isinstance(part, str) else part
    if not (isinstance(names, Collection) and all(isinstance(name, str) for name in names)):
        known = ", ".join((*PARTS, ROOT))
        raise InputError(f"what is driven is a part ({known}) or a list of joints; given {_brief(part)}.")
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
        f"an actor is a poise.Character or the path of one's file; given {_brief(character)}. Make one: "
        "poise.Character.human(), or poise.Character.from_skeleton(clip.skeleton)."
    )


def take_name(name: Any, otherwise: str) -> str:
    """An actor's name, any text; the character's own where none is given."""
    if name is None or name == "":
        return otherwise
    if not isinstance(name, str):
        raise InputError(f"an actor's name is text, or left out; given {_brief(name)}.")
    return name


def take_load(load: Any) -> Load:
    """Something heavy."""
    if isinstance(load, Load):
        return load
    joint = load if isinstance(load, str) else "rightHand"
    raise InputError(f"a load is a joint and kilograms, as in poise.Load({joint!r}, 2); given {_brief(load)}.")


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
        f"a prop is a poise.Prop, as in poise.Prop.box('table', (1.2, 0.7, 0.6), mass=12); given {_brief(prop)}."
    )


def take_touch(touch: Any) -> Touch:
    """Who touches whom."""
    if isinstance(touch, Touch):
        return touch
    raise InputError(f"who touches whom is a poise.Touch, as in poise.Touch(actors=False); given {_brief(touch)}.")


def _brief(value: Any) -> str:
    """A value in an error's sentence: itself where that is short, else what it is."""
    text = ascii(value) if isinstance(value, str) else repr(value)
    return text if len(text) <= 60 and "object at" not in text else f"a {type(value).__name__}"
