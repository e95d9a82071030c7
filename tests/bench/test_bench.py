"""Benches: figures that follow from one another, clocks that leave out what they should, and files of figures."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from helpers.errors import rejects
from poise.bench import BENCHES
from poise.bench.crowd import STEPS_A_FRAME, CrowdBench, PausedClock
from poise.bench.crowd import run as run_crowd_bench
from poise.bench.growth import build_body, build_coupling, grow_characters, grow_joints
from poise.bench.growth_kernels import couple_frames
from poise.bench.harness import Timings, compare_figures, load_figures, measure, save_figures
from poise.cli import main
from poise.dynamics.newton_euler import compute_inverse_dynamics
from poise.dynamics.tree import TreeState
from poise.errors import FileError
from poise.registry import Entry
from poise.spatial import rotation


def test_contenders_take_turns_and_ratios_are_within_rounds() -> None:
    """A clock that only contenders move: the slow one takes three ticks, and every other round all take ten times."""
    now, order = [0.0], []

    def tick(name: str, seconds: float) -> None:
        order.append(name)
        now[0] += seconds * (10.0 if (len(order) - 1) // 2 % 2 else 1.0)

    contenders = {"quick": lambda: tick("quick", 1.0), "slow": lambda: tick("slow", 3.0)}
    timings = measure(contenders, rounds=3, warmups=0, clock=lambda: now[0])
    assert order == ["quick", "slow", "slow", "quick", "quick", "slow"]
    assert timings.rounds["quick"].tolist() == [1.0, 10.0, 1.0]
    assert timings.ratio("slow", to="quick") == 3.0
    assert timings.median("slow") == 3.0
    assert Timings({"a": np.array([1.0, 1.0, 1.0])}).spread("a") == 0.0
    rejects(lambda: timings.median("slwo"), "'slwo'")


def test_a_paused_clock_leaves_out_what_is_done_off_it(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]

    def spend(seconds: float) -> None:
        now[0] += seconds

    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    clock = PausedClock()
    began = clock()
    spend(2.0)
    clock.pause(lambda: spend(50.0))
    spend(3.0)
    assert clock() - began == 5.0


def test_crowd_and_bare_begin_from_the_same_states() -> None:
    bench = CrowdBench(2, [1, 2], frames=1)
    actor = next(iter(bench.stage.actors.values()))
    simulation = bench.stage.groups[0].simulation
    found = {}
    for name, call in bench.contenders.items():
        seen: list[np.ndarray] = []
        real = bench.clock.pause
        bench.clock.pause = lambda work, seen=seen, real=real: (  # type: ignore[method-assign]
            real(work),
            seen.append(np.concatenate([simulation.data.qpos, simulation.data.qvel, actor.body.state.q.ravel()])),
        )
        call()
        bench.clock.pause = real  # type: ignore[method-assign]
        found[name] = (seen[0], actor.body.state.root.copy(), simulation.data.time)
    begins = [begin for begin, _, _ in found.values()]
    for begin in begins[1:]:
        np.testing.assert_array_equal(begin, begins[0])
    # the crowd's runs end in one state whatever the threads; all made as many steps of the engine
    np.testing.assert_array_equal(found["crowd 1"][1], found["crowd 2"][1])
    assert len({round(end / bench.stage.dt) for _, _, end in found.values()}) == 1


@pytest.mark.slow
def test_figures_of_the_crowd_follow_from_one_another() -> None:
    figures = run_crowd_bench(count=3, rounds=3, frames=1)
    assert {"realtime_characters", "us_per_character_step", "bare_engine_us", "ratio"} <= set(figures)
    assert figures["realtime_characters"] == int(5000.0 / figures["us_per_character_step"])
    assert figures["fell"] == 0
    assert figures["freedoms"] == {"mixed": 18, "tracking": 48}
    assert (figures["bullet_engine_us"] is None) == ("pybullet" in figures["missing"])


def test_every_count_makes_as_many_character_steps() -> None:
    figures = grow_characters((1, 4), rounds=1)
    assert set(figures["characters"]) == {"1", "4"}
    assert figures["characters_to_most"]["4"] == 1.0
    wanted = STEPS_A_FRAME * (figures["characters"]["1"] - figures["characters"]["4"])
    assert figures["advance_us"] == pytest.approx(wanted)


def test_growth_of_joints_names_all_sizes() -> None:
    figures = grow_joints((3, 5), rounds=1, frames=3)
    assert set(figures["coupling_tree"]) == {"3", "5"}
    assert figures["dynamics_chain_us_per_joint"] == figures["dynamics_chain"]["5"] / 5


@pytest.mark.parametrize("shape", ["chain", "tree"])
def test_what_growth_times_is_the_coupling(shape: str) -> None:
    """All joints but the first given, the root at rest: the wrench is minus what the motion asks of the root's joint,
    less what it would ask of the whole at rest; without gravity that is all of the inverse dynamics."""
    tree, frames = build_body(7, shape), 4
    rng = np.random.default_rng(0)
    q = rotation.exp(rng.normal(size=(frames, 7, 3)))
    w, dw = rng.normal(size=(2, frames, 7, 3))
    w[:, 0] = dw[:, 0] = 0.0
    wrench = np.zeros((frames, 7, 6))
    couple_frames(*build_coupling(tree), q, w, dw, wrench)
    still = np.zeros((frames, 3))
    found = compute_inverse_dynamics(tree, TreeState(still, q, still, w, still, dw), gravity=np.zeros(3))
    np.testing.assert_allclose(wrench[:, 0, 3:], -found.force, atol=1e-10)
    torque = rotation.rotate(q[:, 0], found.torque[:, 0])
    np.testing.assert_allclose(wrench[:, 0, :3], -torque, atol=1e-10)


FIGURES: dict[str, Any] = {"fast": {"us": 2.0, "ratio": 1.5, "parts": {"a": 4.0}, "missing": ["x"], "fell": False}}


@pytest.fixture
def fast(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    figures = json.loads(json.dumps(FIGURES["fast"]))
    entry, load = Entry("poise.bench.harness:save_figures", "nothing"), Entry.load
    monkeypatch.setitem(BENCHES, "fast", entry)
    monkeypatch.setattr(Entry, "load", lambda self: (lambda: figures) if self is entry else load(self))
    return dict(figures)


def test_figures_are_saved_and_read_back(tmp_path: Path) -> None:
    save_figures(FIGURES, tmp_path / "figures.json")
    assert load_figures(tmp_path / "figures.json") == FIGURES


def test_new_stands_beside_old_with_its_ratio() -> None:
    old = {"us": 4.0, "gone": 1.0, "parts": {"a": 2.0}, "zero": 0.0}
    new = {"us": 1.0, "come": 3.0, "parts": {"a": 3.0}, "zero": 1.0, "flag": True}
    rows = [line.split() for line in compare_figures(old, new).splitlines()]
    assert rows[0] == ["old", "new", "new", "/", "old"]
    assert rows[1:] == [
        ["us", "4", "1", "0.250"],
        ["parts.a", "2", "3", "1.500"],
        ["zero", "0", "1", "-"],
        ["come", "-", "3", "-"],
        ["gone", "1", "-", "-"],
    ]


@pytest.mark.parametrize("content", ["", "{", "[]", "{}", '{"kind": "poise bench", "benches": [1]}', "\x00\xff"])
def test_other_files_are_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="latin-1")
    rejects(lambda: load_figures(path), "other.json:", error=FileError)


def test_a_file_that_is_not_there_is_refused_before_anything_runs(
    tmp_path: Path, fast: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bench", "fast", "--compare", str(tmp_path / "none.json")]) == 2
    assert "none.json: there is no such file" in capsys.readouterr().err


def test_the_command_saves_and_compares(
    tmp_path: Path, fast: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "figures.json")
    assert main(["bench", "fast", "--save", path, "--json"]) == 0
    said = capsys.readouterr()
    assert json.loads(said.out) == fast
    assert "x not installed" in said.err
    assert main(["bench", "fast", "--compare", path, "--json"]) == 0
    both = json.loads(capsys.readouterr().out)
    assert both["old"] == both["new"] == fast
    assert both["ratio"]["us"] == 1.0 and both["ratio"]["parts"] == {"a": 1.0}
    assert main(["bench", "fast", "--compare", path, "--quiet"]) == 0
    assert "us" in capsys.readouterr().out
