"""Bodies, props and worlds that are odd: each works, or is refused in one sentence; nothing ends in a fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.character import Segment
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.primitives import Sphere
from poise.cli import main
from poise.errors import InputError
from poise.ik.two_bone import correct_two_bone, solve_two_bone
from poise.spatial import rotation
from poise.spatial.inertia import RigidInertia
from tools.fuzz.bodies import USES, make_body, make_motion, try_bodies, try_use

BODY = poise.Character.human(preset="mix")
COUPLE = {"mujoco": "exact", "bullet": "paper"}


@pytest.mark.parametrize("use", USES)
@pytest.mark.many(2)
def test_odd_skeletons_work_or_are_refused(use: str) -> None:
    counts, findings = try_bodies(range(25 if "retarget" not in use else 12), [use])
    assert findings == {}
    assert counts["done"]  # some work


def test_a_fault_would_be_seen() -> None:
    def fail(error: Exception) -> Callable[[], Any]:
        def use() -> Any:
            raise error

        return use

    assert try_use(fail(ZeroDivisionError("x")))[0] == "finding"
    assert try_use(fail(InputError("two\nlines.")))[0] == "finding"
    assert try_use(lambda: [np.array([np.nan])])[0] == "finding"
    assert try_use(lambda: [np.array([1.0]) / 0.0])[0] == "finding"
    assert try_use(fail(InputError("one.")))[0] == "refused"
    assert try_use(lambda: [1.0])[0] == "done"


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.many(1)
def test_commands_end_in_words_at_odd_bodies(seed: int, tmp_path: Any, capsys: pytest.CaptureFixture[str]) -> None:
    clip = make_motion(seed, make_body(seed)[0])
    path = tmp_path / "odd.bvh"
    try:
        poise.save_clip(clip, path)
    except InputError:
        return
    mixes = [["mix", "-o", "OUT.glb"], ["track", "-o", "OUT.bvh"]]
    for words in (["info"], ["convert", "OUT.glb"], ["forces", "-o", "OUT.csv"], *mixes):
        rest = [str(tmp_path / word) if word.startswith("OUT") else word for word in words[1:]]
        assert main([words[0], str(path), *rest, "--quiet"]) in (0, 1, 2)
        assert "fault in Poise" not in capsys.readouterr().err


def changed(mass: float, center: float, moments: tuple[float, float, float]) -> poise.Character:
    """The body with other matter at its left hand."""
    segments = [segment for segment in BODY.segments if segment.joint != "leftHand"]
    odd = Segment("leftHand", "leftHand", RigidInertia(mass, np.full(3, center), np.diag(moments)))
    return dataclasses.replace(BODY, segments=(*segments, odd))


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("mass", [0.0, 1e-300, 1e-12, 1e-6, 0.4, 1e12, 1e308])
@pytest.mark.parametrize("moments", [(0.0, 0.0, 0.0), (0.0, 1e-3, 1e-3), (1e-30,) * 3, (1e-3,) * 3, (1e308,) * 3])
def test_any_matter_is_simulated_or_refused(mass: float, moments: Any, engine: str) -> None:
    def use() -> Any:
        body = changed(mass, 0.05, moments)
        stage = poise.Stage(engine, couple=COUPLE[engine])
        actor = stage.add(body)
        actor.drive("legs", poise.Balance())
        actor.drive("arms", poise.Loose())
        take = stage.run(0.04)
        return take.actor().rotations, take.actor().torque

    if engine == "bullet":
        pytest.importorskip("pybullet")
    what, said = try_use(use)
    assert what != "finding", said
    if mass in (1e12, 1e308) or moments[0] == 1e308:
        assert what == "refused"
    if engine == "mujoco" and mass == 0.4 and moments[2] <= 1e-3:
        assert what == "done", said


def test_matter_that_is_far_away_is_refused() -> None:
    rejects(lambda: changed(0.4, 50.0, (1e-3,) * 3), "'leftHand'", "1.75 m")
    with pytest.raises(InputError, match=r"has a centre of 1e\+300 m from its joint; at most 1000"):
        changed(0.4, 1e300, (1e-3,) * 3)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize("mass", [0.0, -1.0, float("nan"), 1e-12, 1e-9, 1e-6, 1.0, 1e5, 1e12])
@pytest.mark.parametrize("size", [1e-3, 0.1, 10.0])
def test_any_prop_is_simulated_or_refused(mass: float, size: float, engine: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")

    def use() -> Any:
        inertia = RigidInertia(mass, np.zeros(3), 0.4 * mass * size**2 * np.eye(3))
        prop = poise.Prop("ball", (Sphere(np.zeros(3), size),), inertia, np.array([0.0, 1.0 + size, 3.0 + size]))
        stage = poise.Stage(engine, couple=COUPLE[engine])
        stage.add_prop(prop)
        stage.add(BODY).drive("legs", poise.Balance())
        take = stage.run(0.04)
        return take.actor().rotations, take.props["ball"]

    what, said = try_use(use)
    assert what != "finding", said
    assert (what == "done") == (1e-6 <= mass <= 1e5)


@pytest.mark.parametrize("friction", [-1.0, 0.0, 1e-9, 0.8, 10.0, 1e9, float("nan"), float("inf")])
@pytest.mark.parametrize("height", [0.0, -5.0, 1e4, 1e308, float("nan")])
def test_any_ground_carries_or_is_refused(friction: float, height: float) -> None:
    def use() -> Any:
        stage = poise.Stage(ground=poise.Ground(height, friction))
        stage.add(BODY).drive("legs", poise.Balance())
        return (stage.run(0.04).actor().rotations,)

    what, said = try_use(use)
    assert what != "finding", said
    if abs(height) <= 5.0:
        assert (what == "done") == (0.0 <= friction <= 10.0)


@pytest.mark.parametrize("engine", ["mujoco", "bullet"])
@pytest.mark.parametrize(
    "gravity", [(0.0, 0.0, 0.0), (0.0, 9.81, 0.0), (9.81, 0.0, 0.0), (0.0, -1e-12, 0.0), (0.0, -900.0, 0.0),
                (0.0, -1e9, 0.0), (0.0, float("nan"), 0.0), (0.0, 0.0), ("a", "b", "c")],
)  # fmt: skip
def test_any_gravity_pulls_or_is_refused(gravity: Any, engine: str) -> None:
    if engine == "bullet":
        pytest.importorskip("pybullet")

    def use() -> Any:
        stage = poise.Stage(engine, couple=COUPLE[engine], gravity=gravity)
        stage.add(BODY).drive("legs", poise.Balance())
        return (stage.run(0.04).actor().rotations,)

    what, said = try_use(use)
    assert what != "finding", said


def cube(size: float = 0.1) -> Mesh:
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)]) * size
    faces = [
        (0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4),
        (1, 5, 7), (1, 7, 3),
    ]  # fmt: skip
    return Mesh(corners, np.array(faces))


MESHES: dict[str, Callable[[], Mesh]] = {
    "whole": cube,
    "inside out": lambda: cube().flipped(),
    "open": lambda: Mesh(cube().vertices, cube().faces[:-1]),
    "flat": lambda: Mesh(cube().vertices * [1.0, 1.0, 0.0], cube().faces),
    "a point": lambda: Mesh(cube().vertices * 0.0, cube().faces),
    "empty": lambda: Mesh(np.zeros((0, 3)), np.zeros((0, 3), int)),
    "tiny": lambda: cube(1e-9),
    "huge": lambda: cube(1e300),
    "large": lambda: cube(1e8),
    "twice": lambda: Mesh(cube().vertices, np.concatenate([cube().faces, cube().faces])),
}


@pytest.mark.parametrize("name", MESHES)
def test_any_mesh_weighs_or_is_refused(name: str) -> None:
    def use() -> Any:
        mesh = MESHES[name]()
        body = poise.Character.from_meshes(BODY.skeleton, {"hips": mesh, "spine": cube(0.3)}, mass=70.0)
        return body.mass, *(inertia.inertia for inertia in body.inertias)

    what, said = try_use(use)
    assert what != "finding", said


def test_limbs_without_length_have_finite_answers() -> None:
    """Bones of no length, and a hinge along the line: any answer, but one."""
    one, two, zero = np.array([[0.0, -0.4, 0.0]]), np.array([0.0, -0.4, 0.0]), np.zeros(3)
    turn = rotation.identity((1,))
    for upper, lower in ((zero, two), (two, zero), (zero, zero), (two, two)):
        limb = correct_two_bone(turn, turn, upper, lower, one, np.array([[1.0, 0.0, 0.0]]))
        assert np.isfinite(limb.upper).all() and np.isfinite(limb.lower).all()
        with np.errstate(all="raise"):
            bent = solve_two_bone(np.zeros((1, 3)), one, one, upper, lower, np.array([1.0, 0.0, 0.0]))
        assert np.isfinite(bent.upper).all() and np.isfinite(bent.lower).all()
