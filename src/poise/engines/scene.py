"""Scenes, which engines build: bodies with some of their joints to simulate, props, ground and a step.

A description: frozen, and the same for every engine. The stage makes one from its actors and their partitions, and a
new one whenever a part changes hands.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from poise.body.geometry.primitives import Shape
from poise.dynamics.tree import GRAVITY, Tree
from poise.world.contact_settings import ContactSettings
from poise.world.ground.ground import Ground
from poise.world.prop import Prop

# What touches: a body's segment by the body's number in the scene and its joint, a prop by its name.
Thing = tuple[int, int] | str
GIVEN, FREE, BALL, HINGES = range(4)


@dataclass(frozen=True, eq=False)
class Joint:
    """How an engine moves one joint.

    kind    GIVEN: not at all, the stage places what it carries; FREE: a root that floats; BALL; HINGES: about up to
            two successive axes, R = R_0 R(axis 1, a_1) R(axis 2, a_2) with R_0 the rotation it is built at; stiff there
            with no axis
    axes    (n, 3) unit, in the body's own axes; for HINGES
    ranges  (n, 2) rad about each axis, counted from R_0
    """

    kind: int
    axes: np.ndarray = field(default_factory=lambda: np.zeros((0, 3)))
    ranges: np.ndarray = field(default_factory=lambda: np.zeros((0, 2)))

    @property
    def is_given(self) -> bool:
        """Whether no engine moves it."""
        return self.kind == GIVEN


@dataclass(frozen=True, eq=False)
class SceneBody:
    """One body, and where it is when the engine is built.

    name       unlike any other in the scene
    tree       its bodies, with the loads that they hold
    joints     how each moves
    root, rotations, velocity, angular_velocity   its state, as in `TreeState`
    shapes     (joint, shape in the joint's frame) of all that touches
    pinned     joints whose bodies are fixed to the world where they are
    carrier    name of the prop that a GIVEN root rides on, its place then being in the prop's frame; None: the world
    is_hard    whether its contacts are as hard as the step allows: of a body that falls, and does not stand
    is_locked  whether the engine gives the bodies of GIVEN joints their inertia (`exact` coupling) or none (`paper`)
    """

    name: str
    tree: Tree
    joints: tuple[Joint, ...]
    root: np.ndarray
    rotations: np.ndarray
    velocity: np.ndarray
    angular_velocity: np.ndarray
    shapes: tuple[tuple[int, Shape], ...] = ()
    pinned: tuple[int, ...] = ()
    carrier: str | None = None
    is_locked: bool = True
    is_hard: bool = False


@dataclass(frozen=True, eq=False)
class Scene:
    """All that one engine moves together.

    dt       s, the engine's step
    gravity  (3,) m/s2
    time     s, on the clock that a moving ground goes by, when it is built
    touch    how softly things touch, and whether bodies touch props
    meets    (B, B) bool, symmetric: whose segments touch whose; on the diagonal, who touches himself. None: nobody
    apart    pairs of things that do not touch although the rest says so
    """

    bodies: tuple[SceneBody, ...]
    props: tuple[Prop, ...] = ()
    ground: Ground | None = field(default_factory=Ground)
    dt: float = 0.005
    gravity: np.ndarray = field(default_factory=lambda: np.array(GRAVITY))
    time: float = 0.0
    touch: ContactSettings = field(default_factory=ContactSettings)
    meets: np.ndarray | None = None
    apart: tuple[tuple[Thing, Thing], ...] = ()

    def find_floating(self) -> set[str]:
        """Return the names of all that floats, as in `BodyContacts.others`: free props, and segments of free bodies."""
        found = {prop.name for prop in self.props if prop.inertia is not None and prop.hinge is None}
        for body in self.bodies:
            if body.joints[0].kind == FREE and not body.pinned:
                found |= {f"{body.name}/{name}" for name in body.tree.names}
        return found

    def find_kinds(self) -> tuple[list[int], np.ndarray]:
        """Bodies that touch the same bodies, as kinds: the kind of each body, and (K, K) bool, which kinds touch.

        Engines say by a bit for each kind who may touch whom.
        """
        count = len(self.bodies)
        meets = np.zeros((count, count), bool) if self.meets is None else self.meets
        rows: dict[bytes, int] = {}
        kinds = [rows.setdefault(row.tobytes(), len(rows)) for row in meets]
        first = [kinds.index(kind) for kind in range(len(rows))]
        return kinds, meets[np.ix_(first, first)]


def find_moved(body: SceneBody) -> np.ndarray:
    """The joints whose bodies a GIVEN joint moves, their own or one that carries them."""
    moved: list[bool] = []
    for i, joint in enumerate(body.joints):
        is_moving = joint.kind == GIVEN and (i > 0 or body.carrier is None)
        moved.append(is_moving or (i > 0 and moved[int(body.tree.parents[i])]))
    return np.flatnonzero(moved)
