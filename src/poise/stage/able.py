"""What an engine cannot do is refused by name, before anything is built: see `engines.engine.Abilities`.

Nudges are the exception: they only correct drift, and an engine that does not take them goes without.
"""

from __future__ import annotations

from poise.drivers.driver import ACCELERATION, Claim, Driver
from poise.engines.engine import Engine
from poise.engines.registry import DEFAULT
from poise.engines.scene import HINGES, Scene
from poise.errors import InputError


def check_coupling(engine: Engine, couple: str) -> None:
    """Raise InputError where an engine cannot couple in a way."""
    if couple not in engine.abilities.couplings:
        able = ", ".join(engine.abilities.couplings) or "none"
        raise InputError(f"the engine '{engine.name}' cannot couple by '{couple}', only by {able}.")


def check_driven(engine: Engine, driver: Driver, claim: Claim) -> None:
    """Raise InputError where an engine cannot do what a driver asks for."""
    able, who = engine.abilities, type(driver).__name__
    if driver.level == ACCELERATION and not able.accelerations:
        raise InputError(
            f"{who} gives accelerations, which the engine '{engine.name}' does not take. "
            "Use an engine that does, or a driver that gives torques."
        )
    if driver.carrier is not None and not able.carriers:
        raise InputError(
            f"{who} has the root ride on '{driver.carrier}', and with the engine '{engine.name}' nobody rides on a "
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
