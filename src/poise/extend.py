"""Names for extensions: the parts of drivers, engines and file formats, compiled laws, and the dynamics of trees.

[Own drivers](../../docs/guides/own_driver.md), [own engines](../../docs/guides/own_engine.md) and
[own formats](../../docs/guides/own_format.md) are written with it. Names are found in their modules when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from poise.lazy import find_names_later

if TYPE_CHECKING:
    from poise.compiled.law import Block as Block
    from poise.compiled.law import Law as Law
    from poise.compiled.law import fields as fields
    from poise.compiled.law import law as law
    from poise.drivers import laws as laws
    from poise.drivers.body import Body as Body
    from poise.drivers.driver import (
        BodyModel as BodyModel,
    )
    from poise.drivers.driver import (
        Claim as Claim,
    )
    from poise.drivers.driver import (
        Driver as Driver,
    )
    from poise.drivers.driver import (
        MotionPlayer as MotionPlayer,
    )
    from poise.drivers.driver import (
        Player as Player,
    )
    from poise.drivers.driver import (
        Status as Status,
    )
    from poise.drivers.registry import register_driver as register_driver
    from poise.dynamics.kinematics import (
        compute_center_of_mass as compute_center_of_mass,
    )
    from poise.dynamics.kinematics import (
        compute_center_of_mass_jacobian as compute_center_of_mass_jacobian,
    )
    from poise.dynamics.kinematics import (
        compute_joint_space_inertia as compute_joint_space_inertia,
    )
    from poise.dynamics.kinematics import (
        compute_point_jacobian as compute_point_jacobian,
    )
    from poise.dynamics.kinematics import (
        compute_world_pose as compute_world_pose,
    )
    from poise.dynamics.newton_euler import compute_bias as compute_bias
    from poise.dynamics.tree import Tree as Tree
    from poise.dynamics.tree import TreeState as TreeState
    from poise.dynamics.tree import build_tree as build_tree
    from poise.engines.engine import (
        BodyContacts as BodyContacts,
    )
    from poise.engines.engine import (
        BodyState as BodyState,
    )
    from poise.engines.engine import (
        Capabilities as Capabilities,
    )
    from poise.engines.engine import (
        Engine as Engine,
    )
    from poise.engines.engine import (
        Simulation as Simulation,
    )
    from poise.engines.engine import (
        SimulationLaws as SimulationLaws,
    )
    from poise.engines.registry import register_engine as register_engine
    from poise.engines.scene import Joint as Joint
    from poise.engines.scene import Scene as Scene
    from poise.engines.scene import SceneBody as SceneBody
    from poise.files.registry import register_format as register_format
    from poise.spatial.inertia import RigidInertia as RigidInertia

__getattr__, __dir__, __all__ = find_names_later(
    "poise.extend",
    {
        "poise.compiled.law": "Block Law fields law",
        "poise.drivers.body": "Body",
        "poise.drivers.driver": "BodyModel Claim Driver MotionPlayer Player Status",
        "poise.drivers.laws": "",
        "poise.drivers.registry": "register_driver",
        "poise.dynamics.kinematics": "compute_center_of_mass compute_center_of_mass_jacobian "
        "compute_joint_space_inertia compute_point_jacobian compute_world_pose",
        "poise.dynamics.newton_euler": "compute_bias",
        "poise.dynamics.tree": "Tree TreeState build_tree",
        "poise.engines.engine": "BodyContacts BodyState Capabilities Engine Simulation SimulationLaws",
        "poise.engines.registry": "register_engine",
        "poise.engines.scene": "Joint Scene SceneBody",
        "poise.files.registry": "register_format",
        "poise.spatial.inertia": "RigidInertia",
    },
)
