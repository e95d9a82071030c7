"""Engines by name: `get_engine("mujoco")`."""

from __future__ import annotations

from collections.abc import Callable

from poise.engines.engine import Capabilities, Engine
from poise.errors import InputError
from poise.registry import Entry, Registry

ENGINES = {
    "mujoco": Entry(
        "poise.engines.mujoco.simulation:MujocoEngine", "MuJoCo: both couplings, hinges, pins, riding on props"
    ),
    "bullet": Entry("poise.engines.bullet.simulation:BulletEngine", "Bullet (pybullet): both couplings, hinges, pins"),
    "inverse": Entry(
        "poise.engines.inverse.engine:InverseEngine", "the strength paper's: hard contacts, steps up to 40 ms"
    ),
}
DEFAULT = "mujoco"  # which can do all that there is
_NEEDS = {"mujoco": ("mujoco", "mujoco"), "bullet": ("pybullet", "poise[bullet]"), "inverse": ("mujoco", "mujoco")}
_REGISTRY = Registry("engine", ENGINES, _NEEDS)


def get_engine(name: str) -> Engine:
    """An engine by its name; refused where it is unknown or its library is missing."""
    engine = _REGISTRY.find(name)()
    check_engine(engine)
    return engine


def register_engine(name: str, make: Callable[[], Engine]) -> None:
    """Have an engine of yours found by a name, in `Stage(engine=...)` and in recipes. make: its class."""
    _REGISTRY.register(name, make)


def check_engine(engine: object) -> None:
    """Raise InputError unless it is an engine that says its name and what it can do."""
    if not isinstance(engine, Engine):
        raise InputError(
            f"an engine is one of {', '.join(_REGISTRY.names())}, or an Engine of yours; given {engine!r}."
        )
    if not isinstance(getattr(engine, "name", None), str):
        raise InputError(f'{type(engine).__name__} has no name. Give it one: name = "...".')
    if not isinstance(getattr(engine, "abilities", None), Capabilities):
        raise InputError(f"{type(engine).__name__} does not say what it can do: abilities = Capabilities(...).")
