"""Names for extensions: the parts of drivers, engines and file formats, compiled laws, and the dynamics of trees.

[Own drivers](../../docs/guides/own_driver.md), [own engines](../../docs/guides/own_engine.md) and
[own formats](../../docs/guides/own_format.md) are written with it. Names are found in their modules when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from poise.compiled.law import Block, Law, fields, law
    from poise.drivers import laws as laws
    from poise.drivers.body import Body
    from poise.drivers.driver import (
        BodyModel,
        Claim,
        Driver,
        MotionPlayer,
        Player,
        Status,
    )
    from poise.drivers.registry import register_driver
    from poise.dynamics.kinematics import (
        compute_center_of_mass,
        compute_center_of_mass_jacobian,
        compute_joint_space_inertia,
        compute_point_jacobian,
        compute_world_pose,
    )
    from poise.dynamics.newton_euler import compute_bias
    from poise.dynamics.tree import Tree, TreeState, build_tree
    from poise.engines.engine import BodyContacts, BodyState, Capabilities, Engine, Simulation, SimulationLaws
    from poise.engines.registry import register_engine
    from poise.engines.scene import Joint, Scene, SceneBody
    from poise.files.registry import register_format
    from poise.spatial.inertia import RigidInertia

_HOMES = {
    "Block": "poise.compiled.law",
    "Body": "poise.drivers.body",
    "BodyContacts": "poise.engines.engine",
    "BodyModel": "poise.drivers.driver",
    "BodyState": "poise.engines.engine",
    "Capabilities": "poise.engines.engine",
    "Claim": "poise.drivers.driver",
    "Driver": "poise.drivers.driver",
    "Engine": "poise.engines.engine",
    "Joint": "poise.engines.scene",
    "Law": "poise.compiled.law",
    "MotionPlayer": "poise.drivers.driver",
    "Player": "poise.drivers.driver",
    "RigidInertia": "poise.spatial.inertia",
    "Scene": "poise.engines.scene",
    "SceneBody": "poise.engines.scene",
    "Simulation": "poise.engines.engine",
    "SimulationLaws": "poise.engines.engine",
    "Status": "poise.drivers.driver",
    "Tree": "poise.dynamics.tree",
    "TreeState": "poise.dynamics.tree",
    "build_tree": "poise.dynamics.tree",
    "compute_bias": "poise.dynamics.newton_euler",
    "compute_center_of_mass": "poise.dynamics.kinematics",
    "compute_center_of_mass_jacobian": "poise.dynamics.kinematics",
    "compute_joint_space_inertia": "poise.dynamics.kinematics",
    "compute_point_jacobian": "poise.dynamics.kinematics",
    "compute_world_pose": "poise.dynamics.kinematics",
    "fields": "poise.compiled.law",
    "law": "poise.compiled.law",
    "register_driver": "poise.drivers.registry",
    "register_engine": "poise.engines.registry",
    "register_format": "poise.files.registry",
}
_MODULES = {"laws": "poise.drivers.laws"}
__all__ = [
    "Block",
    "Body",
    "BodyContacts",
    "BodyModel",
    "BodyState",
    "Capabilities",
    "Claim",
    "Driver",
    "Engine",
    "Joint",
    "Law",
    "MotionPlayer",
    "Player",
    "RigidInertia",
    "Scene",
    "SceneBody",
    "Simulation",
    "SimulationLaws",
    "Status",
    "Tree",
    "TreeState",
    "build_tree",
    "compute_bias",
    "compute_center_of_mass",
    "compute_center_of_mass_jacobian",
    "compute_joint_space_inertia",
    "compute_point_jacobian",
    "compute_world_pose",
    "fields",
    "law",
    "laws",
    "register_driver",
    "register_engine",
    "register_format",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    if name not in _HOMES:
        raise AttributeError(f"module 'poise.extend' has no attribute '{name}'. It has: {', '.join(__all__)}.")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
