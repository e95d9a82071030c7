"""Events of hits: what of an actor began to touch something, and with what impulse."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from poise.body.roles import SIDES
from poise.engines.hits import Hit, Hits
from poise.engines.scene import Scene
from poise.stage.take import Event

STANDING = 0.7  # of a contact force on a foot that is upward, from which the foot stands

if TYPE_CHECKING:
    from poise.stage.actor import Actor


def build_hits(actors: list[Actor], scene: Scene) -> Hits | None:
    """Who follows the contacts of a scene; None where all that touches anything is soles on the ground."""
    feet = [find_feet(actor) for actor in actors]
    bare = all({joint for joint, _ in body.shapes} <= own for body, own in zip(scene.bodies, feet, strict=True))
    if bare and scene.meets is None and not any(prop.touches for prop in scene.props):
        return None
    return Hits(scene, feet)


def find_feet(actor: Actor) -> set[int]:
    """Return the joints of both feet, toes included."""
    skeleton = actor.character.skeleton
    found = [skeleton.find_role(side + "Foot") for side in SIDES]
    return {i for foot in found if foot is not None for i in skeleton.descendants(foot)}


def tell_hit(actor: Actor, hit: Hit, time: float, is_listed: bool) -> None:
    """Report a hit to an actor's listeners, and list it among the stage's events unless it is there already.

    time  s, when it began;  is_listed: whether the stage lists the same hit as the other actor felt it
    """
    joint, impulse = actor.character.skeleton.labels[hit.joint], float(np.linalg.norm(hit.impulse))
    words = f"{joint} and {hit.other}: {impulse:.3g} N s"
    actor.tell_event(Event(time, actor.name, "hit", words, joint, hit.other, impulse, force=hit.force), is_listed)
