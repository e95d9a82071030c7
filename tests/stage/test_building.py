"""Building many bodies: what they share is found once, the quick has the bits of the slow, nothing is mixed up."""

from __future__ import annotations

import dataclasses
import hashlib
import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from poise.body.character import Character
from poise.body.geometry.soles import build_footing, find_soles
from poise.body.joints import find_limits
from poise.body.skeleton import Skeleton, find_structure
from poise.demos.shared.conductors import build_stage, draw_bodies, draw_conductors
from poise.demos.shared.show import stand_still
from poise.drivers.balance.balance import Balance
from poise.dynamics.tree import build_tree
from poise.errors import InputError
from poise.motion.retargeting.reference import build_reference
from poise.motion.samples.tracks import stand_pose
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from poise.spatial.rotation import length, lengths
from poise.stage.stage import Stage
from poise.world.forces import Load

ONE = {
    "multiply": (4, 4), "cross": (3, 3), "rotate": (4, 3), "normalize": (4,), "conjugate": (4,), "exp": (3,),
    "log": (4,), "between": (3, 3), "to_matrix": (4,),
}  # fmt: skip


def draw(rng: np.random.Generator, size: int) -> np.ndarray:
    """Vectors of all sizes, some with zeros of both signs."""
    v = rng.normal(size=size) * 10.0 ** rng.uniform(-7.0, 3.0)
    kind = rng.integers(4)
    return np.asarray(np.round(v) if kind == 0 else v * rng.integers(0, 2, size=size) if kind == 1 else v)


@pytest.mark.parametrize("name", ONE)
def test_one_rotation_has_the_bits_of_many(name: str) -> None:
    """The path for one, in Python's numbers, against NumPy's for two of the same."""
    law, rng = getattr(rotation, name), np.random.default_rng(5)
    for _ in range(150):
        given = [draw(rng, size) for size in ONE[name]]
        with np.errstate(all="ignore"):
            many, one = law(*(np.stack([v, v]) for v in given)), law(*given)
            framed = law(*(v[None] for v in given))
        assert one.shape == many.shape[1:] and framed.shape == (1, *one.shape)
        same = np.isnan(one) | (one.view(np.int64) == many[1].view(np.int64))
        assert same.all() and np.array_equal(np.isnan(one), np.isnan(many[1])), (name, given)
        assert framed.tobytes() == one.tobytes()


def test_one_matrix_has_the_bits_of_many() -> None:
    """All four of the largest components, half turns among them."""
    rng = np.random.default_rng(6)
    for _ in range(200):
        q = rotation.random(rng) * (rng.integers(0, 2, 4) if rng.integers(2) else 1.0) + 0.0
        m = rotation.to_matrix(rotation.normalize(q) if q.any() else rotation.identity())
        assert rotation.from_matrix(m).tobytes() == rotation.from_matrix(np.stack([m, m]))[0].tobytes()


def test_nothing_turns_as_it_did() -> None:
    """Cases that Python refuses or sorts otherwise go NumPy's way."""
    assert np.isnan(rotation.normalize(np.zeros(4))).all()
    assert np.isnan(rotation.from_matrix(np.full((3, 3), np.nan))).all()
    assert np.array_equal(rotation.between(np.zeros(3), np.array([0.0, 1.0, 0.0])), rotation.identity())
    half = rotation.between(np.array([1.0, 0.0, 0.0]), np.array([-1.0, 0.0, 0.0]))
    assert np.allclose(rotation.rotate(half, np.array([1.0, 0.0, 0.0])), [-1.0, 0.0, 0.0])


def test_lengths_are_numpys() -> None:
    """To the last bit, columns of a matrix included."""
    v = np.random.default_rng(7).normal(size=(300, 3))
    assert [length(row) for row in v] == [np.linalg.norm(row) for row in v]
    assert length(v[:, 1]) == np.linalg.norm(v[:, 1])
    assert lengths(v).tobytes() == np.linalg.norm(v, axis=-1).tobytes()


def test_one_part_adds_up_like_many() -> None:
    """A body alone is rounded as sums of any number of them are."""
    rng = np.random.default_rng(9)
    for k in range(100):
        shape = rng.normal(size=(3, 3)) if k % 2 else np.diag(rng.normal(size=3))
        body = RigidInertia(float(rng.uniform(0.1, 9.0)), draw(rng, 3), shape @ shape.T)
        center = sum([body.mass * body.center], np.zeros(3)) / body.mass
        x, y, z = body.center - center
        d = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        alone = RigidInertia.total([body])
        assert alone.mass == body.mass and alone.center.tobytes() == center.tobytes()
        assert alone.inertia.tobytes() == sum([body.inertia - body.mass * d @ d], np.zeros((3, 3))).tobytes()


def model_digest(model: object) -> str:
    """All fields of a MuJoCo model, as it would be saved, to the last bit."""
    import mujoco

    data = np.zeros(mujoco.mj_sizeModel(model), np.uint8)
    mujoco.mj_saveModel(model, None, data)
    return hashlib.sha256(data.tobytes()).hexdigest()


