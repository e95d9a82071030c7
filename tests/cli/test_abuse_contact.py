"""Wrong pairs and props that a body begins in: one sentence, exit 2, and nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest

import poise
from poise.cli import main
from poise.motion.samples import wave

ROOM = """
[[props]]
name = "table"
shape = "box"
size = [{size}]
position = [{place}]
"""


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clips") / "wave.bvh"
    poise.save_clip(wave(poise.Character.human(1.75, 75.0).skeleton, 2.0, fps=30.0), path)
    return path


@pytest.mark.parametrize("command", ["mix", "track"])
@pytest.mark.parametrize(
    ("room", "words"),
    [
        (ROOM.format(size="0.3, 0.3, 0.3", place="0.3, 1.0, 0.0"), ("'table' is", "mm deep in", "at the start")),
        (ROOM.format(size="0.1, 0.1, 0.1", place="3, 1, 0") + '[touch]\nonly = [["leftHnd", "table"]]', ("leftHnd",)),
        (
            ROOM.format(size="0.1, 0.1, 0.1", place="3, 1, 0") + '[touch]\napart = [["tabel", "legs"]]',
            ("tabel", "table"),
        ),
        (ROOM.format(size="0.1, 0.1, 0.1", place="3, 1, 0") + '[touch]\nforces = "magic"', ("magic", "penalty")),
        (ROOM.format(size="0.1, 0.1, 0.1", place="3, 1, 0") + "[touch]\nbounce = 3", ("bounce", "0.9")),
        (ROOM.format(size="0.1, 0.1, 0.1", place="3, 1, 0") + '[touch]\nonly = "table"', ("only", "pairs")),
    ],
)
@pytest.mark.many(5)
def test_a_stage_that_cannot_be_is_refused(
    clip: Path, command: str, room: str, words: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage, out = tmp_path / "room.toml", tmp_path / "out.bvh"
    stage.write_text(room)
    assert main([command, str(clip), "-o", str(out), "--stage", str(stage)]) == 2
    told = capsys.readouterr().err.strip().splitlines()[-1]
    for word in words:
        assert word in told
    assert not out.exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["room.toml"]
