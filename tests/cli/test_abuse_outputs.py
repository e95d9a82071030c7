"""No output of a run is one of its inputs or another output; what cannot be written is known before any work."""

from __future__ import annotations

import base64
import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from helpers.command_inputs import fill, make_clip
from helpers.commands import look, run
from helpers.files.seeds import write_seed
from poise.bench import BENCHES
from poise.demos import DEMOS
from poise.errors import SolveError
from poise.files.output import is_temporary
from poise.files.registry import load_clip, save_clip
from poise.jobs.shared import outputs, simulation
from poise.jobs.shared.outputs import identify, is_blind_to_case
from poise.registry import Entry
from poise.stage.stage import Stage

POSIX = pytest.mark.skipif(os.name == "nt", reason="links and limits are POSIX's")


@pytest.fixture(scope="session")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("inputs")
    fill(folder)
    return folder


@pytest.fixture
def place(inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a few inputs, where the test is."""
    for name in ("clip.bvh", "other.bvh", "body.json", "roles.toml", "stage.toml", "recipe.toml"):
        (tmp_path / name).write_bytes((inputs / name).read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refuse(folder: Path, *words: object) -> str:
    """Run a command that must refuse, in one sentence, and change nothing; the sentence."""
    before = look(folder)
    done = run(*words, "--quiet")
    assert (done.code, done.out) == (2, ""), done
    assert done.err.startswith("poise: ") and done.err.count("\n") == 1
    assert look(folder) == before
    return done.err


# A folder.


def test_a_folder_converted_in_place_loses_nothing(tmp_path: Path) -> None:
    if write_seed(".c3d", tmp_path) is None:
        pytest.skip("pip install ezc3d")
    save_clip(make_clip(), tmp_path / "seed.glb")
    said = refuse(tmp_path, "convert", tmp_path, tmp_path)
    assert "would be written over" in said and "Nothing was written" in said


def test_of_a_folder_only_what_would_be_lost_is_refused(place: Path, inputs: Path) -> None:
    """a.bvh -> a.glb is an input; b.npz -> b.glb is not. The latter is converted, into the folder itself."""
    library = place / "library"
    library.mkdir()
    (library / "a.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    (library / "b.npz").write_bytes((inputs / "clip.npz").read_bytes())
    save_clip(make_clip(), library / "a.glb")
    before = look(library)
    done = run("convert", library, library, "--to", "glb", "--json")
    assert done.code == 2
    found = json.loads(done.out)
    assert [Path(each["file"]).name for each in found["files"]] == ["b.glb"]
    assert [Path(each["source"]).name for each in found["failures"]] == ["a.bvh", "a.glb"]
    after = look(library)
    assert {name: after[name] for name in before} == before
    assert set(after) - set(before) == {"b.glb"}


@pytest.mark.parametrize("below", ["out", "deep/out"])
def test_an_output_folder_inside_the_input_is_not_searched(place: Path, inputs: Path, below: str) -> None:
    library = place / "library"
    (library / "deep").mkdir(parents=True)
    (library / "a.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    (library / "deep" / "b.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    assert run("convert", library, library / below, "--to", "npz").code == 0
    before = look(library)
    assert {f"{below}/a.npz", f"{below}/deep/b.npz"} < set(before)
    again = run("convert", "library/../library", library / below, "--to", "npz", "--json")
    assert again.code == 0 and json.loads(again.out)["done"] == 2
    assert look(library) == before


@POSIX
def test_a_link_in_the_output_folder_to_an_input_is_seen(place: Path, inputs: Path) -> None:
    library, out = place / "library", place / "out"
    library.mkdir()
    out.mkdir()
    (library / "a.npz").write_bytes((inputs / "clip.npz").read_bytes())
    (out / "a.npz").symlink_to(library / "a.npz")
    assert "would be written over" in refuse(place, "convert", library, out)
    (out / "a.npz").unlink()
    (out / "a.npz").hardlink_to(library / "a.npz")
    assert "would be written over" in refuse(place, "convert", library, out)


def test_capitals_that_the_disk_does_not_tell_apart(place: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two outputs that are there in neither spelling are one file on such a disk, two on others."""
    library = place / "library"
    library.mkdir()
    (library / "Walk.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    (library / "walk.npz").write_bytes((inputs / "clip.npz").read_bytes())
    monkeypatch.setattr(outputs, "is_blind_to_case", lambda folder: True)
    done = run("convert", library, place / "out", "--to", "npz", "--json")
    assert done.code == 2
    assert "Rename one of the two" in json.loads(done.out)["failures"][0]["error"]
    monkeypatch.setattr(outputs, "is_blind_to_case", lambda folder: False)
    assert identify(place / "A.glb") != identify(place / "a.glb")


def test_a_folder_is_asked_whether_it_tells_capitals_apart(tmp_path: Path) -> None:
    """The oracle is the file system itself: a file written under one name, looked for under the other."""
    (tmp_path / "Probe").write_bytes(b"")
    assert is_blind_to_case(tmp_path) == (tmp_path / "pROBE").exists()


def test_a_fault_at_one_file_does_not_stop_the_others(
    place: Path, inputs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from poise.files.writing import writing

    library = place / "library"
    library.mkdir()
    for name in "abc":
        (library / f"{name}.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    write = writing.write_clean

    def breaking(reading: object, path: Path, *more: object) -> object:
        return 1 / 0 if path.stem == "b" else write(reading, path, *more)  # type: ignore[arg-type]

    monkeypatch.setattr(writing, "write_clean", breaking)
    done = run("convert", library, place / "out", "--to", "npz", "--json")
    assert done.code == 70
    assert [each["source"][-5:] for each in json.loads(done.out)["failures"]] == ["b.bvh"]
    assert sorted(path.name for path in (place / "out").iterdir()) == ["a.npz", "c.npz"]


@POSIX
def test_folders_that_are_closed_and_links_to_nothing_are_told(place: Path, inputs: Path) -> None:
    library = place / "library"
    (library / "shut").mkdir(parents=True)
    (library / "a.bvh").write_bytes((inputs / "clip.bvh").read_bytes())
    (library / "lost.bvh").symlink_to("nothing.bvh")
    (library / "shut").chmod(0)
    try:
        found = json.loads(run("convert", library, place / "out", "--json").out)
    finally:
        (library / "shut").chmod(0o700)
    assert found["done"] == 1
    told = {Path(each["source"]).name for each in found["failures"]}
    assert told == ({"lost.bvh"} if os.geteuid() == 0 else {"lost.bvh", "shut"})


@pytest.mark.parametrize("to", ["../evil", "", "/", "glb/x", "xyz", "take.npz", "."])
def test_a_suffix_is_one_that_is_written(place: Path, inputs: Path, to: str) -> None:
    assert f"'{to}' was given" in refuse(place, "convert", inputs / "library", place / "out", "--to", to)


# Every command.


def link(name: str, to: str) -> None:
    Path(name).symlink_to(to)


@POSIX
@pytest.mark.parametrize(
    ("words", "prepare"),
    [
        (["convert", "clip.bvh", "x.bvh"], lambda: link("x.bvh", "clip.bvh")),
        (["convert", "clip.bvh", "x.bvh"], lambda: Path("x.bvh").hardlink_to("clip.bvh")),
        (["convert", "clip.bvh", "sub/../clip.bvh"], lambda: Path("sub").mkdir()),
        (["convert", "clip.bvh", "x.glb", "--character", "body.json"], lambda: link("x.glb", "body.json")),
        (["convert", "clip.bvh", "x.npz", "--roles", "roles.toml"], lambda: link("x.npz", "roles.toml")),
        (["retarget", "clip.bvh", "other.bvh", "-o", "./other.bvh"], None),
        (["retarget", "clip.bvh", "other.bvh", "-o", "clip.bvh"], None),
        (["forces", "clip.bvh", "-o", "x.csv"], lambda: link("x.csv", "clip.bvh")),
        (["forces", "clip.bvh", "-o", "x.csv", "--plot", "y.png"], lambda: link("y.png", "x.csv")),
        (["mix", "clip.bvh", "-o", "clip.bvh"], None),
        (["mix", "clip.bvh", "-o", "x.bvh", "--plot", "y.png"], lambda: link("y.png", "clip.bvh")),
        (["mix", "clip.bvh", "-o", "x.bvh", "--film", "y.gif"], lambda: Path("y.gif").hardlink_to("clip.bvh")),
        (["mix", "clip.bvh", "-o", "x.bvh", "--film", "y.gif"], lambda: link("y.gif", "x.bvh")),
        (["mix", "clip.bvh", "-o", "x.bvh", "--recipe", "recipe.toml", "--save-recipe", "recipe.toml"], None),
        (["mix", "clip.bvh", "-o", "x.bvh", "--stage", "stage.toml", "--save-recipe", "stage.toml"], None),
        (["mix", "clip.bvh", "-o", "x.bvh", "--roles", "roles.toml", "--save-recipe", "roles.toml"], None),
    ],
)
def test_no_output_is_an_input_or_another_output(place: Path, words: list[str], prepare) -> None:  # type: ignore[no-untyped-def]
    if prepare is not None:
        prepare()
    assert "would overwrite" in refuse(place, *words)


@pytest.mark.parametrize(
    ("outputs", "sentence"),
    [
        ('motion = "clip.bvh"', "would overwrite the input"),
        ('motion = "x.bvh"\nplot = "./recipe.toml"', "would overwrite the input"),
        ('motion = "x.bvh"\nfilm = "none/x.gif"', "does not exist"),
        ('motion = "x\\u0000.bvh"', "cannot be written"),
        ('motion = "x.bvh"\nfilm = "x.avi"', "'film' of [outputs] in recipe.toml writes"),
    ],
)
def test_a_recipe_names_outputs_as_options_do(
    place: Path, monkeypatch: pytest.MonkeyPatch, outputs: str, sentence: str
) -> None:
    text = (place / "recipe.toml").read_text()
    (place / "recipe.toml").write_text(f"{text}[outputs]\n{outputs}\n")
    monkeypatch.setattr(simulation, "simulate", never)
    assert sentence in refuse(place, "mix", "--recipe", "recipe.toml")


def test_what_a_gltf_of_a_folder_needs_is_not_written_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its buffer lies where an output would be."""
    write_seed(".gltf", tmp_path)
    (tmp_path / "out").mkdir()
    document = json.loads((tmp_path / "seed.gltf").read_text())
    (buffer,) = document["buffers"]
    data = base64.b64decode(buffer["uri"].partition(",")[2]) if buffer["uri"].startswith("data:") else None
    (tmp_path / "out" / "seed.glb").write_bytes((tmp_path / buffer["uri"]).read_bytes() if data is None else data)
    buffer["uri"] = "out/seed.glb"
    (tmp_path / "seed.gltf").write_text(json.dumps(document))
    monkeypatch.chdir(tmp_path)
    assert "which 'seed.gltf' needs" in refuse(tmp_path, "convert", ".", "out", "--to", "glb")


def test_the_pictures_of_a_gltf_are_inputs_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_seed(".gltf", tmp_path)
    document = json.loads((tmp_path / "seed.gltf").read_text())
    document["images"] = [{"uri": "skin%20a.png"}, {"uri": "data:image/png;base64,AAAA"}, {"uri": "../no.png"}]
    (tmp_path / "seed.gltf").write_text(json.dumps(document))
    (tmp_path / "skin a.png").write_bytes(b"a picture")
    monkeypatch.chdir(tmp_path)
    assert "which the input needs" in refuse(tmp_path, "forces", "seed.gltf", "-o", "x.csv", "--plot", "skin a.png")


def never(*_: object, **__: object) -> None:
    raise AssertionError("it was run")


def test_demos_and_benches_keep_what_they_read(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DEMOS, "mocap", Entry(f"{__name__}:tiny", "a demo"))
    monkeypatch.setitem(BENCHES, "fast", Entry(f"{__name__}:never", "a bench"))
    (place / "mocap.bvh").write_bytes((place / "clip.bvh").read_bytes())
    assert "may write" in refuse(place, "demo", "mocap", "--clip", "mocap.bvh", "-o", place)
    assert "would overwrite" in refuse(place, "bench", "fast", "--save", "a.json", "--compare", "a.json")
    assert "holds no bench figures" in refuse(place, "bench", "fast", "--save", "body.json")
    (place / "mocap.glb").mkdir()
    assert "is a folder where a demo writes" in refuse(place, "demo", "mocap", "-o", place)


def tiny(folder: Path, clip: Path | None = None) -> dict[str, object]:
    raise AssertionError("it was run")


# Known before the work.


@pytest.mark.parametrize(
    "words",
    [
        ["mix", "clip.bvh", "-o", "none/x.bvh"],
        ["mix", "clip.bvh", "-o", "folder.bvh"],
        ["mix", "clip.bvh", "-o", "x.take.npz/y.bvh"],
        ["mix", "clip.bvh", "-o", "none/x.take.npz"],
        ["mix", "clip.bvh", "-o", "x.xyz"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--film", "none/x.gif"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--film", "x.avi"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--film", "x.mp4"],
        ["mix", "clip.bvh", "-o", "x.usda"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--plot", "none/x.png"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--plot", "clip.bvh/x.png"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--plot", "x.jpg"],
        ["mix", "clip.bvh", "-o", "x.bvh", "--save-recipe", "none/x.toml"],
        ["mix", "clip.bvh", "-o", "n" * 300 + ".bvh"],
        ["forces", "clip.bvh", "-o", "x.csv", "--plot", "none/x.png"],
        ["forces", "clip.bvh", "-o", "folder.bvh"],
        ["retarget", "clip.bvh", "other.bvh", "-o", "none/x.bvh"],
        ["retarget", "clip.bvh", "other.bvh", "-o", "x.usda"],
        ["retarget", "clip.bvh", "other.bvh", "-o", "x.xyz"],
        ["convert", "clip.bvh", "none/x.bvh"],
        ["convert", "clip.bvh", "x.usda"],
        ["convert", "folder.bvh", "x", "--to", "usdc"],
        ["demo", "motion", "-o", "clip.bvh"],
        ["demo", "motion", "-o", "clip.bvh/below"],
        ["bench", "startup", "--save", "none/x.json"],
        ["bench", "startup", "--save", "folder.bvh"],
    ],
)
def test_what_cannot_be_written_is_known_first(place: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    """Nothing is read, simulated, drawn or measured: the first thing that would be raises a fault (70)."""
    (place / "folder.bvh").mkdir()
    (place / "folder.bvh" / "a.bvh").write_bytes((place / "clip.bvh").read_bytes())
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *more: None if name in ("av", "pxr") else found(name))
    monkeypatch.setattr("poise.files.registry.read_recording", never)
    monkeypatch.setitem(DEMOS, "motion", Entry(f"{__name__}:tiny", "a demo"))
    monkeypatch.setitem(BENCHES, "startup", Entry(f"{__name__}:never", "a bench"))
    refuse(place, *words)


@POSIX
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is closed to root")
def test_what_is_protected_stays(place: Path) -> None:
    (place / "x.npz").write_bytes(b"mine")
    (place / "x.npz").chmod(0o444)
    assert "write-protected" in refuse(place, "convert", "clip.bvh", "x.npz")


def test_a_recipe_is_written_once_the_mix_is(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "made.toml").write_text("old")
    refuse(place, "mix", "clip.bvh", "-o", "x.bvh", "--gain", "99", "--save-recipe", "made.toml")
    assert (place / "made.toml").read_text() == "old"


def test_a_film_that_cannot_be_drawn_is_known_before_the_simulation(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from poise.errors import InputError

    def refuse_body(*_: object) -> None:
        raise InputError("this body cannot be drawn.")

    monkeypatch.setattr("poise.body.geometry.mannequin.build_mannequin", refuse_body)
    monkeypatch.setattr(simulation, "simulate", never)
    assert "--film cannot be drawn" in refuse(place, "mix", "clip.bvh", "-o", "x.bvh", "--film", "x.gif")


def test_the_last_states_take_a_free_name(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "nonfinite.take.npz").write_bytes(b"mine")
    step = Stage.step

    def breaking(self: Stage) -> None:
        step(self)
        if self.time > 0.1:
            raise SolveError("simulation became non-finite at t=0.1 s.")

    monkeypatch.setattr(Stage, "step", breaking)
    done = run("mix", "clip.bvh", "-o", "x.npz", "--json")
    assert done.code == 1
    assert (place / "nonfinite.take.npz").read_bytes() == b"mine"
    assert "nonfinite-2.take.npz" in json.loads(done.out)["fell_why"]
    assert (place / "nonfinite-2.take.npz").stat().st_size > 1000


# A disk that is full.

LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))
from poise.cli import main
sys.exit(main(sys.argv[1:]))
"""


@POSIX
@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".usda", ".usdc"])
@pytest.mark.many(1)
def test_a_full_disk_is_a_sentence_and_loses_nothing(place: Path, suffix: str) -> None:
    (place / f"x{suffix}").write_bytes(b"old")
    before = look(place)
    words = [sys.executable, "-B", "-c", LIMITED, "convert", "clip.bvh", f"x{suffix}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=place)
    assert done.returncode == 2, done.stderr
    assert "cannot be written: File too large. Nothing was changed there." in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert look(place) == before


FILM = """
import resource, sys
import numpy as np
from poise.errors import FileError
from poise.pictures.film import save_film
frames = [np.random.default_rng(k).integers(0, 255, (64, 64, 3), dtype=np.uint8) for k in range(9)]
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
try:
    save_film(sys.argv[1], frames, 25.0)
except FileError as error:
    print(error)
"""


@POSIX
@pytest.mark.parametrize("suffix", [".mp4", ".webp", ".gif"])
def test_a_film_on_a_full_disk(tmp_path: Path, suffix: str) -> None:
    if suffix == ".mp4":
        pytest.importorskip("av")
    words = [sys.executable, "-B", "-c", FILM, f"x{suffix}"]
    done = subprocess.run(words, capture_output=True, text=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == (
        f"x{suffix}: cannot be written: File too large. Nothing was changed there.\n",
        "",
    )
    assert list(tmp_path.iterdir()) == []


@POSIX
def test_a_device_that_is_full_is_a_sentence(place: Path) -> None:
    done = run("forces", "clip.bvh", "-o", "/dev/full", "--quiet")
    assert done.code == 2
    assert done.err == "poise: /dev/full: cannot be written: No space left on device.\n"


def test_what_is_written_can_be_read(place: Path) -> None:
    """The checks of this file would pass if nothing were ever written."""
    assert run("convert", "clip.bvh", "x.npz").code == 0
    assert len(load_clip(place / "x.npz")) == len(make_clip())
    assert not any(is_temporary(path) for path in place.iterdir())
    assert identify(place / "x.npz") != identify(place / "clip.bvh")
