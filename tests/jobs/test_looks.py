"""A character through every command: all of its file but the motion stays as it was, and the new motion comes first."""

from __future__ import annotations

import copy
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import poise
from helpers.commands import run
from helpers.external.blender import check_shown
from helpers.files.dressed import (
    OLD,
    dress,
    find_changes,
    find_node,
    make_idle,
    make_png,
    save_beside,
    save_dressed,
    split,
)
from helpers.files.gltf import Reference, pack
from helpers.files.gltf_bodies import SINGLE, build
from helpers.recordings import data_file
from poise.body.reshape import lengthen
from poise.files.formats.bvh.clip import save_bvh
from poise.files.formats.gltf.read import read_gltf_rest
from poise.files.reading.pipeline import interpret
from poise.files.writing.writing import find_model, write_result
from poise.motion.clip import Clip
from poise.puppetry.hands_file import save_hands
from poise.spatial import rotation
from test_puppet_job import wave

# Command -> its words; {hero} is the character's file, {clip} a motion of another body, {out} what is written.
COMMANDS = {
    "mix": "mix {hero} -o {out}",
    "mix --character": "mix {clip} --character {hero} -o {out}",
    "track": "track {hero} -o {out}",
    "track --character": "track {clip} --character {hero} -o {out}",
    "lift": "lift {hero} -o {out}",
    "lift --character": "lift {clip} --character {hero} -o {out}",
    "balance": "balance {hero} -o {out}",
    "balance --character": "balance {clip} --character {hero} -o {out}",
    "walk": "walk --steps 1 --character {hero} -o {out}",
    "pose": "pose --character {hero} -o {out}",
    "pose --start": "pose --start {hero} -o {out}",
    "retarget": "retarget {clip} {hero} -o {out}",
    "convert": "convert {hero} {out}",
    "convert --keep": "convert {hero} {out} --keep --end 0.5",
    "convert --character": "convert {clip} {out} --character {hero}",
}
HEROES = {"hero.glb": None, "hero0.vrm": 0, "hero1.vrm": 1}
QUICK = ("mix", "mix --character", "track --character", "lift", "walk", "retarget")


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("looks")
    for name, vrm in HEROES.items():
        save_dressed(folder / name, vrm)
    save_bvh(make_idle(1.6), folder / "clip.bvh")
    return folder


def do(words: str, hero: Path, out: Path) -> dict:
    """Run a command on a character; its figures, after a look at its notes."""
    filled = [word.format(hero=hero, clip=hero.parent / "clip.bvh", out=out) for word in words.split()]
    done = run(*filled, "--json")
    assert done.code == 0, done.err
    figures = json.loads(done.out)
    assert [note for note in figures["notes"] if "first animation" in note and note in done.err]
    return figures


@pytest.mark.parametrize("command", COMMANDS)
def test_command_keeps_all_of_a_character_but_the_motion(command, place, tmp_path):
    hero, out = place / "hero.glb", tmp_path / "dance.glb"
    do(COMMANDS[command], hero, out)
    assert find_changes(hero, out) == []
    names = [animation.get("name") for animation in split(out)[0]["animations"]]
    assert names[1:] == OLD and names[0] in ("dance", "walk", "pose", "clip")


@pytest.mark.parametrize("hero", ["hero0.vrm", "hero1.vrm"])
@pytest.mark.parametrize("command", QUICK)
def test_vrm_goes_through_commands_as_vrm(command, hero, place, tmp_path):
    out = tmp_path / "dance.vrm"
    do(COMMANDS[command], place / hero, out)
    assert find_changes(place / hero, out) == []
    found = poise.load_clip(out)
    assert found.skeleton.roles["leftFoot"] == "leftFoot"


