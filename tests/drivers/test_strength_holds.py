"""Boxes on forearms: what statics allow is held wherever it lies, what they forbid is not; torques keep to strength.

Statics are those of `oracles.statics`, which shares no code with drivers, engines or kernels.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from poise import Pose, Prop, Stage, Strength
from poise.drivers.body import Body
from poise.drivers.strength.player import StrengthPlayer
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.standing import stand_at_ease
from tools.sweeps.hold_sweep import Cell, find_ratio, hold, judge, lay, make

MAN = "man 1.75 m"


def lay_six_kilos(behind: float, engine: str = "mujoco", dt: float = 0.01) -> Cell:
    """6 kg on arms that have 29 % of their strength; so far back that it would touch the chest the box is flat."""
    return Cell(MAN, 6.0, behind, 0.29, engine, dt, 0.1 if behind < 0.0875 else 0.04)


@pytest.mark.parametrize("behind", [0.045, 0.0475, 0.05, 0.0525, 0.055])
def test_load_between_hand_and_forearm_is_held(behind: float) -> None:
    """5 cm behind the wrists it was dropped: arms sank by 8 to 18 cm before they pushed."""
    cell = lay_six_kilos(behind)
    assert 0.60 < find_ratio(cell) < 0.68
    found = hold(cell, 1.5)
    assert found.why == ""
    assert found.gone[1] > -0.06
    assert found.lowest > -0.08  # 4 cm of it until it touches
    assert abs(found.sunk) < 0.01


@pytest.mark.slow
@pytest.mark.parametrize(
    ("engine", "dt"), [("mujoco", 0.01), ("mujoco", 0.0025), ("bullet", 0.005), ("inverse", 1 / 60)]
)
def test_load_is_held_at_every_half_centimetre(engine: str, dt: float) -> None:
    for behind in np.arange(0.0, 0.1201, 0.005).tolist():
        cell = lay_six_kilos(behind, engine, dt)
        assert find_ratio(cell) < 0.75
        found = hold(cell)
        assert (judge(cell, found), found.lowest > -0.08) == ("", True), cell


@pytest.mark.parametrize(
    "cell",
    [
        Cell("woman 1.62 m", 15.0, 0.055, 1.0, "inverse", 1 / 30),
        Cell(MAN, 15.0, 0.0525, 1.0, "inverse", 1 / 30, 0.2),
        Cell("child 1.2 m", 4.0, 0.0525, 1.0, "inverse", 1 / 30),
    ],
)
def test_heavy_load_is_stopped_at_thirty_steps_a_second(cell: Cell) -> None:
    """It came to 0.6 m/s before it was felt, and sank by 15 cm and more: arms were slow lest they swing aside."""
    assert find_ratio(cell) < 0.6
    actor, at, size = lay(cell)
    actor.stage.advance(9)  # 0.3 s
    box = actor.stage.read_prop("box")
    assert box.position[1] > at[1] - 0.1 * size
    assert box.velocity[1] > -0.25


@pytest.mark.parametrize("strength", [0.26, 0.29])
def test_arms_give_way_under_more_than_they_can_carry(strength: float) -> None:
    """15 kg ask for 1.3 to 1.4 times what arms have, and for 0.38 of all their strength."""
    cell = Cell(MAN, 15.0, 0.05, strength)
    assert find_ratio(cell) > 1.2
    found = hold(cell, 2.0)
    assert found.gone[1] < -0.5
    strong = replace(cell, strength=1.0)
    assert find_ratio(strong) < 0.4
    found = hold(strong, 2.0)
    assert found.why == ""
    assert found.gone[1] > -0.06
    assert abs(found.sunk) < 0.02


@pytest.mark.parametrize(
    ("engine", "dt"), [("mujoco", 0.01), ("bullet", 0.005), ("inverse", 1 / 60), ("inverse", 1 / 30)]
)
def test_no_torque_is_beyond_strength_under_a_load(engine: str, dt: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A damper that steadied laden arms gave a wrist a quarter more than it has."""
    given: dict[str, Any] = {}
    write = StrengthPlayer.write

    def watch(player: StrengthPlayer, body: Body, t: float) -> None:
        torque, damping = body.torque.copy(), body.damping.copy()
        write(player, body, t)
        given.update(torque=body.torque - torque, damping=body.damping - damping, R=body.R.copy())

    monkeypatch.setattr(StrengthPlayer, "write", watch)
    actor, _, _ = lay(Cell(MAN, 15.0, 0.05, 0.29, engine, dt))
    actor.stage.step()
    player, laden = actor.player("body"), False
    assert isinstance(player, StrengthPlayer)
    for _ in range(round(0.6 / dt)):
        turns = actor.pose().rotations
        actor.stage.step()
        if actor.has_lost_balance:
            break
        laden = laden or player.loads.laden.any()
        speed = np.einsum("jab,jb->ja", given["R"], actor.body.state.w)
        torque = given["torque"] - given["damping"][:, None] * speed  # dampers act on the speed at the step's end
        own = np.einsum("jba,jb->ja", given["R"], torque)
        axes = player.muscles.find_state(turns, np.zeros((len(turns), 3)))[2]
        asked = player.muscles.project(own, axes)[player.rows]
        assert np.all(asked < player.high + 1e-6)
        assert np.all(asked > player.low - 1e-6)
    assert laden


