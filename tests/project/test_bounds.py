"""Numbers that somebody gives and memory would be taken by: refused in a sentence before it is."""

from __future__ import annotations

import dataclasses
import tracemalloc
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.errors import rejects
from poise.body.geometry.mannequin import build_mannequin
from poise.cli import main
from poise.demos.shared.conductors import draw_conductors
from poise.errors import InputError, check_most
from poise.jobs.mix.pictures import check_film
from poise.jobs.shared import simulation
from poise.jobs.shared.simulation import choose_step
from poise.jobs.shared.simulation import simulate as mix
from poise.motion import samples
from poise.motion.clip import Clip
from poise.motion.contacts.frame_rate import check_rate
from poise.motion.edits.blend import concatenate
from poise.motion.edits.timing import change_speed, frame_times, resample, warp
from poise.motion.gestures.gesture import GestureMotion
from poise.motion.retargeting.easing import average
from poise.pictures import mix_plots
from poise.pictures.camera import Camera
from poise.pictures.raster import Surface, render
from poise.pictures.sheet import draw_contact_sheet
from poise.stage import stage as stages
from poise.stage.take import recorder as recording
from poise.stage.take.recorder import Recorder

HUMAN = poise.Character.human()
IDLE: Clip = samples.idle(HUMAN.skeleton, 1.0)
CAMERA = Camera(np.array([0.0, 1.0, 5.0]), np.zeros(3), 0.6)


def stage() -> poise.Stage:
    made = poise.Stage()
    made.add(HUMAN)
    return made


def slow(factor: float) -> Clip:
    return IDLE.replace(times=IDLE.times * factor)


ASKED: dict[str, Callable[[], object]] = {
    "frames a second": lambda: resample(IDLE, 1e9),
    "frames a second without end": lambda: resample(IDLE, 1e308),
    "a slow speed": lambda: change_speed(IDLE, 1e-9),
    "a long warp": lambda: warp(IDLE, IDLE.times[[0, -1]], np.array([0.0, 1e12])),
    "a long idle": lambda: samples.idle(HUMAN.skeleton, 1e9),
    "a long walk": lambda: samples.walk(HUMAN.skeleton, 1e9),
    "a long wave": lambda: samples.wave(HUMAN.skeleton, 1e9),
    "a gesture for long": lambda: GestureMotion(poise.gestures.conduct(bpm=92, beats=4), HUMAN.skeleton).sample(1e9),
    "a chain with a long clip": lambda: concatenate([IDLE, slow(1e9)]),
    "a long take": lambda: stage().run(1e7),
    "an endless take": lambda: stage().run(1e300),
    "a long crowd": lambda: poise.run_crowd(stage(), 1e6),
    "a huge crowd": lambda: draw_conductors(10**9),
    "a mix for years": lambda: mix(slow(1e9), HUMAN),
    "a film for days": lambda: check_film(slow(1e5)),
    "a huge picture": lambda: render(Surface.joined([]), CAMERA, (10**6, 10**6)),
    "many samples": lambda: render(Surface.joined([]), CAMERA, (100, 100), samples=10**5),
    "a huge sheet": lambda: draw_contact_sheet(IDLE, build_mannequin(HUMAN.skeleton, 70.0), count=10**7),
}


@pytest.mark.parametrize("what", ASKED)
def test_it_is_refused_before_memory_is_taken(what: str) -> None:
    _ = HUMAN, IDLE
    tracemalloc.start()
    try:
        with pytest.raises(InputError) as caught:
            ASKED[what]()
        assert tracemalloc.get_traced_memory()[1] < 50e6
    finally:
        tracemalloc.stop()
    said = str(caught.value)
    assert "\n" not in said and said.endswith(".") and said.count(". ") <= 2
    assert "at most" in said or "1 to" in said or "more than" in said


def test_commands_refuse_them_with_exit_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, out = tmp_path / "x.bvh", tmp_path / "y.bvh"
    poise.save_clip(IDLE, path)
    for words in (
        ["convert", path, out, "--resample", "1e9"],
        ["convert", path, out, "--fps", "1e-9"],
        ["convert", path, out, "--fps", "1e9"],
        ["demo", "crowd", "-o", tmp_path, "--count", "1000000000"],
        ["demo", "crowd", "-o", tmp_path, "--seconds", "1e12"],
    ):
        assert main([str(word) for word in (*words, "--quiet")]) == 2
        assert capsys.readouterr().err.count("\n") == 1
    assert not out.exists()