def test_edit_keeps_a_character(place, tmp_path):
    for name, text in {
        "own": f'format = "poise-edit 1"\n[clips.a]\nfile = "{place}/hero.glb"\n[[sequence]]\nclip = "a"\n',
        "other": f'format = "poise-edit 1"\n[clips.a]\nfile = "{place}/clip.bvh"\n[[sequence]]\nclip = "a"\n'
        f'[actors.anna]\nbody = {{file = "{place}/hero.glb"}}\n',
    }.items():
        recipe, out = tmp_path / f"{name}.toml", tmp_path / f"{name}.glb"
        recipe.write_text(text)
        found = poise.edit(recipe, out)
        assert find_changes(place / "hero.glb", out) == []
        assert found.figures["max_joint_error_m"] < 1e-4
        assert len(found.figures["notes"]) == 1


def test_puppet_keeps_a_character(place, tmp_path):
    save_hands(wave(0.5), tmp_path / "legs.hands")
    hero, out = place / "hero.glb", tmp_path / "dance.glb"
    found = poise.puppet(f"legs={tmp_path}/legs.hands", outputs=[out], fps=30.0, character=hero)
    assert find_changes(hero, out) == [] and len(found.figures["notes"]) == 1


@pytest.mark.parametrize("suffix", ["glb", "vrm"])
def test_take_keeps_a_character_that_was_loaded(suffix, place, tmp_path):
    hero = place / "hero1.vrm"
    character = poise.load_character(hero)
    stage = poise.Stage()
    stage.add(character, "anna").drive("legs", poise.Balance())
    take, out = stage.run(0.1), tmp_path / f"dance.{suffix}"
    take.save(out)
    assert find_changes(hero, out) == []
    written, meant = poise.load_clip(out), take.clip()
    order = [meant.skeleton.index(name) for name in written.skeleton.names]
    np.testing.assert_allclose(written.positions, meant.positions[:, order], atol=1e-4)


def test_given_character_is_written_as_its_file_is(place, tmp_path):
    hero, out = place / "hero.glb", tmp_path / "dance.glb"
    character = poise.load_character(hero)
    poise.retarget(place / "clip.bvh", character, output=out)
    assert find_changes(hero, out) == []
    poise.mix(place / "clip.bvh", character=character, outputs=[tmp_path / "mixed.glb"])
    assert find_changes(hero, tmp_path / "mixed.glb") == []


def test_body_is_read_without_a_word_about_its_clips(place, tmp_path):
    said = run("retarget", place / "clip.bvh", place / "hero.glb", "-o", tmp_path / "dance.glb").err
    assert "first animation" in said and "--clip" not in said


def test_reshaped_character_is_no_longer_its_model(place, tmp_path):
    longer = lengthen(poise.load_character(place / "hero.glb"), 1.2, "leftLowerLeg", "rightLowerLeg")
    stage = poise.Stage()
    stage.add(longer, "anna").drive("legs", poise.Balance())
    take = stage.run(0.1)
    take.save(tmp_path / "long.glb")
    assert "materials" in find_changes(place / "hero.glb", tmp_path / "long.glb")
    with pytest.raises(poise.InputError, match="must hold a VRM character"):
        take.save(tmp_path / "long.vrm")


def test_buffers_and_pictures_beside_a_gltf_are_put_into_the_result(place, tmp_path):
    hero = save_beside(dress(), tmp_path / "hero.gltf")
    shutil.copy(place / "clip.bvh", tmp_path)
    out = tmp_path / "out" / "dance.glb"
    out.parent.mkdir()
    do(COMMANDS["mix"], hero, out)
    before, (after, data) = json.loads(hero.read_text()), split(out)
    for key in ("asset", "materials", "textures", "samplers", "meshes", "skins", "nodes", "extensions", "extras"):
        assert json.dumps(after[key]) == json.dumps(before[key])
    assert after["accessors"][: len(before["accessors"])] == before["accessors"]
    sources = [(tmp_path / buffer["uri"]).read_bytes() for buffer in before["buffers"]]
    for old, new in zip(before["bufferViews"], after["bufferViews"], strict=False):
        whole = sources[old["buffer"]][old.get("byteOffset", 0) :][: old["byteLength"]]
        assert data[new["byteOffset"] :][: new["byteLength"]] == whole
    for picture, expected in zip(after["images"], (make_png(), make_png(4)), strict=True):
        view = after["bufferViews"][picture["bufferView"]]
        assert data[view["byteOffset"] :][: view["byteLength"]] == expected
    assert len(after["buffers"]) == 1 and not any("uri" in picture for picture in after["images"])


