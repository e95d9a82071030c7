"""USD out: what UsdSkel computes from the file, and what Blender shows of it."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from helpers.bodies import make_human
from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from helpers.external.blender import check_shown
from poise.body.geometry.mannequin import build_mannequin
from poise.body.role_finding.guess import with_roles
from poise.body.skeleton import Skeleton
from poise.errors import FileError
from poise.files.formats.usd import read_usd_positions, save_usd
from poise.files.registry import save_clip
from poise.motion.clip import Clip
from poise.motion.samples import walk
from poise.spatial import rotation


def walking() -> Clip:
    return walk(with_roles(make_human(1.75)), 4.0)


CLIPS = {
    "walk": walking,
    "random": lambda: random_clip(np.random.default_rng(2)),
    "gimbal lock": locked_clip,
    "still": lambda: random_clip(np.random.default_rng(3), frames=1),
    "slow": lambda: random_clip(np.random.default_rng(4)).replace(times=np.arange(20) * 0.5),
}


@pytest.fixture(autouse=True)
def usd() -> None:
    pytest.importorskip("pxr", reason="no USD: pip install poise[usd]")


@pytest.mark.parametrize("suffix", ["usd", "usda", "usdc"])
@pytest.mark.parametrize("name", CLIPS)
def test_usdskel_computes_the_same_joints(name: str, suffix: str, tmp_path: Path) -> None:
    clip = CLIPS[name]()
    path = tmp_path / f"x.{suffix}"
    save_clip(clip, path)
    np.testing.assert_allclose(read_usd_positions(path), clip.positions, atol=5e-6)
    first = path.read_bytes()
    assert first.startswith(b"#usda" if suffix == "usda" else b"PXR-USDC")
    save_clip(clip, path)
    assert path.read_bytes() == first


def test_the_stage_says_metres_y_up_and_the_rate(tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom, UsdSkel

    clip = walking()
    meshes = build_mannequin(clip.skeleton, 70.0)
    save_usd(clip, tmp_path / "x.usd", meshes)
    stage = Usd.Stage.Open(str(tmp_path / "x.usd"))
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1.0
    assert stage.GetTimeCodesPerSecond() == pytest.approx(clip.fps)
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, len(clip) - 1)
    assert stage.GetDefaultPrim().GetPath() == "/Character"
    # The skin as UsdSkel itself deforms it, against Poise's own linear blend.
    root = UsdSkel.Root(stage.GetDefaultPrim())
    cache = UsdSkel.Cache()
    cache.Populate(root, Usd.PrimDefaultPredicate)
    skeleton = UsdSkel.Skeleton(stage.GetPrimAtPath("/Character/Skeleton"))
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/Character/Body"))
    query = cache.GetSkinningQuery(mesh.GetPrim())
    transforms = cache.GetSkelQuery(skeleton).ComputeSkinningTransforms(Usd.TimeCode(40))
    points = mesh.GetPointsAttr().Get()
    assert query.ComputeSkinnedPoints(transforms, points, Usd.TimeCode(40))
    from poise.files.formats.gltf.write import find_skin

    skin = find_skin(clip.skeleton, meshes)
    wanted = skin.pose(clip.skeleton, clip.positions[40], clip.world[1][40])[0]
    np.testing.assert_allclose(np.array(points), wanted, atol=1e-5)


def test_names_that_usd_does_not_know_are_kept_beside(tmp_path: Path) -> None:
    from pxr import Usd, UsdSkel

    names = ("mixamorig:Hips", "mixamorig_Hips", "Left arm", "左足", "3")
    skeleton = Skeleton(names, np.array([-1, 0, 1, 1, 0]), np.ones((5, 3)) * 0.1)
    clip = Clip(skeleton, [0.0, 0.1], np.zeros((2, 3)), rotation.random(np.random.default_rng(0), (2, 5)))
    save_usd(clip, tmp_path / "x.usda")
    stage = Usd.Stage.Open(str(tmp_path / "x.usda"))
    prim = UsdSkel.Skeleton(stage.GetPrimAtPath("/Character/Skeleton"))
    assert tuple(prim.GetJointNamesAttr().Get()) == names
    ends = [path.rpartition("/")[2] for path in prim.GetJointsAttr().Get()]
    assert len(set(ends)) == 5
    assert UsdSkel.Topology(prim.GetJointsAttr().Get()).Validate()[0]
    np.testing.assert_allclose(read_usd_positions(tmp_path / "x.usda"), clip.positions, atol=1e-6)


def test_without_the_library_a_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pxr", None)
    rejects(lambda: save_clip(locked_clip(), tmp_path / "x.usd"), "poise[usd]", error=FileError)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", CLIPS)
def test_blender_shows_every_joint_within_a_millimetre(name: str, tmp_path: Path) -> None:
    clip = CLIPS[name]()
    save_clip(clip, tmp_path / "x.usdc")
    check_shown(tmp_path / "x.usdc", clip)