def test_what_is_there_already_may_be_sampled_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clip that is larger than what is made is still resampled to no more frames than it has."""
    monkeypatch.setattr("poise.motion.edits.timing.MOST_POSES", 100)
    assert len(resample(IDLE, IDLE.fps)) == len(IDLE)
    assert len(change_speed(IDLE, 2.0)) < len(IDLE)
    with pytest.raises(InputError, match=r"1 s at 1000 frames a second are 1001 frames of 22 joints"):
        resample(IDLE, 1000.0)


def test_bounds_are_in_numbers_that_do_not_overflow() -> None:
    check_most("x", 10, 10, "y.")
    for count in (11, 2**70, float("inf"), float("nan")):
        with pytest.raises(InputError, match=r"^x; at most 10 can be had at once\. y\.$"):
            check_most("x", count, 10, "y.")
    np.testing.assert_array_equal(frame_times(1.0, 4.0), [0.0, 0.25, 0.5, 0.75, 1.0])


def test_the_size_of_a_take_is_known_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a run is refused by is what its take takes, within a fifth; the rest is the same run."""
    here = stage()
    here.run(0.1)  # what is loaded once is loaded
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    recorder = Recorder(here, here.time + np.arange(200) / 50.0)  # which makes room for all of them
    while not recorder.is_done:
        recorder.record()
        if not recorder.is_done:
            here.advance(recorder.steps_ahead)
    used = (tracemalloc.get_traced_memory()[0] - before) / 200
    tracemalloc.stop()
    told = recording._FRAME_BYTES + recording._JOINT_BYTES * len(HUMAN.skeleton)
    assert 0.8 * used < told < 1.5 * used, (used, told)
    monkeypatch.setattr("poise.stage.take.recorder.MOST_BYTES", 10 * told)
    with pytest.raises(InputError, match=r"at most 10 can be had at once"):
        here.run(0.2, fps=50.0)
    assert len(here.run(0.1, fps=50.0)) == 6


def test_actors_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stages, "MOST_ACTORS", 2)
    here = poise.Stage()
    here.add(HUMAN)
    here.add(HUMAN)
    with pytest.raises(InputError, match=r"this would be actor 3 of a stage; at most 2 .* Use several stages\."):
        here.add(HUMAN)


def test_physical_joints_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    actor = stage().actors["full"]
    monkeypatch.setattr("poise.stage.assignment.MOST_PHYSICAL", 5)
    rejects(lambda: actor.drive("root", poise.Free()), "'full'", "5")
    actor.drive("head", poise.Loose())


def test_a_mix_is_bounded_by_its_poses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(simulation, "MOST_POSES", 100)
    with pytest.raises(InputError, match=r"61 frames of 22 joints are 1342 poses of joints to mix; at most 100"):
        mix(IDLE, HUMAN)


def test_the_shortest_step_is_that_of_the_fastest_rate() -> None:
    """100000 frames a second are steps of 1e-5 s, whatever the last bit of that is."""
    fast = IDLE.replace(times=np.arange(len(IDLE)) / 1e5)
    assert choose_step(fast, 0.005) == pytest.approx(1e-5)
    poise.Stage(dt=choose_step(fast, 0.005))


@pytest.mark.parametrize("pieces", [1, 7, 1000])
def test_a_rate_is_judged_alike_in_pieces(pieces: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A jump at half its rate, whose windows are worked on a few at a time."""
    jump = samples.jump(HUMAN.skeleton)
    wrong = jump.replace(times=jump.times / 2.0)
    usual = check_rate(wrong)
    monkeypatch.setattr("poise.motion.contacts.frame_rate._MOST_VALUES", max(1, 20 * len(jump) // pieces))
    assert dataclasses.astuple(check_rate(wrong)) == dataclasses.astuple(usual)


def test_windows_are_bounded_at_absurd_rates() -> None:
    values = np.random.default_rng(0).random((400, 3))
    times = np.arange(400) / 1e8
    smooth = average(times, values, 0.2)
    assert smooth.shape == values.shape and np.isfinite(smooth).all()


@pytest.mark.slow
def test_plots_take_any_name_and_any_length() -> None:
    """Names that are no formulas, a thousand letters, half a million frames and sixty connectors."""
    rng = np.random.default_rng(0)
    times, wrench = np.arange(200_000) / 100.0, rng.random((5, 3))
    names = ("$\\frac{", "$$", "x" * 1000, "_", "\\", "左足", "a\nb")
    plots = [
        mix_plots.plot_joint_torques(times[:50], {name: rng.random(50) for name in names}, title="$\\alpha{$"),
        mix_plots.plot_comparison(times, {"noise": rng.normal(size=len(times))}),
        mix_plots.plot_connector_wrench(times[:5], {f"c{k}": (wrench, wrench) for k in range(60)}),
    ]
    for png in plots:
        assert png.startswith(b"\x89PNG")
        width, height = (int.from_bytes(png[k : k + 4], "big") for k in (16, 20))
        assert 100 < width < 3000 and 100 < height < 4000


def test_a_run_is_bounded_by_its_steps_too() -> None:
    stage = poise.Stage()
    stage.add(poise.Character.human())
    for words in ({"seconds": 1e7, "fps": 0.04}, {"seconds": 1.0, "times": np.array([0.0, 1e9])}):
        with pytest.raises(InputError, match=r"steps of 0\.005 s"):
            stage.run(**words)
    assert stage.time == 0.0


def test_a_run_is_not_run_again_from_inside_it() -> None:
    stage = poise.Stage()
    stage.add(poise.Character.human())
    with pytest.raises(InputError, match="running already"):
        stage.run(0.1, each=lambda t: stage.run(0.1))
    with pytest.raises(InputError, match="nobody joins"):
        stage.run(0.1, each=lambda t: stage.add(poise.Character.human()))
    assert len(stage.run(0.1).times) == 6