@pytest.mark.parametrize(("engine", "dt"), [("mujoco", 0.01), ("bullet", 0.005)])
def test_load_on_arms_goes_on_alike_from_a_saved_state(engine: str, dt: float) -> None:
    cell = Cell(MAN, 6.0, 0.05, 1.0, engine, dt)
    actor, _, _ = lay(cell)
    actor.stage.advance(round(0.3 / dt))
    player = actor.player("body")
    assert isinstance(player, StrengthPlayer) and player.loads.laden.any()
    saved = actor.stage.save()
    actor.stage.advance(40)
    twin, _, _ = lay(cell)
    twin.stage.restore(saved)
    twin.stage.advance(40)
    assert np.array_equal(actor.body.state.q, twin.body.state.q)
    assert np.array_equal(actor.body.state.w, twin.body.state.w)
    for one, other in zip(actor.stage.read_prop("box"), twin.stage.read_prop("box"), strict=True):
        assert np.array_equal(one, other)


def test_load_is_held_with_strict_priorities() -> None:
    actor, at, _ = lay(Cell(MAN, 6.0, 0.05, 0.5))
    actor.stage.step()
    player = actor.player("body")
    assert isinstance(player, StrengthPlayer)
    actor.drive("body", replace(player.driver, priorities="strict"))
    actor.stage.advance(150)
    assert actor.fallen is None
    assert actor.stage.read_prop("box").position[1] > at[1] - 0.06


def find_load(actor: Actor) -> float:
    """kg, that rest on somebody."""
    player = actor.player("body")
    assert isinstance(player, StrengthPlayer)
    return float(player.loads.laden[:, 3, 3].sum())


def test_bags_on_shoulders_are_carried() -> None:
    body, pose, clip, figure = make(MAN)
    stage = Stage("mujoco", 0.01)
    for side in ("left", "right"):
        x, y, z = figure.place(pose)[0][body.skeleton.index(f"{side}UpperArm")]
        stage.add_prop(Prop.box(side, (0.12, 0.06, 0.2), 5.0, (0.8 * x, y + 0.115, z)))
    actor = stage.add(body, pose=pose)
    actor.drive("body", Strength(clip))
    stage.advance(150)
    assert actor.fallen is None
    assert find_load(actor) == pytest.approx(10.0, abs=0.2)
    for side in ("left", "right"):
        assert stage.read_prop(side).position[1] > 1.44


def test_box_is_handed_over() -> None:
    """One lowers the forearms; what he carried rests on the other, who faces him, and stays where it was."""
    body, pose, clip, figure = make(MAN)
    wrist, aside = figure.place(pose)[0][body.skeleton.index("rightHand")], np.array([0.12, 0.0, 0.0])
    away, faces = np.array([0.0, 0.0, 2.0 * wrist[2] + 0.05]), clip.rotations.copy()
    faces[:, 0] = rotation.multiply(np.array([0.0, 0.0, 1.0, 0.0]), faces[:, 0])
    lowered, share = clip.rotations.copy(), np.clip((clip.times - 0.6) / 0.6, 0.0, 1.0)
    for side in ("left", "right"):
        i = body.skeleton.index(f"{side}LowerArm")
        down = rotation.log(rotation.multiply(rotation.conjugate(pose.rotations[i]), stand_at_ease(body).rotations[i]))
        lowered[:, i] = rotation.multiply(lowered[:, i], rotation.exp(share[:, None] * down))
    stage = Stage("mujoco", 0.01)
    stage.add_prop(Prop.box("box", (0.8, 0.06, 0.2), 6.0, (0.0, wrist[1] + 0.11, wrist[2] + 0.08)))
    one = stage.add(body, "one", Pose(pose.root + aside, pose.rotations))
    two = stage.add(body, "two", Pose(pose.root + away, faces[0]))
    one.drive("body", Strength(clip.replace(root=clip.root + aside, rotations=lowered)))
    two.drive("body", Strength(clip.replace(root=clip.root + away, rotations=faces)))
    stage.advance(60)
    before = stage.read_prop("box").position
    assert min(find_load(one), find_load(two)) > 1.0
    stage.advance(100)
    assert (one.fallen, two.fallen) == (None, None)
    assert find_load(one) < 0.01
    assert find_load(two) == pytest.approx(6.0, abs=0.1)
    assert np.linalg.norm(stage.read_prop("box").position - before) < 0.05
