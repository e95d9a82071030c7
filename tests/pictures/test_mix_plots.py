"""Plots of mixed bodies: each is a PNG, the same every time, and shows what it is given."""

from __future__ import annotations

import io

import numpy as np
import pytest

from poise.errors import InputError
from poise.pictures.mix_plots import (
    plot_center_of_mass,
    plot_comparison,
    plot_connector_wrench,
    plot_foot_forces,
    plot_joint_torques,
)

TIMES = np.linspace(0.0, 2.0, 81)
WAVE = np.sin(5.0 * TIMES)
SQUARE = np.array([[-0.2, -0.1], [-0.2, 0.2], [0.2, 0.2], [0.2, -0.1]])
CENTER = np.column_stack([0.02 * WAVE, 0.9 + 0 * WAVE, 0.04 + 0.01 * WAVE])
FORCES = np.stack([np.column_stack([5 * WAVE, 350 + 30 * WAVE, 9 * WAVE])] * 2, axis=1)
PRESSURE = np.stack([CENTER + [0.1, -0.9, 0.0], CENTER - [0.1, 0.9, 0.0]], axis=1)
ORANGE, BLUE, PINK = (213, 94, 0), (0, 114, 178), (204, 121, 167)

PLOTS = {
    "center": lambda: plot_center_of_mass(TIMES, CENTER, SQUARE, np.array([0.0, 0.04]), "sway"),
    "torques": lambda: plot_joint_torques(TIMES, {"knee": 30 * WAVE, "hip": 20 * WAVE}, {"knee": 90.0}, title="t"),
    "feet": lambda: plot_foot_forces(TIMES, FORCES, PRESSURE, 720.0, "feet"),
    "wrench": lambda: plot_connector_wrench(TIMES, {"leftArm": (CENTER, 3 * CENTER), "head": (CENTER, CENTER)}),
    "comparison": lambda: plot_comparison(TIMES, {"k = 1": WAVE, "k = 2": 2 * WAVE}, "sway, cm", "gain"),
}


def pixels(data: bytes) -> np.ndarray:
    from PIL import Image

    return np.array(Image.open(io.BytesIO(data)).convert("RGB")).astype(int)


def is_color(image: np.ndarray, color: tuple[int, int, int]) -> np.ndarray:
    """(H, W) pixels of a line's color, those at its edges too that are half white."""
    share = (255.0 - image) @ (255.0 - np.array(color)) / np.sum((255.0 - np.array(color)) ** 2)
    return (share > 0.4) & (np.abs(255.0 - share[..., None] * (255.0 - np.array(color)) - image).max(axis=2) < 14)


def count_color(image: np.ndarray, color: tuple[int, int, int]) -> int:
    return int(is_color(image, color).sum())


@pytest.mark.parametrize("name", PLOTS)
@pytest.mark.many(1)
def test_a_plot_is_a_png_and_the_same_every_time(name):
    first, second = PLOTS[name](), PLOTS[name]()
    assert first == second
    image = pixels(first)
    assert image.shape[0] > 300 and image.shape[1] > 800
    assert image.std() > 5


@pytest.mark.slow
def test_center_of_mass_shows_support_and_target():
    with_both = pixels(plot_center_of_mass(TIMES, CENTER, SQUARE, np.array([0.0, 0.04])))
    without = pixels(plot_center_of_mass(TIMES, CENTER))
    assert count_color(with_both, BLUE) > 300 and count_color(without, BLUE) == 0
    assert count_color(with_both, ORANGE) > 300 and count_color(without, ORANGE) > 300
    left = with_both[:, : with_both.shape[1] * 2 // 5]
    rows, columns = np.nonzero(is_color(left, BLUE))
    # The support is 40 by 30 cm: one scale along both axes (the legend's line below it left aside).
    outline = rows < 0.8 * with_both.shape[0]
    assert np.ptp(columns[outline]) / np.ptp(rows[outline]) == pytest.approx(4 / 3, rel=0.03)


@pytest.mark.slow
def test_supports_that_change_are_all_drawn():
    steps = [SQUARE + [0.0, 0.3 * k] for k in range(3)]
    one, three = (pixels(plot_center_of_mass(TIMES, CENTER, s)) for s in (SQUARE, steps))
    assert count_color(three, BLUE) != count_color(one, BLUE)
    empty = plot_center_of_mass(TIMES, CENTER, [np.zeros((0, 2)), SQUARE])
    assert count_color(pixels(empty), BLUE) == count_color(one, BLUE)


@pytest.mark.slow
def test_gaps_are_fine():
    torn, lost = PRESSURE.copy(), np.full_like(CENTER, np.nan)
    torn[20:50, 1] = np.nan
    whole, gap = (pixels(plot_foot_forces(TIMES, FORCES, p, 720.0)) for p in (PRESSURE, torn))
    assert count_color(gap, PINK) < count_color(whole, PINK)
    plot_foot_forces(TIMES, FORCES, np.full_like(PRESSURE, np.nan), 720.0)
    plot_center_of_mass(TIMES, lost, SQUARE)
    plot_joint_torques(TIMES, {"knee": np.full(81, np.nan), "hip": WAVE})
    plot_comparison(TIMES, {"run": np.where(TIMES > 1, np.nan, WAVE)})
    plot_connector_wrench(TIMES, {"head": (lost, lost)})
    plot_comparison(np.zeros(1), {"a single frame": np.ones(1)})


def test_only_the_hardest_joints_are_shown():
    weak = {f"joint {k}": 0.1 * k * WAVE for k in range(6)}
    few = plot_joint_torques(TIMES, weak, count=2)
    assert few == plot_joint_torques(TIMES, {k: weak[k] for k in ("joint 5", "joint 4")})
    assert few != plot_joint_torques(TIMES, weak, count=3)


def test_limits_add_a_panel():
    low, high = (pixels(plot_joint_torques(TIMES, {"knee": WAVE}, limit)) for limit in (None, {"knee": 2.0}))
    assert high.shape[0] > low.shape[0]


@pytest.mark.parametrize(
    ("draw", "words"),
    [
        (lambda: plot_center_of_mass(TIMES, CENTER[:-1]), r"centre of mass.*\(81, 3\)"),
        (lambda: plot_center_of_mass(np.zeros(0), CENTER), "at least one time"),
        (lambda: plot_center_of_mass(TIMES, CENTER, target=np.zeros(3)), "target"),
        (lambda: plot_center_of_mass(TIMES, CENTER, np.zeros((4, 3))), r"support.*\(N, 2\)"),
        (lambda: plot_joint_torques(TIMES, {}), "empty"),
        (lambda: plot_joint_torques(TIMES, {"knee": np.zeros(3)}), "'knee'"),
        (lambda: plot_foot_forces(TIMES, FORCES, PRESSURE, 0.0), "above 0 N"),
        (lambda: plot_foot_forces(TIMES, FORCES[:, 0], PRESSURE, 700.0), "foot forces"),
        (lambda: plot_connector_wrench(TIMES, {}), "empty"),
        (lambda: plot_connector_wrench(TIMES, {"head": (CENTER, WAVE)}), "torque at 'head'"),
        (lambda: plot_comparison(TIMES, {}), "empty"),
        (lambda: plot_comparison(TIMES, {str(k): WAVE for k in range(9)}), "8 at most"),
    ],
)
def test_wrong_shapes_are_refused_by_name(draw, words):
    with pytest.raises(InputError, match=words):
        draw()
