"""The stage in a thread: frames equal those of a serial run, posted changes take effect, errors come out."""

from __future__ import annotations

import re
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import poise
from poise.errors import InputError
from poise.spatial import rotation
from poise.stage.actor import Actor
from poise.stage.runner import Frame, Runner
from poise.stage.stage import Stage
from poise.world.forces import Push


def make_stage() -> tuple[Stage, Actor]:
    stage = poise.Stage()
    actor = stage.add(poise.Character.human(1.75, 75, preset="mix"))
    actor.drive("legs", poise.Balance())
    actor.drive("arms", poise.Kinematic(poise.gestures.conduct(bpm=92, beats=4)))
    return stage, actor


def test_frames_are_those_of_a_serial_run() -> None:
    stage, actor = make_stage()
    take = stage.run(0.4, fps=50.0)
    frames: list[Frame] = []
    threaded, _ = make_stage()
    runner = Runner(threaded, fps=50.0, speed=None, seconds=0.4, on_frame=frames.append)
    runner.start()
    runner.join()
    assert [frame.number for frame in frames] == list(range(21))
    record = take.actor(actor.name)
    for frame in frames:
        pose = frame.poses[actor.name]
        assert frame.time == take.times[frame.number]
        assert np.array_equal(pose.root, record.root[frame.number])
        turned = (
            pose.rotations * np.where(np.sum(pose.rotations * record.rotations[frame.number], -1) < 0, -1, 1)[:, None]
        )
        assert np.array_equal(turned, record.rotations[frame.number])
    assert runner.latest().number == 20
    assert not runner.is_running


def test_frames_come_while_it_runs_and_cannot_be_written_to() -> None:
    stage, actor = make_stage()
    with Runner(stage, fps=50.0, speed=None) as runner:
        first = runner.latest()
        later = runner.wait(first.number + 5, timeout=60.0)
        assert later.number >= first.number + 5
        assert later.time > first.time
        with pytest.raises(ValueError, match="read-only"):
            later.poses[actor.name].root[0] = 1.0
        assert runner.is_running
    assert not runner.is_running


def test_what_is_posted_is_done_in_the_thread_between_steps() -> None:
    stage, actor = make_stage()
    where: list[tuple[str, int]] = []
    pushes: list[Push] = []
    with Runner(stage, speed=None) as runner:
        start = runner.latest()
        runner.post(lambda: where.append((threading.current_thread().name, stage.steps)))
        runner.post(lambda: actor.push("spine", (0.0, 0.0, 400.0), 0.3))
        runner.post(lambda: pushes.extend(actor.pushes))
        moved = runner.wait(start.number + 20, timeout=60.0)
    assert [name for name, _ in where] == ["poise stage"]
    (pushed,) = pushes
    assert not actor.pushes  # it has ended
    assert pushed.start == pytest.approx(where[0][1] * stage.dt)
    assert moved.poses[actor.name].root[2] > start.poses[actor.name].root[2] + 0.02


def test_errors_come_out_where_frames_are_read() -> None:
    stage, actor = make_stage()
    runner = Runner(stage, speed=None)
    runner.start()
    runner.post(lambda: actor.drive("arms", poise.Balance()))
    with pytest.raises(InputError, match="Balance needs the whole of both legs"):
        runner.wait(10**9, timeout=60.0)
    with pytest.raises(InputError, match="Balance needs the whole of both legs"):
        runner.stop()
    with pytest.raises(InputError, match="Balance needs the whole of both legs"):
        runner.post(lambda: None)


def test_a_runner_that_ended_says_so() -> None:
    stage, _ = make_stage()
    runner = Runner(stage, speed=None, seconds=0.05)
    with pytest.raises(InputError, match="frame 0 cannot be had: the runner is not running"):
        runner.latest()
    runner.start()
    runner.join()
    with pytest.raises(InputError, match="frame 99 cannot be had: the runner is not running"):
        runner.wait(99)
    with pytest.raises(InputError, match="was started already"):
        runner.start()


def test_a_performer_feeds_it_from_another_thread() -> None:
    """Every frame is whole, none is far from the one before, and in the end the arm is where the performer has it."""
    stage, actor = make_stage()
    live = poise.Live(actor.skeleton)
    actor.drive("leftArm", poise.Kinematic(live))
    arm, frames = actor.skeleton.index("leftUpperArm"), []

    def show(angle: float) -> None:
        turns = rotation.identity((len(actor.skeleton),))
        turns[arm] = rotation.exp(np.array([0.0, 0.0, angle]))
        live.show(poise.Pose(np.zeros(3), turns))

    def perform() -> None:
        for k in range(200):
            show(0.8 * np.sin(0.3 * k))
        show(0.5)

    with Runner(stage, speed=None, on_frame=frames.append) as runner:
        runner.latest()  # it has begun, at rest
        performer = threading.Thread(target=perform)
        performer.start()
        performer.join()
        runner.wait(runner.latest().number + 60, timeout=60.0)
    turns = np.array([frame.poses[actor.name].rotations[arm] for frame in frames])
    np.testing.assert_allclose(turns[-1], rotation.exp(np.array([0.0, 0.0, 0.5])), atol=1e-6)
    steps = np.linalg.norm(rotation.log(rotation.multiply(rotation.conjugate(turns[:-1]), turns[1:])), axis=-1)
    assert 0.0 < steps.max() < 0.28 * 30.0 * 1.6 / 50.0  # no faster than a jump from end to end


def test_the_examples_of_the_guide_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    guide = (Path(__file__).parents[2] / "docs" / "live.md").read_text(encoding="utf-8")
    examples = re.findall(r"^```python\n(.*?)^```", guide, re.MULTILINE | re.DOTALL)
    assert len(examples) == 2
    monkeypatch.chdir(tmp_path)
    ends = []
    for example in examples:
        names: dict[str, Any] = {}
        exec(example.replace("SECONDS = 10.0", "SECONDS = 0.3").replace("1000", "50").replace("2000", "50"), names)
        ends.append(names)
    assert ends[0]["frame"].number > 5
    assert ends[1]["again"].steps == 100


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"fps": 1000.0}, "1000 frames a second"),
        ({"speed": 0.0}, "positive speed"),
        ({"seconds": -1.0}, "more than 0 s"),
    ],
)
def test_bad_rates_are_refused(options: dict[str, float], complaint: str) -> None:
    stage, _ = make_stage()
    with pytest.raises(InputError, match=complaint):
        Runner(stage, **options)