def pack_meshopt(b) -> None:
    """The vertices compressed, as gltfpack does it: the view is of a buffer without data."""
    vertices = b.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
    view = b.json["bufferViews"][b.json["accessors"][vertices]["bufferView"]]
    packed = {key: view[key] for key in ("buffer", "byteOffset", "byteLength")}
    view["extensions"] = {"EXT_meshopt_compression": {**packed, "byteStride": 12, "mode": "ATTRIBUTES", "count": 4}}
    view["buffer"], view["byteOffset"] = 1, 0
    b.json["extensionsRequired"].append("EXT_meshopt_compression")


def pack_draco(b) -> None:
    primitive = b.json["meshes"][0]["primitives"][0]
    packed = {"bufferView": b.view(b"draco" * 7), "attributes": {"POSITION": 0}}
    primitive["extensions"] = {"KHR_draco_mesh_compression": packed}
    for accessor in {*primitive["attributes"].values(), primitive["indices"]}:
        b.json["accessors"][accessor].pop("bufferView", None)
    b.json["extensionsRequired"].append("KHR_draco_mesh_compression")


@pytest.mark.parametrize("compress", [pack_meshopt, pack_draco])
def test_compressed_mesh_survives_where_its_shape_is_not_needed(compress, place, tmp_path):
    b = dress()
    compress(b)
    document = b.document()
    if compress is pack_meshopt:
        spare = {"byteLength": 10**6, "extensions": {"EXT_meshopt_compression": {"fallback": True}}}
        document["buffers"].append(spare)
    hero, out = tmp_path / "hero.glb", tmp_path / "dance.glb"
    hero.write_bytes(pack(document, bytes(b.data)))
    shutil.copy(place / "clip.bvh", tmp_path)
    for command in ("mix", "retarget"):
        do(COMMANDS[command], hero, out)
        after, data = split(out)
        for key in ("meshes", "nodes", "materials", "extensionsRequired"):
            assert json.dumps(after[key]) == json.dumps(document[key])
        assert after["bufferViews"][: len(document["bufferViews"])] == document["bufferViews"]
        assert after["buffers"][1:] == document["buffers"][1:] and data.startswith(bytes(b.data))
    done = run("mix", tmp_path / "clip.bvh", "--character", hero, "-o", tmp_path / "no.glb")
    assert done.code == 2 and "compressed" in done.err and "no mesh" not in done.err


def test_matrix_of_an_animated_node_becomes_its_parts_and_nothing_else_changes(tmp_path):
    b = dress()
    for name in ("leftFoot", "hips"):
        node = b.json["nodes"][find_node(b, name)]
        matrix = np.eye(4)
        matrix[:3, 3] = node.pop("translation")
        node["matrix"] = matrix.T.ravel().tolist()
    for animation in b.json["animations"]:  # glTF lets no matrix be animated
        animation["channels"] = [
            each for each in animation["channels"] if "matrix" not in b.json["nodes"][each["target"]["node"]]
        ]
    hero, out = b.save(tmp_path / "hero.glb"), tmp_path / "dance.glb"
    do(COMMANDS["convert"], hero, out)
    assert find_changes(hero, out) == ["nodes"]
    before, after = split(hero)[0]["nodes"], split(out)[0]["nodes"]
    changed = [i for i, node in enumerate(before) if node != after[i]]
    assert changed == sorted(find_node(b, name) for name in ("leftFoot", "hips"))
    np.testing.assert_allclose(Reference(out).worlds(), Reference(hero).worlds(), atol=1e-7)


