"""Bodies that are changed: what they weigh, where, how tall they are, what of them turns."""

from __future__ import annotations

import numpy as np
import pytest

import poise
from poise import Character, InputError, bodies
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.soles import find_soles, leg_length
from poise.body.reshape import add_mass, lengthen, lock, remove
from poise.body.strength.static import find_stiffness, static_strength
from poise.files.character import format_character, parse_character
from poise.spatial.inertia import RigidInertia

BODY = Character.human(1.75, 75.0)


def test_a_mass_that_is_put_on_is_where_it_was_put() -> None:
    heavy = add_mass(BODY, "upperChest", 15.0, (0.0, 0.1, -0.2))
    at = BODY.skeleton.rest_positions()[BODY.skeleton.index("upperChest")] + [0.0, 0.1, -0.2]
    expected = (75.0 * BODY.center_of_mass() + 15.0 * at) / 90.0
    np.testing.assert_allclose(heavy.center_of_mass(), expected, atol=1e-12)
    assert heavy.mass == pytest.approx(90.0, abs=1e-9) and BODY.mass == pytest.approx(75.0, abs=1e-9)
    fingers = add_mass(lock(BODY, "leftToes"), "leftToes", 1.0)
    assert fingers.segment("leftToes").mass == pytest.approx(BODY.segment("leftToes").mass + 1.0)


def test_a_longer_leg_is_longer_and_heavier_and_stands() -> None:
    long = lengthen(BODY, 1.1, "leftUpperLeg", "leftLowerLeg")
    assert leg_length(long.skeleton, "left") == pytest.approx(1.1 * leg_length(BODY.skeleton, "left"))
    assert leg_length(long.skeleton, "right") == leg_length(BODY.skeleton, "right")
    grown = 0.1 * leg_length(BODY.skeleton, "left")
    rest, was = long.skeleton.rest_positions(), BODY.skeleton.rest_positions()
    left, right = (BODY.skeleton.index(side + "Foot") for side in ("left", "right"))
    np.testing.assert_allclose(rest[left], was[left], atol=1e-12)  # it stands on this one
    np.testing.assert_allclose(rest[right], was[right] + [0.0, grown, 0.0], atol=1e-12)
    assert long.height == pytest.approx(1.75 + grown)
    for sole, before in zip(find_soles(long.skeleton), find_soles(BODY.skeleton), strict=True):
        np.testing.assert_allclose(sole.heel, before.heel, atol=1e-12)  # a foot is a foot
        np.testing.assert_allclose(sole.tip, before.tip, atol=1e-12)
    assert long.segment("leftLowerLeg").mass == pytest.approx(1.1 * BODY.segment("leftLowerLeg").mass)