def build_digests(bodies: list[Character], seed: int) -> dict[str, tuple[str, bytes]]:
    """Conductor -> his model and where his upper body's track goes."""
    stage = build_stage(draw_conductors(len(bodies), seed), bodies)
    tracks = {name: actor.assignments[1].player.track.turns.tobytes() for name, actor in stage.actors.items()}  # type: ignore[union-attr]
    models = {group.actors[0].name: model_digest(group.simulation.model) for group in stage.groups}  # type: ignore[attr-defined]
    return {name: (models[name], tracks[name]) for name in models}


def test_bodies_that_share_are_built_as_if_alone() -> None:
    """Models and tracks of many in one go, and of each by itself from a copy that remembers nothing."""
    bodies, conductors = draw_bodies(6, seed=3), draw_conductors(6, seed=3)
    together = build_digests(bodies, 3)
    assert len({digest for digest, _ in together.values()}) == 6
    for body, conductor in zip(bodies, conductors, strict=True):
        find_structure.cache_clear()
        alone = build_stage([conductor], [pickle.loads(pickle.dumps(body))] * 6)
        actor = alone.actors[conductor.name]
        model = alone.groups[0].simulation.model  # type: ignore[attr-defined]
        assert model_digest(model) == together[conductor.name][0]
        assert actor.assignments[1].player.track.turns.tobytes() == together[conductor.name][1]  # type: ignore[union-attr]


def test_a_load_stays_on_its_own_body() -> None:
    """Two of the same character, one loaded: the other's tree and model are as without."""
    character = Character.human(1.7, 68.0, preset="mix")
    digests = []
    for loads in ([], [Load("rightHand", 3.0)], []):
        stage = Stage()
        actor = stage.add(character, "one", loads=loads)
        actor.drive("legs", Balance())
        stage.build()
        digests.append(model_digest(stage.groups[0].simulation.model))  # type: ignore[attr-defined]
        assert actor.body.tree.mass == pytest.approx(68.0 + sum(load.mass for load in loads))
    assert digests[0] == digests[2] != digests[1]


def flatten(found: Any) -> list[object]:
    """All numbers of what was found, arrays by their bits."""
    if isinstance(found, np.ndarray):
        return [found.tobytes()]
    if isinstance(found, Skeleton):
        return flatten((found.offsets, found.tips))
    if isinstance(found, Mapping):
        return flatten(tuple(found.values()))
    if isinstance(found, tuple):
        return [number for each in found for number in flatten(each)]
    return flatten(tuple(vars(found).values())) if dataclasses.is_dataclass(found) else [found]


def test_skeletons_of_one_structure_keep_their_own_lengths() -> None:
    """The structure is one object, what depends on offsets is each one's own; so are written-to copies."""
    small, large = (Character.human(height, 60.0, preset="mix").skeleton for height in (1.5, 1.9))
    assert small.structure is large.structure
    for find in (find_soles, build_footing, stand_pose, build_reference):
        fresh = pickle.loads(pickle.dumps(large))
        find(small)
        assert flatten(find(large)) == flatten(find(fresh)) != flatten(find(small))
    offsets = large.offsets.copy()
    offsets[large.index("leftLowerArm")] = [0.1, -0.2, 0.0]  # an arm that hangs
    assert flatten(find_limits(large.replace(offsets=offsets))) != flatten(find_limits(large))
    before = large.rest_positions()
    large.rest_positions()[:] = 0.0
    large.chain(3).clear()
    large.descendants(0).clear()
    assert np.array_equal(large.rest_positions(), before) and len(large.descendants(0)) == len(large)
    assert large.chain(3)[-1] == 3


def test_equal_names_with_other_roles_or_parents_are_another_structure() -> None:
    """Roles and tree are part of what is shared, not only names."""
    names, offsets = ("a", "b", "c"), np.eye(3)
    chain = Skeleton(names, np.array([-1, 0, 1]), offsets, roles={"hips": "a"})
    fork = Skeleton(names, np.array([-1, 0, 0]), offsets, roles={"hips": "a"})
    named = Skeleton(names, np.array([-1, 0, 1]), offsets, roles={"hips": "a", "spine": "b"})
    assert chain.chain(2) == [0, 1, 2] and fork.chain(2) == [0, 2]
    assert chain.labels == ("hips", "b", "c") and named.labels == ("hips", "spine", "c")
    assert chain.find_role("spine") is None and named.find_role("spine") == 1
    with pytest.raises(InputError, match="exactly one root"):
        Skeleton(names, np.array([-1, -1, 0]), offsets)
    with pytest.raises(InputError, match="more than one joint is called a"):
        Skeleton(("a", "a", "c"), np.array([-1, 0, 0]), offsets)


def test_standing_at_once_is_the_first_of_standing_still() -> None:
    """The pose that a crowd starts from is that of the clip."""
    for body in draw_bodies(5, seed=4):
        still, pose = stand_still(body).pose(0.0), stand_pose(body.skeleton)
        assert pose.root.tobytes() == still.root.tobytes() and pose.rotations.tobytes() == still.rotations.tobytes()


def test_a_tree_has_its_characters_matter() -> None:
    """Joint by joint, against the segments."""
    character = draw_bodies(1, seed=5)[0]
    tree = build_tree(character)
    for i, inertia in enumerate(character.inertias):
        assert tree.masses[i] == pytest.approx(inertia.mass, rel=1e-14)
        assert np.allclose(tree.inertias[i], inertia.inertia, rtol=1e-12, atol=1e-18)
