"""A short run of random commands, the same every time; and that faults would be seen if there were any."""

from __future__ import annotations

from pathlib import Path

import pytest

from helpers.commands import Run, find_faults, look
from poise.cli import parser
from tools.fuzz import commands
from tools.fuzz.commands import DRAWN, fuzz_commands


@pytest.mark.slow
def test_random_commands_end_in_a_result_or_a_sentence(tmp_path: Path) -> None:
    outcome = fuzz_commands(tmp_path, seed=4, runs=300, slow=False)
    assert outcome.findings == {}
    assert outcome.runs == 300
    assert outcome.codes[0] > 30 and outcome.codes[2] > 100  # both ends are reached
    assert set(outcome.commands) == set(DRAWN) and len(outcome.sentences) > 100


def test_a_command_that_does_wrong_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that break, that print a traceback, that overwrite an input, that leave a temporary file."""
    kinds = iter(range(10**6))

    def wrong(words: list[str]) -> int:
        kind = next(kinds) % 5
        if kind == 0:
            raise KeyError("x")
        if kind == 1:
            Path("clip.bvh").write_text("lost")
        if kind == 2:
            Path(".poise-tmp-00000000-1-1-000000000000-x.glb").write_bytes(b"")
        if kind == 3:
            Path("new.bvh").write_text("HIERARCHY\nROOT")
        if kind == 4:
            print("\x1b[31m")
        return 0

    monkeypatch.setattr(parser, "run", wrong)
    findings = " ".join(fuzz_commands(tmp_path, runs=20, slow=False).findings)
    for fault in ("exit 70", "inputs changed", "temporary file is left", "cannot be read", "control character"):
        assert fault in findings, fault


@pytest.mark.parametrize(
    ("words", "done", "fault"),
    [
        (["info", "x"], Run(2, "", ""), "0 lines"),
        (["info", "x"], Run(2, "half", "poise: no.\n"), "standard output has"),
        (["info", "x"], Run(0, "", "poise: a.\n" * 13), "13 lines"),
        (["info", "x"], Run(2, "", "Traceback (most recent call last):\n"), "no sentence of Poise"),
        (["info", "x", "--json"], Run(1, "{}{}", ""), "no object"),
        (["info", "x", "--json"], Run(0, "[]", ""), "no object"),
        (["info", "x", "--quiet"], Run(0, "", "poise: psst.\n"), "--quiet said"),
        (["info", "x"], Run(141, "", ""), "exit 141"),
    ],
)
def test_each_promise_is_looked_at(tmp_path: Path, words: list[str], done: Run, fault: str) -> None:
    assert any(fault in said for said in find_faults(words, done, look(tmp_path), tmp_path))


def test_the_same_seed_gives_the_same_words() -> None:
    import random

    options = {name: commands.list_options(name) for name in commands.COMMANDS}
    first, second = ([commands.draw_words(random.Random(seed), options) for seed in range(50)] for _ in range(2))
    assert first == second
    assert len({" ".join(words) for words in first}) > 45