def test_stretched_matter_has_the_inertia_of_the_stretched_solid() -> None:
    """A box's inertia in closed form, stretched askew to none of its axes and along one."""
    half = np.array([0.05, 0.2, 0.07])

    def box(edges):
        return 8.0 * np.prod(edges) * 1000.0, np.diag((edges**2).sum() - edges**2) / 3.0

    mass, unit = box(half)
    body = Character.human(1.75, 75.0, preset="mix")
    joint = body.skeleton.index("leftLowerLeg")
    segments = tuple(
        type(s)(s.name, s.joint, RigidInertia(mass, np.array([0.0, -0.2, 0.0]), mass * unit))
        if s.joint == "leftLowerLeg" else s for s in body.segments
    )  # fmt: skip
    found = lengthen(Character("a", body.skeleton, segments, 1.75), 1.3, "leftLowerLeg").segment("leftLowerLeg").inertia
    mass, unit = box(half * [1.0, 1.3, 1.0])
    assert found.mass == pytest.approx(mass) and joint > 0
    np.testing.assert_allclose(found.inertia, mass * unit, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(found.center, [0.0, -0.26, 0.0], atol=1e-12)


def test_what_is_removed_is_gone_and_nothing_else() -> None:
    one = remove(BODY, "leftUpperArm")
    gone = sum(BODY.segment(role).mass for role in ("leftUpperArm", "leftLowerArm", "leftHand"))
    assert one.mass == pytest.approx(75.0 - gone)
    assert set(BODY.skeleton.names) - set(one.skeleton.names) == {"leftUpperArm", "leftLowerArm", "leftHand"}
    kept = [BODY.skeleton.index(name) for name in one.skeleton.names]
    np.testing.assert_array_equal(one.skeleton.rest_positions(), BODY.skeleton.rest_positions()[kept])
    stump = remove(BODY, "rightLowerArm").skeleton
    np.testing.assert_array_equal(stump.tips[stump.index("rightUpperArm")], BODY.skeleton.offsets[
        BODY.skeleton.index("rightLowerArm")])  # fmt: skip


def test_a_locked_joint_has_one_angle() -> None:
    stiff = lock(BODY, "leftLowerLeg", (20.0, 0.0, 0.0))
    ends = stiff.limits["leftLowerLeg"]
    np.testing.assert_allclose(np.degrees(ends.lower), [20.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(ends.lower, ends.upper)
    assert "leftLowerLeg" not in stiff.freedoms and "rightLowerLeg" in stiff.freedoms


@pytest.mark.parametrize("name", bodies.PHYSIQUES)
@pytest.mark.many(3)
def test_every_kind_is_a_body_that_can_be_saved_and_drawn(name: str) -> None:
    body = poise.bodies.build_body(name, 1.6, 60.0)
    again = parse_character(format_character(body), "text")
    assert again.mass == pytest.approx(body.mass) and again.height == pytest.approx(body.height)
    for joint, ends in body.limits.items():
        np.testing.assert_allclose(again.limits[joint].lower, ends.lower, atol=1e-9)
    extra = sum(weight for _, _, weight in bodies.list_extras(name, 1.6, 60.0))
    plain, own = Character.human(1.6, 60.0), 60.0 * bodies.PHYSIQUES[name].mass
    if name == "one-arm":
        own -= sum(plain.segment("left" + stem).mass for stem in ("UpperArm", "LowerArm", "Hand"))
    elif name == "long-leg":
        own += 0.1 * sum(plain.segment("left" + stem).mass for stem in ("UpperLeg", "LowerLeg"))
    assert body.mass == pytest.approx(own + extra, abs=1e-9)
    meshes = build_mannequin(body.skeleton, body.mass - extra)
    feet = [mesh.vertices[:, 1].min() for joint, mesh in meshes.items() if joint.endswith("Foot")]
    soles = [sole.heel[1] for sole in find_soles(body.skeleton)]
    np.testing.assert_allclose(feet, soles, atol=0.012)  # soles are drawn where they stand


def test_the_stomach_is_ahead_and_the_pack_behind() -> None:
    ahead = {name: bodies.build_body(name).center_of_mass()[2] for name in ("average", "fat", "backpack")}
    assert ahead["fat"] > ahead["average"] + 0.02 and ahead["backpack"] < ahead["average"] - 0.02


def test_stiffness_goes_against_strength() -> None:
    hard, strength = find_stiffness(BODY), dict(zip(BODY.skeleton.names, static_strength(BODY), strict=True))
    for a in hard:
        for b in hard:
            assert (hard[a] - hard[b]) * (strength[a] - strength[b]) <= 0.0
    assert hard["leftHand"] > hard["leftLowerArm"] > hard["leftUpperLeg"]
    inner = [name for name in hard if 0.1 < hard[name] < 10.0]
    products = [hard[name] * strength[name] for name in inner]
    assert len(inner) > 10 and np.ptp(products) < 1e-9 * np.mean(products)
    weak = find_stiffness(BODY, {"leftLowerLeg": 0.5, "leftHand": 0.0})
    assert weak["leftLowerLeg"] == pytest.approx(2.0 * hard["leftLowerLeg"]) and weak["leftHand"] == np.inf


@pytest.mark.parametrize(
    "change",
    [
        lambda: add_mass(BODY, "leftFin", 1.0),
        lambda: add_mass(BODY, "chest", -1.0),
        lambda: add_mass(BODY, "chest", float("nan")),
        lambda: add_mass(BODY, "chest", 1.0, (0.0, 1.0)),
        lambda: add_mass(BODY, "chest", 1.0, (0.0, float("inf"), 0.0)),
        lambda: lengthen(BODY, 0.0, "leftUpperLeg"),
        lambda: lengthen(BODY, float("nan"), "leftUpperLeg"),
        lambda: lock(BODY, "hips"),
        lambda: lock(BODY, "leftLowerLeg", (-30.0, 0.0, 0.0)),
        lambda: lock(BODY, "leftLowerLeg", (0.0, 0.0)),
        lambda: remove(BODY, "hips"),
        lambda: remove(BODY, "tail"),
        lambda: bodies.build_body("giant"),
        lambda: bodies.build_body("fat", mass=1e9),
        lambda: find_stiffness(BODY, {"leftHand": -1.0}),
    ],
)
def test_what_cannot_be_is_refused(change) -> None:
    with pytest.raises(InputError):
        change()
