"""Keys of edit recipes that would change nothing: they are refused with their line, or noted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import poise
from helpers.command_inputs import make_clip
from helpers.commands import find_faults, look, run
from helpers.kinematics import pose_by_scipy
from poise.files.registry import save_clip
from poise.motion import samples

HEAD = 'format = "poise-edit 1"\n'
CLAP = '[clips.clap]\ngesture = "clap"\nseconds = 3\n'
FILE = '[clips.a]\nfile = "a.bvh"\n'
HIGH = '[segments.high]\nclip = "clap"\nfrom = 0.5\nto = 1.5\n'
STILL = '[segments.pose]\nclip = "clap"\nfrom = 1\nstill = 0.5\n'
PLACE = '[[offsets]]\njoint = "rightHand"\ntime = 1.2\nplace = [-0.1, 1.2, 0.35]\n'
ACTORS = '[actors.anna]\nsequence = ["clap"]\nbody = {kind = "child"}\n'
STAGE = '[[props]]\nname = "drum"\nshape = "sphere"\nradius = 0.1\nposition = [-0.2, 1.1, 0.3]\n'

# A recipe, the line that the error is on, and a piece of its sentence.
REFUSED = {
    "speed of a still": (HEAD + 'sequence = ["pose"]\n' + CLAP + STILL + "speed = 2\n", 10, "leave out 'speed'"),
    "reverse of a still": (HEAD + 'sequence = ["pose"]\n' + CLAP + STILL + "reverse = true\n", 10, "out 'reverse'"),
    "transition of one stretch": (HEAD + "transition = 0.2\n" + CLAP, 2, "a single stretch has no join"),
    "transition of the first": (
        HEAD + 'sequence = [{clip = "clap", transition = 0.2}, "clap"]\n' + CLAP, 2, "none before the first",
    ),
    "transition of the first segment": (
        HEAD + 'sequence = [{segment = "high", transition = 0.2}, "clap"]\n' + CLAP + HIGH, 2, "none before the first",
    ),
    "transition of a segment that is always first": (
        HEAD + 'sequence = ["high", "clap"]\n' + CLAP + HIGH + "transition = 0.2\n", 10, "none before the first",
    ),
    "transition of a segment that always has another": (
        HEAD + 'sequence = ["clap", {segment = "high", transition = 0.1}]\n' + CLAP + HIGH + "transition = 0.2\n", 10,
        "the sequence says another",
    ),
    "transition that no join takes": (
        HEAD + 'transition = 0.2\nsequence = ["clap", {clip = "clap", transition = 0.1}]\n' + CLAP, 2,
        "every join has its own",
    ),
    "align of one stretch": (HEAD + "align = false\n" + CLAP, 2, "a single stretch has no join"),
    "sequence that no actor plays": (HEAD + 'sequence = ["clap"]\n' + CLAP + ACTORS, 2, "every actor has its own"),
    "body that no actor has": (HEAD + CLAP + ACTORS + '[body]\nkind = "fat"\n', 8, "every actor has its own"),
    "body that takes part": (
        HEAD + '[clips.beat]\ngesture = "conduct"\nseconds = 3\ntakes_part = 0.5\n', 5, "Leave it out",
    ),
    "stage without a prop that is named": (HEAD + 'stage = "room.toml"\n' + CLAP + PLACE, 2, "names a 'prop'"),
}  # fmt: skip


def save(folder: Path, text: str) -> Path:
    path = folder / "recipe.toml"
    path.write_text(text)
    return path


def hear(folder: Path, text: str, output: str = "out.bvh", **options: str) -> list[str]:
    heard: list[str] = []
    poise.edit(save(folder, text), folder / output, tell=lambda kind, said: heard.append(said), **options)
    return heard


@pytest.mark.parametrize("name", REFUSED)
def test_keys_that_nothing_comes_of_are_refused(tmp_path, name):
    text, line, said = REFUSED[name]
    (tmp_path / "room.toml").write_text(STAGE)
    path = save(tmp_path, text)
    before, words = look(tmp_path), ["edit", str(path), "-o", str(tmp_path / "out.bvh")]
    done = run(*words)
    assert done.code == 2
    assert list(find_faults(words, done, before, tmp_path)) == []
    assert f"recipe.toml:{line}: " in done.err, done.err
    assert said in done.err
    assert look(tmp_path) == before


@pytest.mark.parametrize("name", REFUSED)
def test_without_the_key_the_same_recipe_is_followed(tmp_path, name):
    """What is refused is the key on its line, or in its table, and nothing else."""
    text, line, _ = REFUSED[name]
    rows = text.splitlines()
    rows[line - 1] = rows[line - 1].replace(", transition = 0.2", "") if "[{" in rows[line - 1] else ""
    poise.edit(save(tmp_path, "\n".join(row for row in rows if row != 'kind = "fat"')))


def test_a_segments_own_transition_holds_where_the_sequence_says_only_how_often(tmp_path):
    text = HEAD + 'sequence = ["clap", {segment = "high", repeat = 2}]\n' + CLAP + HIGH + "transition = 0.1\n"
    joins = poise.edit(save(tmp_path, text)).figures["joins"]
    assert [join["transition_s"] for join in joins] == pytest.approx([0.1, 0.3])


def test_clips_and_segments_that_nothing_plays_are_noted(tmp_path):
    text = HEAD + 'sequence = ["clap"]\n' + CLAP + HIGH + '[clips.greet]\ngesture = "wave"\n'
    assert "no sequence plays [clips.greet], [segments.high]." in hear(tmp_path, text)
    assert not any("plays" in said for said in hear(tmp_path, text.replace('["clap"]', '["clap", "high", "greet"]')))


def test_an_align_of_stretches_that_are_in_place_is_noted(tmp_path):
    """Who stands is in place; who walks on from where he began is not."""
    body = poise.Character.human().skeleton
    save_clip(samples.idle(body, 2.0, 30.0), tmp_path / "a.bvh")
    text = HEAD + 'align = false\nsequence = [{clip = "a", to = 1}, {clip = "a", from = 1}]\n' + FILE
    assert any("'align' changes nothing" in said for said in hear(tmp_path, text))
    save_clip(samples.walk(body, 4.0, 30.0), tmp_path / "a.bvh")
    text = HEAD + 'align = false\nsequence = ["a", "a"]\n' + FILE
    assert not any("'align'" in said for said in hear(tmp_path, text))


def test_a_resampling_of_frames_that_are_there_is_noted(tmp_path):
    save_clip(make_clip(1.75, 40), tmp_path / "a.bvh")
    text = HEAD + 'resample = "slerp"\n' + FILE
    assert any("'resample' changes nothing" in said for said in hear(tmp_path, text))
    assert not any("'resample'" in said for said in hear(tmp_path, text.replace("[clips", "fps = 77\n[clips")))


@pytest.mark.parametrize(("key", "is_noted"), [('kind = "fat"', True), ("mass = 90", True), ("height = 1.6", False)])
def test_what_changes_no_bone_is_noted_where_only_bones_are_written(tmp_path, key, is_noted):
    text = HEAD + CLAP + f"[body]\n{key}\n"
    assert any("changes no bone" in said for said in hear(tmp_path, text)) is is_noted
    assert not any("changes no bone" in said for said in hear(tmp_path, text, "out.glb"))


def test_bones_that_no_clip_takes_are_refused_and_bones_that_nothing_lost_are_noted(tmp_path):
    save_clip(make_clip(1.75, 40), tmp_path / "a.bvh")
    heard = hear(tmp_path, HEAD + FILE, bones="restore")
    assert any("no bone has lost its length" in said for said in heard)
    assert not any("no bone has lost its length" in said for said in hear(tmp_path, HEAD + FILE))
    for text, said in ((FILE + 'bones = "keep"\n', "all files of this recipe say theirs"), (CLAP, "plays no file")):
        done = run("edit", save(tmp_path, HEAD + text), "-o", tmp_path / "new.bvh", "--bones", "restore")
        assert done.code == 2
        assert said in done.err
        assert not (tmp_path / "new.bvh").exists()


def test_the_turn_of_an_offset_turns_the_hand(tmp_path):
    """A hand turned by 20 degrees more about the vertical is so where it is to be; left as it is, it keeps its turn."""
    plain = poise.edit(save(tmp_path, HEAD + CLAP)).clip
    hand = plain.skeleton.index("rightHand")

    def look_at(clip: poise.Clip) -> tuple[np.ndarray, Rotation]:
        pose = clip.pose(1.2)
        places, axes = pose_by_scipy(clip.skeleton, pose.root, pose.rotations)
        return places[hand], Rotation.from_matrix(axes[hand])

    where, before = look_at(plain)
    turned = Rotation.from_euler("y", 20.0, degrees=True) * before
    place = (where + [-0.02, 0.03, 0.0]).tolist()
    at = f'[[offsets]]\njoint = "rightHand"\ntime = 1.2\nplace = {place}\n'
    four = turned.as_quat(scalar_first=True).tolist()
    for turn, wanted in (('"keep"', before), (str(four), turned)):
        found = poise.edit(save(tmp_path, HEAD + CLAP + at + f"turn = {turn}\n")).clip
        assert np.degrees((look_at(found)[1].inv() * wanted).magnitude()) < 1.0
