"""What a user gives a stage: taken as it is meant, or refused by a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.geometry.primitives import uniform_inertia
from poise.body.skeleton import Skeleton
from poise.files.character import save_character
from poise.motion import samples
from poise.motion.parts import part_joints

BODY = poise.Character.human(1.75, 75, preset="mix")
CLIP = samples.wave(BODY.skeleton, 1.8, fps=50.0)


def actor() -> Any:
    return poise.Stage().add(BODY)


WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "a path to play": (lambda: poise.Kinematic("wave.bvh"), r"poise\.Kinematic\(poise\.load_clip\('wave\.bvh'\)\)"),  # type: ignore[arg-type]
    "a Path to play": (lambda: poise.Kinematic(Path("wave.bvh")), "'wave.bvh' is the name of one"),  # type: ignore[arg-type]
    "a path to track": (lambda: poise.Track("wave.bvh"), r"poise\.Track\(poise\.load_clip"),  # type: ignore[arg-type]
    "nothing to play": (lambda: poise.Kinematic(None), "plays a clip or a gesture"),  # type: ignore[arg-type]
    "nobody drives": (lambda: actor().drive("arms", None), "'arms' is driven by a driver, such as .*; given None"),
    "a clip drives": (lambda: actor().drive("arms", CLIP), "such as .* poise.Kinematic.motion.; given a Clip"),
    "a class that needs more": (lambda: actor().drive("arms", poise.Kinematic), r"Make it first: Kinematic\(\.\.\.\)"),
    "no part": (lambda: actor().drive(5, poise.Loose()), "what is driven is a part .*body.* or a list of joints"),
    "a joint for a load": (lambda: actor().load("rightHand"), r"in poise\.Load\('rightHand', 2\); given 'rightHand'"),
    "a number for a load": (lambda: actor().load(2), "a load is a joint and kilograms"),
    "a load without joint": (lambda: poise.Load(2, "rightHand"), "a joint's name and kilograms"),  # type: ignore[arg-type]
    "loads in words": (lambda: poise.Stage().add(BODY, loads="rightHand"), "a load is a joint and kilograms"),  # type: ignore[arg-type]
    "a push of one number": (lambda: actor().push("spine", 75, 1), "a push is three newtons .world axes.; given 75"),
    "a push of no joint": (lambda: actor().push(3, (0, 0, 75), 1), "a push is at a joint, by its name or role"),
    "a push for words": (lambda: actor().push("spine", (0, 0, 75), "long"), "for numbers of seconds; given .* 'long'"),
    "a name that is none": (lambda: poise.Stage().add(BODY, 5), "an actor's name is text, or left out; given 5"),  # type: ignore[arg-type]
    "no body": (lambda: poise.Stage().add(None), "an actor is a poise.Character or the path of one's file; given None"),  # type: ignore[arg-type]
    "no body's file": (lambda: poise.Stage().add("hero.glb"), "hero.glb: there is no such file"),
    "no file at all": (lambda: poise.Stage().add("walk.bvh"), "walk.bvh: there is no such file"),
    "a file of no body": (lambda: poise.Stage().add(__file__), "'.py' is not a kind of character"),
    "no prop": (lambda: poise.Stage().add_prop("table"), r"a prop is a poise\.Prop, as in poise\.Prop\.box"),  # type: ignore[arg-type]
    "a flat box": (lambda: poise.Prop.box("b", (1, 2)), "the size of box 'b' is three numbers"),
    "a box of nothing": (lambda: poise.Prop.box("b", (1, 2, 0)), "more than 0 m"),
    "a ball inside out": (lambda: poise.Prop.sphere("b", -1), "prop 'b' has a size of -1"),
    "words for shapes": (lambda: poise.Prop("b", "box"), "are Box, Sphere and Capsule; given 'box'"),  # type: ignore[arg-type]
    "a box of no place": (lambda: poise.Box(1, (1, 2, 3)), "the center of a box is 3 numbers, in metres; given 1"),  # type: ignore[arg-type]
}  # fmt: skip


@pytest.mark.parametrize("case", WRONG)
def test_what_cannot_be_is_a_sentence(case: str) -> None:
    call, sentence = WRONG[case]
    with pytest.raises(poise.InputError, match=sentence):
        call()


def test_a_class_that_needs_nothing_is_a_driver() -> None:
    ends = []
    for driver in (poise.Balance, poise.Balance()):
        stage = poise.Stage()
        stage.add(BODY).drive("legs", driver)
        ends.append(stage.run(0.05).actor().rotations)
    np.testing.assert_array_equal(*ends)


def test_the_file_of_a_body_is_a_body(tmp_path: Path) -> None:
    save_character(BODY, tmp_path / "body.json")
    added = poise.Stage().add(tmp_path / "body.json")
    assert (added.character.mass, added.name) == (BODY.mass, BODY.name)


def test_an_actor_that_is_called_half_a_character_is_written(tmp_path: Path) -> None:
    stage = poise.Stage()
    stage.add(BODY, "a\ud800").drive("legs", poise.Balance())
    take = stage.run(0.04)
    take.save(tmp_path / "x.glb")
    assert poise.load_clip(tmp_path / "x.glb").name == "a\\ud800"
    rejects(lambda: take.save(tmp_path / "x.take.npz"), "'a\\ud800'")


def test_the_whole_body_follows_a_clip_or_falls() -> None:
    stage = poise.Stage(dt=0.005)
    follower, ragdoll = stage.add(BODY, "follower"), stage.add(BODY, "ragdoll")
    follower.drive("body", poise.Kinematic(CLIP))
    ragdoll.drive("root", poise.Free())
    ragdoll.drive("body", poise.Loose())
    take = stage.run(0.4, fps=50.0)
    np.testing.assert_allclose(take.actor("follower").root, CLIP.root[:21], atol=1e-9)
    turned = np.abs(np.sum(take.actor("follower").rotations * CLIP.rotations[:21], axis=-1))
    np.testing.assert_allclose(turned, 1.0, atol=1e-12)
    assert take.actor("ragdoll").root[-1, 1] < take.actor("ragdoll").root[0, 1] - 0.2


def test_the_whole_body_is_every_joint_with_a_role_or_without() -> None:
    skeleton = Skeleton(("a", "b", "tail"), np.array([-1, 0, 1]), np.zeros((3, 3)) + 0.1)
    assert part_joints(skeleton, "body") == [0, 1, 2]


@pytest.mark.parametrize(
    ("prop", "moments"),
    [
        (poise.Prop.box("b", (1.2, 0.7, 0.6), 12.0), (12 / 12 * (0.49 + 0.36), 1.44 + 0.36, 1.44 + 0.49)),
        (poise.Prop.sphere("s", 0.2, 3.0), (0.048, 0.048, 0.048)),
    ],
)
def test_a_prop_of_a_shape_and_a_mass_has_its_inertia(prop: poise.Prop, moments: tuple[float, ...]) -> None:
    assert prop.inertia is not None
    np.testing.assert_allclose(prop.inertia.inertia, np.diag(moments), rtol=1e-12, atol=1e-15)


def test_inertia_is_that_of_points_spread_evenly() -> None:
    """Of a turned box and a slanted capsule away from the origin, and of both as one thing, summed over a grid."""
    turn = np.array([0.8, 0.36, 0.0, 0.48])
    box = poise.Box((0.3, 0.1, -0.2), (0.2, 0.1, 0.3), turn)
    rod = poise.Capsule((-0.2, 0.0, 0.1), (0.3, 0.4, -0.1), 0.15)
    grid = np.meshgrid(*(np.arange(low, high, 0.0125) for low, high in ((-0.4, 0.7), (-0.3, 0.6), (-0.6, 0.3))))
    points = np.stack(grid, axis=-1).reshape(-1, 3)
    w, x, y, z = turn
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
    in_box = (np.abs((points - box.center) @ R) < box.half).all(axis=1)
    along = np.clip((points - rod.start) @ (rod.end - rod.start) / rod.length**2, 0.0, 1.0)[:, None]
    in_rod = np.linalg.norm(points - rod.start - along * (rod.end - rod.start), axis=1) < rod.radius
    clouds = [points[in_box], points[in_rod]]
    whole = np.concatenate(clouds)
    both = poise.Prop.solid("both", [box, rod], 7.0).inertia
    assert both is not None
    for found, cloud in (
        (uniform_inertia(box, 7.0), clouds[0]),
        (uniform_inertia(rod, 7.0), clouds[1]),
        (both, whole),
    ):
        spread = np.cov(cloud.T, bias=True)
        inertia = 7.0 * (np.trace(spread) * np.eye(3) - spread)
        assert found.mass == pytest.approx(7.0)
        np.testing.assert_allclose(found.center, cloud.mean(axis=0), atol=1e-3)
        np.testing.assert_allclose(found.inertia, inertia, atol=0.01 * inertia.max())
