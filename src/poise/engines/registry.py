"""Engines by name: `get_engine("mujoco")`."""

from __future__ import annotations

from typing import cast

from poise.engines.engine import Engine
from poise.errors import InputError, unknown_name
from poise.registry import Entry

ENGINES = {
    "mujoco": Entry("poise.engines.mujoco:MujocoEngine", "MuJoCo: both couplings, hinges, pins, riding on props"),
    "bullet": Entry("poise.engines.bullet:BulletEngine", "Bullet (pybullet): the paper coupling, hinges"),
}
# What each needs: the module to import, and what to install for it.
_NEEDS = {"mujoco": ("mujoco", "mujoco"), "bullet": ("pybullet", "poise[bullet]")}


def get_engine(name: str) -> Engine:
    """An engine by its name; refused where it is unknown or its library is missing."""
    from importlib.util import find_spec

    if name not in ENGINES:
        raise unknown_name("engine", name, ENGINES)
    module, package = _NEEDS[name]
    if find_spec(module) is None:
        raise InputError(f"engine '{name}' needs {module}, which is not installed: pip install '{package}'.")
    return cast(Engine, ENGINES[name].load()())
