"""Edit recipes: what is written, what is refused and where, and that nothing is half done."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.command_inputs import make_clip
from helpers.commands import find_faults, look, run
from helpers.errors import rejects
from helpers.kinematics import pose_by_scipy
from poise.errors import FileError, PoiseError
from poise.files.registry import load_clip, save_clip
from poise.jobs.edit.recipe import list_gestures, load_edit_recipe
from poise.motion import find_point
from poise.motion.edits.targets import BodyTarget

PLAIN = """format = "poise-edit 1"
fps = 60
transition = 0.3
sequence = ["high", "low", "high"]

[clips.clap]
gesture = "clap"
seconds = 3
rate = 1.5

[segments.high]
clip = "clap"
from = 0.5
to = 1.5

[segments.low]
clip = "clap"
from = 1.0
to = 2.5
speed = 1.33
mirror = true

[[offsets]]
joint = "rightHand"
point = "palm"
time = 1.2
place = [-0.1, 1.35, 0.35]
before = 0.2
after = 0.3
"""
PAIR = """format = "poise-edit 1"
sequence = ["clap"]
SPEED
[clips.clap]
gesture = "clap"
seconds = 3
rate = 1.5

[body]
kind = "child"

[actors.anna]
position = [0, 0, 0]

[actors.ben]
position = [0, 0, 0.6]
heading_degrees = 180
body = {kind = "child", height = 1.6}