@pytest.mark.parametrize("arrangement", SINGLE)
def test_any_arrangement_of_nodes_is_kept(arrangement, tmp_path):
    """Rigid parts, several skins, nodes between joints, feet outside of the skin, armatures that turn and scale."""
    b, _ = build(SINGLE[arrangement])
    hero, out = b.save(tmp_path / "hero.glb"), tmp_path / "dance.glb"
    reading = interpret(read_gltf_rest(hero))
    body = reading.clip
    turns = rotation.exp(0.2 * np.random.default_rng(1).normal(size=(3, len(body.skeleton), 3)))
    clip = Clip(body.skeleton, np.arange(3) / 30, np.tile(body.root[0], (3, 1)), turns, "dance")
    written = write_result(clip, reading, out)
    assert written.error < 1e-4
    changed = find_changes(hero, out)
    assert changed in ([], ["nodes"])
    after = split(out)[0]["nodes"]
    for i, node in enumerate(b.json["nodes"]):
        assert after[i] == node or ("matrix" in node and after[i].get("name") == node["name"])
    np.testing.assert_allclose(Reference(out).worlds(), Reference(hero).worlds(), atol=1e-5)


def strip_meshes(b) -> None:
    """Leave the motion only."""
    for key in ("meshes", "skins", "materials", "textures", "images", "samplers"):
        b.json.pop(key, None)
    for node in b.json["nodes"]:
        node.pop("mesh", None)
        node.pop("skin", None)
    b.json["animations"] = [each for each in b.json["animations"] if each.get("name") in ("idle", "nod")]


def test_file_without_a_mesh_keeps_its_nodes_and_is_given_a_mannequin(tmp_path):
    b = dress()
    strip_meshes(b)
    turn = [0.0, np.sin(0.2), 0.0, np.cos(0.2)]
    b.json["nodes"][0] |= {"rotation": [-np.sqrt(0.5), 0, 0, np.sqrt(0.5)], "scale": [2.0, 2.0, 2.0]}
    b.json["nodes"][find_node(b, "leftUpperArm")]["rotation"] = turn
    hero, out = b.save(tmp_path / "hero.glb"), tmp_path / "dance.glb"
    reading = interpret(read_gltf_rest(hero))
    body = reading.clip
    turns = rotation.exp(0.3 * np.random.default_rng(2).normal(size=(3, len(body.skeleton), 3)))
    clip = Clip(body.skeleton, np.arange(3) / 30, np.tile(body.root[0], (3, 1)), turns, "dance")
    write_result(clip, reading, out, mass=70.0)
    before, after = split(hero)[0], split(out)[0]
    assert after["nodes"][: len(before["nodes"])] == before["nodes"]
    assert after["animations"][1:] == before["animations"]
    assert after["extensions"] == before["extensions"]
    from poise.body.geometry.mannequin import build_mannequin
    from poise.files.formats.gltf.write import find_skin

    skin = find_skin(clip.skeleton, build_mannequin(clip.skeleton, 70.0))
    positions, orientations = clip.world
    for f in range(3):
        points, _ = skin.pose(clip.skeleton, positions[f], orientations[f])
        expected = rotation.rotate(rotation.conjugate(reading.frame.world), points) / reading.scale
        np.testing.assert_allclose(Reference(out).skinned(0, f / 30), expected, atol=1e-5)


def test_convert_writes_a_model_of_other_units_in_metres(tmp_path):
    b = dress()
    b.json["nodes"][0]["scale"] = [100.0, 100.0, 100.0]
    hero, out = b.save(tmp_path / "hero.glb"), tmp_path / "dance.glb"
    figures = do(COMMANDS["convert"], hero, out)
    assert figures["max_joint_error_m"] < 1e-4
    before, after = split(hero)[0], split(out)[0]
    assert after["nodes"][: len(before["nodes"])] == before["nodes"]
    assert find_changes(hero, out) == ["nodes", "scenes"]
    assert np.ptp(Reference(out).skinned(0)[:, 1]) == pytest.approx(1.75, abs=0.1)
    assert find_model(interpret(read_gltf_rest(out)), out) is not None


