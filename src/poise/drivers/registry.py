"""Drivers by name, as recipes have them: `build_driver("loose", {"stiffness": 0.5})`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from poise.drivers.checks import check_driver
from poise.drivers.driver import Driver
from poise.errors import InputError, finite_number, unknown_name
from poise.registry import Entry, Registry

DRIVERS = {
    "attached": Entry("poise.drivers.root.root:Attached", "the root rides on a prop"),
    "balance": Entry("poise.drivers.balance.balance:Balance", "legs that keep a body on its feet"),
    "counterpoise": Entry(
        "poise.drivers.counterpoise.counterpoise:Counterpoise", "a trunk that leans against the arms"
    ),
    "free": Entry("poise.drivers.root.root:Free", "the root floats"),
    "keep-upright": Entry("poise.drivers.keep_upright.keep_upright:KeepUpright", "a wrist keeps what it holds upright"),
    "kinematic": Entry("poise.drivers.kinematic.kinematic:Kinematic", "joints are where a motion has them"),
    "loose": Entry("poise.drivers.loose.loose:Loose", "joints are pulled softly towards a pose"),
    "strength": Entry("poise.drivers.strength.strength:Strength", "a motion is followed as far as muscles allow"),
    "track": Entry("poise.drivers.track.track:Track", "springs follow a motion"),
    "walk": Entry("poise.drivers.walk.walk:Walk", "steps on whatever ground there is, with the balance kept"),
}
_REGISTRY = Registry("driver", DRIVERS)


def register_driver(name: str, make: Callable[..., Driver]) -> None:
    """Have a driver of yours found by a name, in recipes. make: its class, whose parameters a recipe may give."""
    _REGISTRY.register(name, make)


@dataclass(frozen=True)
class Drive:
    """A part under a driver, in words.

    driver      its name
    parameters  of it, as a recipe's table has them
    """

    part: str
    driver: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def describe(self) -> dict[str, Any]:
        """As a table of a recipe."""
        return {"part": self.part, "driver": self.driver, **self.parameters}

    def build(self, **usual: Any) -> Driver:
        """The driver itself; see `build_driver`."""
        return build_driver(self.driver, self.parameters, **usual)


def read_drive(part: str, driver: str, parameters: Mapping[str, Any]) -> Drive:
    """A drive out of a recipe's table, whose names and values are checked as far as they can be without its motion."""
    _check_parameters(driver, _find_parameters(driver), parameters)
    return Drive(part, driver, dict(parameters))


def build_driver(name: str, parameters: Mapping[str, Any], **usual: Any) -> Driver:
    """The driver of a name with parameters. usual: what it is given where it asks for it and nobody says (motion)."""
    known = _find_parameters(name)
    values = _check_parameters(name, known, parameters)
    values = {key: value for key, value in usual.items() if key in known} | values
    missing = [key for key, each in known.items() if each.default is each.empty and key not in values]
    if missing:
        raise InputError(f"driver '{name}' needs '{missing[0]}', which was not given.")
    driver = _REGISTRY.find(name)(**values)
    check_driver(driver)
    return driver


def _find_parameters(name: str) -> dict[str, inspect.Parameter]:
    found = inspect.signature(_REGISTRY.find(name)).parameters
    return {key: each for key, each in found.items() if not key.startswith("_")}


def _check_parameters(
    name: str, known: Mapping[str, inspect.Parameter], parameters: Mapping[str, Any]
) -> dict[str, Any]:
    """The values, of the kinds that the driver's own defaults are of."""
    found: dict[str, Any] = {}
    for key, value in parameters.items():
        if key not in known:
            raise unknown_name(f"parameter of driver '{name}',", key, known)
        usual, what = known[key].default, f"'{key}' of driver '{name}'"
        if isinstance(usual, bool | str):
            if not isinstance(value, type(usual)):
                raise InputError(f"{what} must be {'true or false' if isinstance(usual, bool) else 'text'}.")
            found[key] = value
        elif isinstance(usual, int | float):
            found[key] = type(usual)(finite_number(value, what))
        else:
            found[key] = value
    return found