[[offsets]]
actor = "anna"
joint = "rightHand"
point = "palm"
times = [0.6666667, 1.3333333, 2]
meets = {actor = "ben", joint = "leftHand", point = "palm"}
"""


def save(folder: Path, text: str, name: str = "recipe.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def palm(clip: poise.Clip, joint: str, t: float) -> np.ndarray:
    pose = clip.pose(t)
    places, axes = pose_by_scipy(clip.skeleton, pose.root, pose.rotations)
    i = clip.skeleton.index(joint)
    return places[i] + axes[i] @ find_point(clip.skeleton, joint, "palm")


@pytest.mark.parametrize("suffix", [".bvh", ".glb", ".npz", ".usda", ".fbx"])
def test_every_format_is_written_and_has_what_was_asked(tmp_path, suffix):
    from poise.files.registry import check_can_save

    try:
        check_can_save(tmp_path / f"out{suffix}")
    except PoiseError as error:
        if suffix != ".fbx":  # the only one that needs a program that need not be there
            raise
        pytest.skip(str(error))
    found = poise.edit(save(tmp_path, PLAIN), tmp_path / f"out{suffix}")
    assert (tmp_path / f"out{suffix}").stat().st_size > 1000
    assert found.figures["duration_s"] == pytest.approx(2.0 + 1.5 / 1.33, abs=1 / 60)
    assert found.figures["offset_miss_mm"] < 0.1
    error = found.figures["max_joint_error_m"]
    assert error is None or error < 1e-4
    if suffix in (".bvh", ".glb", ".npz"):
        back = load_clip(tmp_path / f"out{suffix}")
        assert np.linalg.norm(palm(back, "rightHand", 1.2) - [-0.1, 1.35, 0.35]) < 1e-3


def test_figures_of_joins_and_offsets(tmp_path):
    done = run("edit", save(tmp_path, PLAIN), "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert [join["from"] for join in told["joins"]] == ["high", "low"]
    assert [join["time_s"] for join in told["joins"]] == pytest.approx([1.0, 1.0 + 1.5 / 1.33])
    assert told["position_jump_m"] < 0.005
    assert told["velocity_jump_m_s"] < 0.25
    cut = poise.edit(save(tmp_path, PLAIN.replace("transition = 0.3", "transition = 0"))).figures
    assert cut["position_jump_m"] > 20 * told["position_jump_m"]
    assert cut["velocity_jump_m_s"] > 4 * told["velocity_jump_m_s"]
    assert any("jumps by" in said for said in cut["warnings"])
    offset = told["offsets"][0]
    assert offset["met"]
    assert offset["miss_before_mm"] > 10
    assert told["files"] == [str(tmp_path / "out.bvh")]
    assert "speed jumps by at most" in run("edit", save(tmp_path, PLAIN), "-o", tmp_path / "out.bvh").out


def test_two_meet_at_every_clap_and_would_miss_without(tmp_path):
    for speed in (1.0, 1.33):
        text = PAIR.replace("SPEED", f"speed = {speed}")
        found = poise.edit(save(tmp_path, text), tmp_path / "out.bvh")
        one, two = (load_clip(tmp_path / f"out-{name}.bvh") for name in ("anna", "ben"))
        assert one.duration == pytest.approx(3.0 / speed, abs=1 / 60)
        plain = poise.edit(save(tmp_path, text[: text.index("[[offsets]]")], "plain.toml")).clips
        for t in (0.6666667, 1.3333333, 2.0):
            apart = palm(one, "rightHand", t / speed) - palm(two, "leftHand", t / speed)
            assert np.linalg.norm(apart) < 2e-3  # a file of 60 frames a second, asked between them
            missed = palm(plain["anna"], "rightHand", t / speed) - palm(plain["ben"], "leftHand", t / speed)
            assert np.linalg.norm(missed) > 0.05
        assert found.figures["offset_miss_mm"] < 0.1


def test_files_of_other_bodies_are_put_onto_the_first(tmp_path):
    save_clip(make_clip(1.75, 40), tmp_path / "one.bvh")
    save_clip(make_clip(1.5, 40), tmp_path / "two.bvh")
    text = 'format = "poise-edit 1"\nsequence = ["one", "two", "greet"]\n[clips.one]\nfile = "one.bvh"\n'
    text += '[clips.two]\nfile = "two.bvh"\n[clips.greet]\ngesture = "wave"\nseconds = 2\n'
    heard = []
    found = poise.edit(save(tmp_path, text), tmp_path / "out.npz", tell=lambda kind, said: heard.append((kind, said)))
    assert found.clip.skeleton.names == load_clip(tmp_path / "one.bvh").skeleton.names
    assert found.clip.duration == pytest.approx(2 * 39 / 30 + 2.0, abs=1 / 30)
    assert any("put onto this one" in said for _, said in heard)


@pytest.mark.parametrize("suffix", [".npz", ".bvh", ".glb"])
def test_uneven_samples_are_resampled_by_slerp_or_spline(tmp_path, suffix):
    """A file of 15-25 Hz, uneven where it can be, at 240 Hz: only the spline has a smooth speed."""
    rng, whole = np.random.default_rng(1), poise.motion.samples.wave(poise.Character.human().skeleton, 3.0, 120.0)
    keep = np.cumsum(rng.integers(5, 9, 43))
    thin = whole.pick(keep) if suffix == ".npz" else whole.pick(slice(0, None, 6))
    save_clip(thin.replace(times=thin.times - thin.times[0]), tmp_path / f"thin{suffix}")
    found = {}
    for how in ("slerp", "spline"):
        text = f'format = "poise-edit 1"\nfps = 240\nresample = "{how}"\n[clips.a]\nfile = "thin{suffix}"\n'
        found[how] = poise.edit(save(tmp_path, text)).clip
    hand = whole.skeleton.index("rightHand")
    speeds = {how: np.diff(clip.positions[:, hand], axis=0) * 240.0 for how, clip in found.items()}
    jumps = {how: np.linalg.norm(np.diff(speed, axis=0), axis=1).max() for how, speed in speeds.items()}
    assert jumps["spline"] < 0.3 * jumps["slerp"]
    exact = whole.skeleton.pose(*whole.pose(found["spline"].times + thin.times[0], "spline"))[0][:, hand]
    off = {how: np.linalg.norm(clip.positions[:, hand] - exact, axis=1).max() for how, clip in found.items()}
    assert off["spline"] < 0.5 * off["slerp"]


def test_times_count_from_the_files_first_frame_also_where_a_t_pose_is_left_out(tmp_path):
    gesture = poise.gestures.clap(1.5)
    clip = poise.gestures.GestureMotion(gesture, poise.Character.human().skeleton).sample(4.0, 30.0)
    turns = clip.rotations.copy()
    turns[0] = [1.0, 0.0, 0.0, 0.0]
    save_clip(clip.replace(rotations=turns), tmp_path / "walk.bvh")
    first = load_clip(tmp_path / "walk.bvh").times[0]
    text = 'format = "poise-edit 1"\nsequence = [{clip = "a", from = 0, to = 2}]\n[clips.a]\nfile = "walk.bvh"\n'
    assert poise.edit(save(tmp_path, text)).clip.duration == pytest.approx(2.0 - first, abs=1 / 30)
    assert first > 0.0


def test_a_body_may_be_said(tmp_path):
    short, tall = (
        poise.edit(save(tmp_path, PLAIN.split("[[offsets]]")[0] + f"[body]\nheight = {height}\n")).clip.skeleton
        for height in (1.4, 1.9)
    )
    np.testing.assert_allclose(tall.offsets / 1.9, short.offsets / 1.4, atol=1e-9)


def test_places_on_props(tmp_path):
    save(
        tmp_path, '[[props]]\nname = "drum"\nshape = "sphere"\nradius = 0.1\nposition = [-0.2, 1.1, 0.3]\n', "room.toml"
    )
    text = PLAIN.replace("place = [-0.1, 1.35, 0.35]", 'place = [0.1, 0.2, 0]\nprop = "drum"')
    found = poise.edit(save(tmp_path, text.replace("fps = 60", 'fps = 60\nstage = "room.toml"')))
    assert np.linalg.norm(palm(found.clip, "rightHand", 1.2) - [-0.1, 1.3, 0.3]) < 1e-4


def test_places_on_oneself(tmp_path):
    text = PLAIN.replace("place = [-0.1, 1.35, 0.35]", 'on = {joint = "leftHand", point = "back"}\nturn = "free"')
    found = poise.edit(save(tmp_path, text))
    there = BodyTarget(found.actors[0].arranged.clip, "leftHand", "back").find(1.2)
    assert np.linalg.norm(palm(found.clip, "rightHand", 1.2) - there) < 1e-4


@pytest.mark.slow
def test_a_transition_through_the_body_is_warned_of(tmp_path):
    text = 'format = "poise-edit 1"\nsequence = ["front", "back"]\n[clips.idle]\ngesture = "idle"\nseconds = 4\n'
    one = poise.edit(save(tmp_path, text.replace('sequence = ["front", "back"]\n', "")))
    for name, place in (("front", (-0.05, 1.0, 0.32)), ("back", (-0.1, 1.0, -0.3))):
        offset = poise.motion.Offset("rightHand", 2.0, place, hold=3.8, before=0.1, after=0.1, turn="free")
        save_clip(poise.motion.apply_offsets(one.clip, [offset]).clip, tmp_path / f"{name}.npz")
    text = 'format = "poise-edit 1"\ntransition = 0.6\nsequence = ["front", {clip = "back", from = 1}]\n'
    text += "".join(f'[clips.{name}]\nfile = "{name}.npz"\n' for name in ("front", "back"))
    done = run("edit", save(tmp_path, text), "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0, done.err
    told = json.loads(done.out)
    assert told["joins"][0]["through_itself_mm"] > 30
    match = re.search(r"in the join of 'front' and 'back' at 4.00 s (\w+) goes through (\w+) from", told["warnings"][0])
    assert match
    assert any("right" in name for name in match.groups())
    assert "warning" in done.err


def test_out_of_reach_is_warned_of(tmp_path):
    done = run("edit", save(tmp_path, PLAIN.replace("1.35, 0.35", "1.35, 2.35")), "-o", tmp_path / "out.bvh", "--json")
    assert done.code == 0
    told = json.loads(done.out)
    assert not told["offsets"][0]["met"]
    assert told["offsets"][0]["miss_mm"] > 1000
    assert any("out of reach" in said for said in told["warnings"])


# What is replaced by what, the line that the error is on, and a part of its sentence.
WRONG = [
    ('"poise-edit 1"', '"poise-recipe 1"', 1, "no edit recipe"),
    ("fps = 60", "fps = 0", 2, "'fps' of a recipe must be from 1 to 1000"),
    ("fps = 60", "fsp = 60", 2, "Did you mean 'fps'?"),
    ("fps = 60", "fps = 'x'", 2, "must be a number"),
    ("fps = 60", 'resample = "cubic"', 2, "resampling 'cubic'"),
    ("transition = 0.3", "transition = -1", 3, "'transition'"),
    ("transition = 0.3", "transition = 5", 4, "too short for halves"),
    ('"low", "high"]', '"lwo", "high"]', 4, "Did you mean 'low'?"),
    ('["high", "low", "high"]', "[]", 4, "is empty"),
    ('sequence = ["high", "low", "high"]', "", 11, 'is in no \'sequence\'. Say in which order: sequence = ["high"'),
    ('["high", "low", "high"]', '"high"', 4, "must be a list"),
    ('["high", "low", "high"]', '[{segment = "clap"}]', 4, "segment 'clap'"),
    ('["high", "low", "high"]', '[{segment = "low", sped = 2}]', 4, "key of [[sequence]] 1, 'sped'"),
    ('gesture = "clap"', 'gesture = "clop"', 7, "Did you mean 'clap'?"),
    ('gesture = "clap"\nseconds = 3\nrate = 1.5', 'file = "none.bvh"', 7, "none.bvh"),
    ('gesture = "clap"', 'file = "a.bvh"\ngesture = "clap"', 6, "one of the two"),
    ("rate = 1.5", "rate = 100", 6, "rate must be from 0.2 to 6 claps a second; got 100"),
    ("rate = 1.5", "tempo = 2", 9, "parameter 'tempo'"),
    ("seconds = 3", "seconds = -3", 8, "'seconds'"),
    ("from = 0.5", "from = 7", 13, "'from' of 'high' is 7 s; clip 'clap' runs from 0 s to 3 s"),
    ("to = 2.5", "to = 9.5", 19, "'to' of 'low' is 9.5 s"),
    ("to = 1.5", "to = 0.1", 11, "must end after it starts"),
    ("speed = 1.33", "speed = 0", 20, "'speed'"),
    ("mirror = true", "mirror = 1", 21, "must be true or false"),
    ("mirror = true", "repeat = 0", 21, "'repeat'"),
    ('clip = "clap"\nfrom = 0.5', 'clip = "clop"\nfrom = 0.5', 12, "clip 'clop' is not in the recipe"),
    ('joint = "rightHand"', 'joint = "rightHnad"', 23, "Did you mean 'rightHand'?"),
    ('point = "palm"', 'point = "plam"', 23, "Did you mean 'palm'?"),
    ("time = 1.2", "time = 99", 26, "the sequence lasts"),
    ("time = 1.2", "times = []", 26, "is empty"),
    ("time = 1.2", "times = [1, 99]", 26, "has 99 s"),
    ("time = 1.2", "", 23, "needs a 'time'"),
    ("place = [-0.1, 1.35, 0.35]", "place = [1, 2]", 27, "a list of 3 numbers"),
    ("place = [-0.1, 1.35, 0.35]", "", 23, "one of the three"),
    ("place = [-0.1, 1.35, 0.35]", 'place = [0, 0, 0]\nprop = "drum"', 28, "prop 'drum'"),
    ("place = [-0.1, 1.35, 0.35]", 'on = {actor = "ben", joint = "head"}', 27, "actor 'ben'"),
    ("place = [-0.1, 1.35, 0.35]", 'on = {joint = "haed"}', 23, "Did you mean 'head'?"),
    ("before = 0.2", "before = -1", 28, "'before'"),
    ("before = 0.2", 'turn = "sideways"', 23, "keep"),
    ("after = 0.3", "after = nan", 29, "finite number"),
    ("after = 0.3", "afetr = 0.3", 29, "Did you mean 'after'?"),
    ("[[offsets]]", '[body]\nkind = "fta"\n[[offsets]]', 24, "Did you mean 'fat'?"),
    ("[[offsets]]", '[body]\nfile = "none.glb"\n[[offsets]]', 24, "none.glb"),
    ("[[offsets]]", "[[offsets]", 23, "not valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "line", "said"), WRONG)
def test_what_is_wrong_is_told_with_its_line_and_nothing_is_written(tmp_path, old, new, line, said):
    assert old in PLAIN
    path = save(tmp_path, PLAIN.replace(old, new, 1))
    before = look(tmp_path)
    words = ["edit", str(path), "-o", str(tmp_path / "out.bvh")]
    done = run(*words)
    assert done.code == 2
    assert list(find_faults(words, done, before, tmp_path)) == []
    assert f"recipe.toml:{line}: " in done.err, done.err
    assert said in done.err
    assert look(tmp_path) == before


def test_outputs_are_refused_before_anything_is_done(tmp_path):
    path = save(tmp_path, PLAIN)
    for output, said in ((path, "overwrite"), (tmp_path / "a.xyz", "xyz"), (tmp_path / "no" / "a.bvh", "no")):
        done = run("edit", path, "-o", output)
        assert done.code == 2
        assert said in done.err
    assert path.read_text() == PLAIN


@pytest.mark.slow
def test_mangled_recipes_are_refused_in_a_sentence_or_followed(tmp_path):
    """Lines dropped, doubled and swapped, values exchanged: no faults, no files but whole ones."""
    rng = np.random.default_rng(0)
    rows = PAIR.replace("SPEED", "").splitlines()
    values = ["0", "-1", "1e9", "nan", "true", '""', '"x"', "[]", "[1, 2, 3]", "{}", '{joint = "head"}', "[[1]]", "2.5"]
    codes = []
    for k in range(60):
        mixed = list(rows)
        for _ in range(rng.integers(1, 4)):
            i = int(rng.integers(len(mixed)))
            kind = rng.integers(4)
            if kind == 0:
                mixed.pop(i)
            elif kind == 1:
                mixed.insert(i, mixed[int(rng.integers(len(mixed)))])
            elif kind == 2 and "=" in mixed[i]:
                mixed[i] = mixed[i].split("=")[0] + "= " + str(rng.choice(values))
            else:
                j = int(rng.integers(len(mixed)))
                mixed[i], mixed[j] = mixed[j], mixed[i]
        folder = tmp_path / str(k)
        folder.mkdir()
        path = save(folder, "\n".join(mixed))
        before, words = look(folder), ["edit", str(path), "-o", str(folder / "out.npz"), "--quiet"]
        done = run(*words)
        codes.append(done.code)
        assert list(find_faults(words, done, before, folder)) == [], "\n".join(mixed)
        if done.code == 2:
            assert look(folder) == before
            assert done.err.startswith(f"poise: {path}:"), done.err
    assert 0 in codes
    assert codes.count(2) > 20


def test_every_gesture_can_be_named(tmp_path):
    for name in list_gestures():
        text = f'format = "poise-edit 1"\n[clips.it]\ngesture = "{name}"\nseconds = 4\nfps = 30\n'
        if name == "wave_squat_walk":
            with pytest.raises(FileError, match=r"recipe\.toml:4: gesture 'wave_squat_walk' lasts as long as it does"):
                poise.edit(save(tmp_path, text))
            text = text.replace("seconds = 4\n", "")
        if name == "speak":
            with pytest.raises(FileError, match=r"recipe\.toml:2: gesture 'speak' needs 'stresses'"):
                poise.edit(save(tmp_path, text))
            text += 'stresses = [0.5, {time = 1.2, kind = "point", hand = "left"}]\n'
        clip = poise.edit(save(tmp_path, text)).clip
        assert clip.duration > 1.0


def test_the_recipe_alone_can_be_checked(tmp_path):
    recipe = load_edit_recipe(save(tmp_path, PLAIN))
    assert [segment.name for segment in recipe.actors[0].sequence] == ["high", "low", "high"]
    rejects(
        lambda: load_edit_recipe(save(tmp_path, PLAIN.replace("fps = 60", "fps = -1"))),
        "recipe.toml:2:",
        error=FileError,
    )


def test_the_recipes_of_the_page_can_be_followed(tmp_path):
    page = (Path(__file__).parents[2] / "docs" / "editing.md").read_text()
    recipes = re.findall(r"^```toml\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(recipes) == 2
    for k, text in enumerate(recipes):
        found = poise.edit(save(tmp_path, text, f"page{k}.toml"), tmp_path / "out.npz")
        assert found.figures["offset_miss_mm"] < 0.1
    code = next(
        block
        for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
        if "join_segments(" in block
    )
    said: dict[str, object] = {}
    exec(compile(code.replace("print(", "told = ("), "page", "exec"), said)
    assert said["told"][1] < 1e-4