def test_vrm_is_written_only_from_a_vrm(place, tmp_path):
    for words in (f"mix {place}/clip.bvh", f"convert {place}/hero.glb", f"walk --steps 1 --character {place}/hero.glb"):
        option = "" if words.startswith("convert") else "-o "
        done = run(*f"{words} {option}{tmp_path}/out.vrm".split())
        assert done.code == 2 and "must hold a VRM character" in done.err and "Write a .glb" in done.err
    with pytest.raises(poise.InputError, match="must hold a VRM character"):
        poise.save_clip(make_idle(), tmp_path / "out.vrm")
    assert not list(tmp_path.iterdir())


def test_second_run_on_a_result_puts_its_motion_before_the_first(place, tmp_path):
    do(COMMANDS["mix"], place / "hero.glb", tmp_path / "one.glb")
    do(COMMANDS["convert"], tmp_path / "one.glb", tmp_path / "two.glb")
    names = [animation.get("name") for animation in split(tmp_path / "two.glb")[0]["animations"]]
    assert names == ["two", "one", *OLD]


def test_forces_strength_and_info_take_a_character_of_other_bones(place, tmp_path):
    for words in (
        f"forces {place}/clip.bvh --character {place}/hero1.vrm -o {tmp_path}/forces.csv",
        f"info {place}/clip.bvh --character {place}/hero1.vrm",
        f"strength find {place}/clip.bvh --character {place}/hero1.vrm",
    ):
        done = run(*words.split(), "--json")
        assert done.code == 0, done.err


def test_old_document_is_not_changed_in_memory(place, tmp_path):
    reading = interpret(read_gltf_rest(place / "hero.glb"))
    before = copy.deepcopy(reading.recording.source.document.top.plain)
    write_result(reading.clip, reading, tmp_path / "a.glb")
    write_result(reading.clip, reading, tmp_path / "b.glb")
    assert reading.recording.source.document.top.plain == before
    assert len(split(tmp_path / "b.glb")[0]["animations"]) == 1 + len(OLD)


@pytest.mark.data
@pytest.mark.parametrize("name", ["vrm/cryptovoxels.vrm", "gltf/RiggedFigure.glb"])
@pytest.mark.parametrize("command", ["mix --character", "track --character", "walk", "retarget"])
def test_real_models_keep_their_looks(command, name, place, tmp_path):
    hero, out = data_file(name), tmp_path / "dance.glb"
    words = [word.format(hero=hero, clip=place / "clip.bvh", out=out) for word in COMMANDS[command].split()]
    done = run(*words, "--json")
    assert done.code == 0, done.err
    assert set(find_changes(hero, out)) <= {"nodes"}
    np.testing.assert_allclose(Reference(out).worlds(), Reference(hero).worlds(), atol=1e-5)


@pytest.mark.parametrize("hero", HEROES)
def test_validator_finds_no_more_than_in_the_source(hero, place, tmp_path):
    folder, node = os.environ.get("POISE_GLTF_VALIDATOR"), shutil.which("node")
    if not folder or not node:
        pytest.skip("no glTF validator: set POISE_GLTF_VALIDATOR, and have node")
    script = Path(__file__).parents[1] / "helpers" / "external" / "validate_gltf.mjs"
    for i, name in enumerate((*QUICK, "convert")):
        do(COMMANDS[name], place / hero, tmp_path / f"{i}.glb")
    outs = sorted(map(str, tmp_path.glob("*.glb")))
    command = [node, str(script), folder, str(place / hero), *outs]
    reports = json.loads(subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout)
    for out in outs:
        for kind in ("errors", "warnings", "infos", "hints"):
            assert reports[out][kind] <= reports[str(place / hero)][kind], reports[out]["messages"]


def test_blender_shows_a_character_where_retarget_put_it(place, tmp_path):
    b = dress()
    b.json["extensionsRequired"].remove("ACME_hair")  # which Blender does not know
    del b.json["animations"][3]  # glasses that are animated are a joint here and an object there
    hero, out = b.save(tmp_path / "hero.glb"), tmp_path / "dance.glb"
    shutil.copy(place / "clip.bvh", tmp_path)
    do(COMMANDS["retarget"], hero, out)
    check_shown(out, poise.retarget(place / "clip.bvh", hero, ground=0.0))
