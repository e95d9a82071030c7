"""Mappings of hands: what goes where on any body, and files that are wrong.   [M3]"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from poise.body.character import Character
from poise.errors import FileError, InputError
from poise.puppetry.hands import HandsTake
from poise.puppetry.layers import LayerMixer, PuppetLayer
from poise.puppetry.mapping import HandMapping, Route, list_mappings, load_mapping
from poise.puppetry.marionette import Marionette
from poise.spatial import rotation

HUMAN = Character.human(1.75, 75.0)


def hold(places: np.ndarray, turns: np.ndarray, grips: np.ndarray | None = None, buttons: object = None) -> HandsTake:
    """Hands that stay where they are for a minute."""
    times = np.array([0.0, 60.0])
    both = [np.stack([np.asarray(x, float)] * 2) for x in (places, turns)]
    grip = None if grips is None else np.stack([grips] * 2)
    held = None if buttons is None else np.stack([np.asarray(buttons)] * 2)
    return HandsTake(times, *both, grip, held, np.zeros((2, 3)))


def play(mappings: dict[str, HandsTake], seconds: float = 5.0, **weights: float) -> tuple[Marionette, LayerMixer]:
    body = Marionette(HUMAN)
    layers = [PuppetLayer(load_mapping(name), hands, weights.get(name, 1.0)) for name, hands in mappings.items()]
    mixer = LayerMixer(body, layers)
    for k in range(round(seconds * 60.0)):
        mixer.update_targets(k / 60.0, 1.0 / 60.0)
        body.step(1.0 / 60.0)
    return body, mixer


def degrees(body: Marionette, label: str) -> np.ndarray:
    return np.degrees(body.angles[body.row(label)])


def test_legs_thighs_are_parallel_to_the_hands_and_heights_bend_knees() -> None:
    turns = rotation.exp(np.radians(np.array([[-40.0, 0.0, 10.0], [20.0, 0.0, 0.0]])))
    places = np.array([[0.0, 0.1, 0.0], [0.0, 0.02, 0.05]])
    body, _ = play({"legs": hold(places, turns)})
    for side, turn in zip(("left", "right"), turns, strict=True):
        apart = rotation.multiply(rotation.conjugate(turn), body.state.world[body.row(f"{side}UpperLeg")])
        assert np.abs(rotation.log(apart)).max() < 1e-6
    assert degrees(body, "leftLowerLeg")[0] == pytest.approx(56.0, abs=0.5)
    assert degrees(body, "rightLowerLeg")[0] == pytest.approx(16.0, abs=0.5)


def test_trunk_one_hand_leads_and_the_other_goes_with_it() -> None:
    turns = rotation.exp(np.radians(np.array([[30.0, 0.0, 0.0], [0.0, 24.0, 0.0]])))
    body, _ = play({"trunk": hold(np.zeros((2, 3)), turns)})
    bends = [degrees(body, label)[0] for label in ("spine", "chest", "upperChest")]
    assert bends == pytest.approx([10.0] * 3, abs=1e-3)
    assert degrees(body, "neck")[1] + degrees(body, "head")[1] == pytest.approx(24.0, abs=1e-3)
    world = body.state.world
    apart = rotation.multiply(rotation.conjugate(world[body.row("upperChest")]), world[body.row("head")])
    assert np.degrees(rotation.log(apart))[1] == pytest.approx(24.0, abs=1e-3)  # against the trunk, wherever that is


def test_arms_are_mirror_images() -> None:
    out = np.radians(50.0)
    turns = rotation.exp(np.array([[-0.3, 0.0, out], [-0.3, 0.0, -out]]))
    body, _ = play({"arms": hold(np.array([[0.0, 0.06, 0.0]] * 2), turns)})
    left, right = body.angles[body.row("leftUpperArm")], body.angles[body.row("rightUpperArm")]
    assert left == pytest.approx(right * [1.0, -1.0, -1.0], abs=1e-6)
    assert degrees(body, "leftLowerArm")[0] == pytest.approx(-42.0, abs=0.5)
    assert degrees(body, "rightLowerArm")[0] == pytest.approx(-42.0, abs=0.5)


def test_the_heading_is_a_speed_and_keeps_what_was_turned() -> None:
    away = np.zeros((2, 3))
    away[0, 0] = 0.1
    _, mixer = play({"legs": hold(away, rotation.identity((2,)))}, seconds=2.0)
    assert math.degrees(mixer.heading) == pytest.approx(2.0 * 500.0 * 0.06, rel=0.01)
    near = np.zeros((2, 3))
    near[0, 0] = 0.03  # within what does not count
    assert play({"legs": hold(near, rotation.identity((2,)))}, seconds=1.0)[1].heading == 0.0


def test_a_later_layer_has_a_joint_by_its_weight() -> None:
    def bend(weight: float) -> float:
        body = Marionette(HUMAN)
        routes = [HandMapping(name, (Route("left", "up", "spine.bend", math.radians(100.0)),)) for name in "ab"]
        low, high = (hold(np.array([[0.0, y, 0.0]] * 2), rotation.identity((2,))) for y in (0.1, 0.3))
        mixer = LayerMixer(body, [PuppetLayer(routes[0], low), PuppetLayer(routes[1], high, weight)])
        for k in range(200):
            mixer.update_targets(k / 60.0, 1.0 / 60.0)
        return math.degrees(body.target[body.row("spine"), 0])

    assert [bend(weight) for weight in (0.0, 0.5, 1.0)] == pytest.approx([10.0, 20.0, 30.0])


def test_grip_is_the_stiffness_and_buttons_are_numbers() -> None:
    hands = hold(np.zeros((2, 3)), rotation.identity((2,)), np.array([1.0, 0.0]), np.array([2, 0]))
    body, _ = play({"arms": hands}, seconds=1.0)
    assert body.tension[body.row("leftLowerArm")] == pytest.approx(3.0)
    assert body.tension[body.row("leftUpperArm")] == 1.0
    mapping = HandMapping(
        "x", (Route("left", "button2", "head.bend", 0.5), Route("left", "button1", "spine.bend", 0.5))
    )
    mixer = LayerMixer(body, [PuppetLayer(mapping, hands)])
    mixer.update_targets(0.0, 0.0)
    assert body.target[body.row("head"), 0] == 0.5 and body.target[body.row("spine"), 0] == 0.0


def test_every_mapping_that_comes_along_is_right() -> None:
    assert list_mappings() == ("arms", "legs", "trunk")
    for name in list_mappings():
        assert load_mapping(name).name == name


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeq"\n', 1, "Did you mean 'UpperLeg'"),
        ('[[map]]\nhand = "third"\nfrom = "turn"\nto = "UpperLeg"\n', 1, "hand 'third'"),
        ('[[map]]\nhand = "each"\nfrom = "wave"\nto = "UpperLeg"\n', 3, "motion of a hand 'wave'"),
        ('[[map]]\nhand = "each"\nfrom = "up"\nto = "LowerLeg.bend"\n', 1, "add degrees"),
        ('[[map]]\nhand = "each"\nfrom = "up"\nto = "LowerLeg"\ndegrees = 3\n', 1, "one angle of a joint"),
        ('[[map]]\nhand = "left"\nfrom = "turn"\nto = "UpperLeg"\n', 1, "Say each"),
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "leftUpperLeg"\n', 1, "Say left or right"),
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\nspeed = 3\n', 5, "speed"),
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\ndegrees = 3\n', 5, "have 'gain'"),
        ('viscosity = 3\n[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\n', 1, "above 0"),
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\n[springs.Elbow]\nratio = 1\n', 5, "Elbow"),
        ('[[map]]\nhand = "each"\nfrom = "turn"\nto = "UpperLeg"\n[springs.Foot]\nbounce = 1\n', 6, "bounce"),
        ("name = 3\n", 1, "must be text"),
        ("", None, "no routes"),
        ("[[map]\n", 1, "not valid TOML"),
    ],
)
def test_a_wrong_mapping_says_where_and_why(tmp_path: Path, text: str, line: int | None, said: str) -> None:
    path = tmp_path / "mine.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(FileError) as caught:
        load_mapping(path)
    assert said in str(caught.value)
    if line is not None:
        assert str(caught.value).startswith(f"{path}:{line}:")


def test_two_routes_to_one_angle_and_unknown_names_are_refused() -> None:
    route = Route("each", "up", "LowerLeg.bend", 1.0)
    with pytest.raises(InputError, match="two routes"):
        HandMapping("x", (route, route))
    with pytest.raises(InputError, match="legs"):
        load_mapping("lags")
