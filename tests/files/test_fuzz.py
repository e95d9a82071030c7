"""A short run of the fuzzers on every reader, and that they would see a fault if there were one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from helpers.files.seeds import BVH, reason_for_none, write_seed
from poise.files.registry import FORMATS
from tools.fuzz import hostile, worker
from tools.fuzz.mutate import mutate
from tools.fuzz.worker import fuzz

READABLE = [entry.suffix for entry in FORMATS if entry.read is not None and entry.suffix != ".fbx"]


@pytest.mark.parametrize("suffix", READABLE)
@pytest.mark.many(3)
def test_broken_files_are_read_or_refused(suffix: str, tmp_path: Path) -> None:
    if write_seed(suffix, tmp_path) is None:
        pytest.skip(reason_for_none(suffix))
    outcome = fuzz(suffix, seconds=60.0, seed=1, runs=150)
    assert outcome.runs == 150
    assert outcome.refused and outcome.read
    assert outcome.findings == {}


def test_a_fault_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader with three faults: a wrong exception, an endless loop, a message of two lines."""

    def read(path: Path) -> object:
        data = path.read_bytes()
        if b"nan" in data:
            raise KeyError("nan")
        if len(data) < 200:
            raise worker.TooSlow
        if b"{" not in data:
            raise worker.InputError("two\nlines")
        raise worker.InputError("refused.")

    monkeypatch.setattr(worker, "read_clip", read)
    findings = fuzz(".bvh", seconds=60.0, seed=0, keep=tmp_path / "kept", runs=800).findings
    kinds = {said.split(" ")[0] for said in findings}
    assert kinds >= {"KeyError", "no"}
    for found in findings.values():
        assert Path(found["file"]).stat().st_size == found["bytes"]


@pytest.mark.slow
def test_hostile_files_are_written_for_every_reader(tmp_path: Path) -> None:
    """Those that cost little to write: each is refused in a sentence, and at once."""
    for path in (*hostile._devices(tmp_path), *hostile._json(tmp_path)):
        what, said = worker.try_file(path)
        assert what == "refused", (path.name, said)
        if path.stem in ("device", "pipe"):
            assert "only regular files are read" in said


def test_mutations_break_files_in_many_ways_and_always_alike() -> None:
    data = BVH.encode()
    broken = [mutate(random.Random(seed), data, [b"other"]) for seed in range(300)]
    assert broken == [mutate(random.Random(seed), data, [b"other"]) for seed in range(300)]
    assert len(set(broken)) > 250
    assert sum(abs(len(each) - len(data)) < 5 for each in broken) > 60
