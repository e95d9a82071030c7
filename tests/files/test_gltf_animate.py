"""A motion written onto the user's own character: everything kept, every joint and vertex where the clip has it.

The last tests ask Khronos' validator and Blender; see test_external for what they need.
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.errors import rejects
from helpers.files.gltf import Reference
from helpers.recordings import data_file
from poise.errors import InputError
from poise.files.formats.bvh.clip import read_bvh, save_bvh
from poise.files.formats.gltf.animate import save_on_character
from poise.files.formats.gltf.read import read_gltf, read_gltf_rest
from poise.files.reading.pipeline import interpret
from poise.jobs.shared.metrics import read_written
from poise.motion.clip import Clip
from poise.spatial import rotation
from test_gltf_read import ABOVE, animate, build_rig

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
MODELS = ["gltf/RiggedFigure.glb", "gltf/manny_med_mod.gltf", "vrm/cryptovoxels.vrm"]


def make_motion(path: Path, frames: int = 20, seed: int = 1) -> tuple[Clip, object]:
    """A motion of the body in a file, in metres, and how it was read."""
    reading = interpret(read_gltf_rest(path), scale=0.5)
    rng = np.random.default_rng(seed)
    body = reading.clip
    turns = rotation.exp(np.cumsum(rng.normal(size=(frames, len(body.skeleton), 3)) * 0.1, axis=0))
    root = body.root[0] + np.cumsum(rng.normal(size=(frames, 3)) * 0.05, axis=0)
    return Clip(body.skeleton, np.arange(frames) / 30, root, turns, "dance"), reading


def check_written(path: Path, clip: Clip, reading, atol: float) -> None:
    """Joints by 4x4 matrices on what was written, in the file's own coordinates."""
    reference = Reference(path)
    assert reference.json["animations"][0]["name"] == "dance"
    for f in (0, len(clip) // 2, len(clip) - 1):
        shown = reference.positions(clip.skeleton.names, 0, float(np.float32(clip.times[f])))
        expected = rotation.rotate(rotation.conjugate(reading.frame.world), clip.positions[f]) / reading.scale
        np.testing.assert_allclose(shown, expected, atol=atol)


@pytest.mark.parametrize("above", ABOVE)
@pytest.mark.parametrize("suffix", ["glb", "gltf"])
def test_joints_move_under_any_armature(above, suffix, tmp_path):
    rng = np.random.default_rng(1)
    b, nodes = build_rig(rng, ABOVE[above])
    animate(b, rng, nodes, "CUBICSPLINE", "old")
    source = b.save(tmp_path / f"x.{suffix}")
    clip, reading = make_motion(source)
    save_on_character(clip, reading, tmp_path / "out.glb")
    size = np.ptp(reading.recording.clip.skeleton.rest_positions(), axis=0).max()
    check_written(tmp_path / "out.glb", clip, reading, 5e-6 * size)
    before, after = Reference(source), Reference(tmp_path / "out.glb")
    for key in ("meshes", "skins", "nodes", "scenes"):
        assert after.json[key] == before.json[key]
    assert after.json["animations"][1:] == before.json["animations"]
    np.testing.assert_array_equal(after.skinned(), before.skinned())
    again = read_gltf(tmp_path / "out.glb", "dance")
    np.testing.assert_allclose(again.clip.positions, reading.placement.to_file(clip).positions, atol=5e-6 * size)


@pytest.mark.parametrize("above", ABOVE)
def test_what_was_written_is_read_back_as_the_clip(above, tmp_path):
    """Not the file's own animation, not in its units and axes, and not told from its rest pose."""
    rng = np.random.default_rng(4)
    b, nodes = build_rig(rng, ABOVE[above])
    animate(b, rng, nodes, "LINEAR", "old")
    clip, reading = make_motion(b.save(tmp_path / "x.glb"))
    save_on_character(clip, reading, tmp_path / "out.glb")
    again = read_written(tmp_path / "out.glb", clip, reading)
    size = np.ptp(clip.skeleton.rest_positions(), axis=0).max()
    np.testing.assert_allclose(again.positions, clip.positions, atol=5e-6 * size)
    apart = rotation.multiply(rotation.conjugate(clip.rotations), again.rotations)
    np.testing.assert_allclose(rotation.log(apart), 0.0, atol=1e-5)


def test_new_motion_is_the_first_animation_and_old_ones_keep_their_names(tmp_path):
    rng = np.random.default_rng(2)
    b, nodes = build_rig(rng, {})
    for name in ("walk", "dance", "run"):
        animate(b, rng, nodes, "LINEAR", name)
    clip, reading = make_motion(b.save(tmp_path / "x.glb"))
    save_on_character(clip, reading, tmp_path / "waltz.glb", name="tango")
    assert read_gltf(tmp_path / "waltz.glb").choices == ("tango", "walk", "dance", "run")
    save_on_character(clip, reading, tmp_path / "waltz.glb")  # 'dance' is taken
    assert read_gltf(tmp_path / "waltz.glb").choices == ("waltz", "walk", "dance", "run")
    save_on_character(clip, reading, tmp_path / "walk.glb")  # so are both
    assert read_gltf(tmp_path / "walk.glb").choices == ("walk 2", "walk", "dance", "run")


def test_matrix_joints_several_buffers_and_pictures(tmp_path):
    """What cannot be animated is made so; what lies beside the file is put into it."""
    rng = np.random.default_rng(3)
    b, nodes = build_rig(rng, ABOVE["blender"])
    matrix = np.eye(4)
    matrix[:3, :3], matrix[:3, 3] = rotation.to_matrix(rotation.random(rng)) * 2.0, [1.0, 2.0, 3.0]
    joint = b.json["nodes"][nodes[4]]
    for key in ("rotation", "translation", "scale"):
        joint.pop(key)
    joint["matrix"] = matrix.T.ravel().tolist()
    document = b.document()
    (tmp_path / "a.bin").write_bytes(bytes(b.data))
    (tmp_path / "b.bin").write_bytes(b"12345" + PIXEL)
    (tmp_path / "skin.png").write_bytes(PIXEL)
    document["buffers"] = [
        {"uri": "a.bin", "byteLength": len(b.data)},
        {"uri": "b.bin", "byteLength": 5 + len(PIXEL)},
    ]
    document["bufferViews"].append({"buffer": 1, "byteOffset": 5, "byteLength": len(PIXEL)})
    last = len(document["bufferViews"]) - 1
    document["images"] = [{"uri": "skin.png", "name": "beside"}, {"bufferView": last, "mimeType": "image/png"}]
    document["images"] += [{"uri": "../elsewhere.png"}]
    (tmp_path / "x.gltf").write_text(json.dumps(document))
    clip, reading = make_motion(tmp_path / "x.gltf")
    save_on_character(clip, reading, tmp_path / "out.glb")
    out = Reference(tmp_path / "out.glb")
    for picture in out.json["images"][:2]:
        view = out.json["bufferViews"][picture["bufferView"]]
        assert out.binary[view["byteOffset"] :][: view["byteLength"]] == PIXEL
        assert picture["mimeType"] == "image/png" and "uri" not in picture
    assert out.json["images"][0]["name"] == "beside" and out.json["images"][2] == {"uri": "../elsewhere.png"}
    assert "matrix" not in out.json["nodes"][nodes[4]]
    np.testing.assert_allclose(out.worlds()[nodes[4]], Reference(tmp_path / "x.gltf").worlds()[nodes[4]], atol=1e-6)
    check_written(tmp_path / "out.glb", clip, reading, 1e-5)


def test_a_clip_of_part_of_the_joints_leaves_the_others_at_rest(tmp_path):
    b, _ = build_rig(np.random.default_rng(4), ABOVE["z up"])
    clip, reading = make_motion(b.save(tmp_path / "x.glb"))
    keep = [0, 1, 3, 4]  # joint0, joint1, and what hangs on joint1
    part = clip.skeleton
    parents = [-1, 0, 1, 1]
    smaller = type(part)(tuple(part.names[i] for i in keep), np.array(parents), part.offsets[keep])
    half = Clip(smaller, clip.times, clip.root, clip.rotations[:, keep], "dance")
    save_on_character(half, reading, tmp_path / "out.glb")
    check_written(tmp_path / "out.glb", half, reading, 1e-5)
    still = clip.rotations.copy()
    still[:, [2, 5, 6]] = [1.0, 0.0, 0.0, 0.0]
    check_written(tmp_path / "out.glb", clip.replace(rotations=still), reading, 1e-5)


def test_what_does_not_fit_is_told(tmp_path):
    b, _ = build_rig(np.random.default_rng(5), {})
    source = b.save(tmp_path / "x.glb")
    clip, reading = make_motion(source)
    rejects(lambda: save_on_character(clip, reading, tmp_path / "out.gltf"), "'.gltf'")
    with pytest.raises(InputError, match=r"must hold a VRM character.*Write a \.glb"):
        save_on_character(clip, reading, tmp_path / "out.vrm")
    human = make_human()
    still = Clip(human, [0.0], [[0.0, 1.0, 0.0]], rotation.identity((1, len(human))))
    with pytest.raises(InputError, match=r"no joint of this character.*Retarget"):
        save_on_character(still, source, tmp_path / "out.glb")
    bent = clip.skeleton.offsets.copy()
    bent[3] = -bent[3]
    with pytest.raises(InputError, match=r"bone to 'joint3' rests elsewhere.*retarget"):
        save_on_character(clip.replace(skeleton=clip.skeleton.replace(offsets=bent)), reading, tmp_path / "out.glb")
    save_bvh(still, tmp_path / "x.bvh")
    with pytest.raises(InputError, match="not a glTF or VRM file"):
        save_on_character(still, interpret(read_bvh(tmp_path / "x.bvh")), tmp_path / "out.glb")
    assert not (tmp_path / "out.glb").exists()


@pytest.mark.data
@pytest.mark.parametrize("name", MODELS)
def test_real_models(name, tmp_path):
    clip, reading = make_motion(data_file(name))
    save_on_character(clip, reading, tmp_path / "out.glb")
    check_written(tmp_path / "out.glb", clip, reading, 1e-5)


@pytest.mark.data
def test_a_clip_of_the_same_rig_in_another_file(tmp_path):
    """KayKit keeps motions and bodies apart, with two joints more in the one."""
    body = interpret(read_gltf_rest(data_file("gltf/manny_med_mod.gltf")))
    motion = interpret(read_gltf(data_file("gltf/Med_Simulation.glb"), "Cheering"), scale=body.scale)
    save_on_character(motion.clip, body, tmp_path / "out.glb")
    back = read_gltf(tmp_path / "out.glb").clip
    assert back.name == "Rig_Medium|Cheering"
    place = body.placement
    index = [motion.clip.skeleton.names.index(name) for name in back.skeleton.names]
    expected = place.to_file(motion.clip).positions[:, index]
    np.testing.assert_allclose(back.positions, expected, atol=1e-4)


@pytest.mark.data
@pytest.mark.parametrize("name", MODELS)
def test_the_validator_finds_no_more_than_in_the_source(name, tmp_path):
    folder, node = os.environ.get("POISE_GLTF_VALIDATOR"), shutil.which("node")
    if not folder or not node:
        pytest.skip("no glTF validator: set POISE_GLTF_VALIDATOR, and have node")
    script = Path(__file__).parents[1] / "helpers" / "external" / "validate_gltf.mjs"
    source, out = data_file(name), tmp_path / "out.glb"
    clip, reading = make_motion(source)
    save_on_character(clip, reading, out)
    done = subprocess.run(
        [node, str(script), folder, str(source), str(out)], capture_output=True, text=True, timeout=120
    )
    reports = json.loads(done.stdout)
    for kind in ("errors", "warnings"):
        assert reports[str(out)][kind] <= reports[str(source)][kind], reports[str(out)]["messages"]


@pytest.mark.data
@pytest.mark.parametrize("name", MODELS)
def test_blender_shows_every_joint_within_a_millimetre(name, tmp_path):
    python = os.environ.get("POISE_BPY_PYTHON")
    if not python:
        pytest.skip("no Blender: set POISE_BPY_PYTHON to a Python with bpy")
    source, out = data_file(name), tmp_path / "out.glb"
    clip, reading = make_motion(source)
    save_on_character(clip, reading, out)
    script = Path(__file__).parents[1] / "helpers" / "external" / "blender_joints.py"
    frames = [0, 7, 19]
    command = [python, str(script), str(out), repr(1 / 30), *map(str, frames)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]
    shown = json.loads(next(line for line in done.stdout.splitlines() if line.startswith("JOINTS "))[7:])
    own = reading.placement.to_file(clip)
    known = [i for i, joint in enumerate(shown["names"]) if joint in own.skeleton.names]
    skin = Reference(source).json["skins"][0]["joints"]
    assert len(known) >= len(skin)
    index = [own.skeleton.names.index(shown["names"][i]) for i in known]
    np.testing.assert_allclose(np.array(shown["frames"])[:, known], own.positions[frames][:, index], atol=1e-3)
