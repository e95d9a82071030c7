"""USD out, as UsdSkel: a skeleton, its animation and a body that is skinned to it.

Layout: /Character (SkelRoot) holds Skeleton, Motion (SkelAnimation) and Body (Mesh). Metres, Y up, a time code a frame.
USD's joint names are identifiers: blanks, colons and the like become underscores there, and `jointNames` keeps the
names as they are. Needs the extra `usd` (usd-core), which is loaded only when a file is written or measured.
"""

from __future__ import annotations

import importlib.util
import re
import shutil
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from poise.body.geometry.mesh import Mesh
from poise.body.geometry.skin import SkinnedMesh
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError, valid_text
from poise.files.formats.gltf.write import find_skin, stand_on_ground
from poise.files.input import stem_of
from poise.files.output import temporary_folder, write_bytes
from poise.motion.clip import Clip

_COLOR = (0.74, 0.69, 0.62)
_ROOT = "/Character"
_MISSING = "USD needs the library usd-core. Install it: pip install poise[usd]"
_SINGLE_FRAME_RATE = 30.0  # time codes a second of a clip that has one frame


def save_usd(
    clip: Clip,
    path: str | PathLike[str],
    meshes: Mapping[str, Mesh] | SkinnedMesh | None = None,
    name: str | None = None,
) -> None:
    """Write a clip and its body as USD: text for .usda, binary ("crate") for .usdc and .usd.

    meshes  joint name or role -> closed mesh in that joint's frame, metres, or a skin; a lozenge a bone if None
    name    of the character in the file's metadata; the clip's own, or the file's, if None
    """
    pxr = _import_pxr(path)
    suffix = ".usda" if Path(path).suffix.lower() == ".usda" else ".usdc"
    with temporary_folder() as folder:
        written = folder / f"clip{suffix}"
        stage = _build_stage(written, clip, meshes, name or clip.name or stem_of(path))
        try:
            stage.GetRootLayer().Save()
        except pxr.Tf.ErrorException as error:
            raise FileError(
                path, f"cannot be written: {_find_reason(str(error))}. Nothing was changed there."
            ) from error
        write_bytes(path, written.read_bytes())


def _find_reason(said: str) -> str:
    """What USD's library says went wrong first, without where in its code that was."""
    quoted = re.search(r" : '([^']+)'", said)
    return quoted[1].removeprefix("Error occurred writing file: ") if quoted else "USD's library gave no reason"


def read_usd_positions(path: str | PathLike[str]) -> np.ndarray:
    """World positions (F, J, 3) m of the joints in a USD file that Poise wrote, asked from UsdSkel itself."""
    pxr = _import_pxr(path)
    if valid_text(str(path)) != str(path):  # USD's library takes only paths that are text
        with temporary_folder() as folder:
            return read_usd_positions(shutil.copy(path, folder / f"clip{Path(path).suffix}"))
    stage = pxr.Usd.Stage.Open(str(path))
    root = pxr.UsdSkel.Root(stage.GetPrimAtPath(_ROOT))
    skeleton = pxr.UsdSkel.Skeleton(stage.GetPrimAtPath(f"{_ROOT}/Skeleton"))
    cache = pxr.UsdSkel.Cache()
    cache.Populate(root, pxr.Usd.PrimDefaultPredicate)
    query = cache.GetSkelQuery(skeleton)
    times = query.GetAnimQuery().GetJointTransformTimeSamples() or [0.0]
    places = [np.array(query.ComputeJointSkelTransforms(pxr.Usd.TimeCode(t))) for t in times]
    return np.stack(places)[:, :, 3, :3]


def check_pxr(path: str | PathLike[str]) -> None:
    """Refuse to write USD where its library is missing; asked before there is anything to write."""
    if importlib.util.find_spec("pxr") is None:
        raise FileError(path, _MISSING)


def _import_pxr(path: str | PathLike[str]) -> Any:
    try:
        import pxr
        import pxr.Gf
        import pxr.Sdf
        import pxr.Tf
        import pxr.Usd
        import pxr.UsdGeom
        import pxr.UsdSkel
        import pxr.Vt
    except ImportError:
        raise FileError(path, _MISSING) from None
    return pxr


def _build_stage(
    path: Path, clip: Clip, meshes: Mapping[str, Mesh] | SkinnedMesh | None, name: str
) -> Any:  # pxr.Usd.Stage
    import pxr

    skin = find_skin(clip.skeleton, meshes)
    rest, shift = stand_on_ground(clip.skeleton, skin)
    rate = round(clip.fps, 6) if len(clip) > 1 else _SINGLE_FRAME_RATE
    codes = (clip.times - clip.times[0]) * rate
    codes = np.where(np.abs(codes - np.round(codes)) < 1e-3, np.round(codes), codes)
    if np.any(np.diff(codes) <= 0):
        raise InputError("some frames of this clip are too close together for one time code each. Resample it.")
    stage = pxr.Usd.Stage.CreateNew(str(path))
    pxr.UsdGeom.SetStageUpAxis(stage, pxr.UsdGeom.Tokens.y)
    pxr.UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    stage.SetTimeCodesPerSecond(rate)
    stage.SetFramesPerSecond(rate)
    stage.SetStartTimeCode(float(codes[0]))
    stage.SetEndTimeCode(float(codes[-1]))
    root = pxr.UsdSkel.Root.Define(stage, _ROOT)
    root.GetPrim().SetDisplayName(name)
    stage.SetDefaultPrim(root.GetPrim())
    joints = _joint_paths(clip.skeleton)
    skeleton = _add_skeleton(stage, clip.skeleton, joints, rest)
    _add_motion(stage, clip, joints, codes, skeleton)
    _add_body(stage, skin, shift, skeleton, _extent_over_time(clip, skin))
    return stage


def _joint_paths(skeleton: Skeleton) -> list[str]:
    """Each joint as USD names it: the identifiers from the root down to it."""
    import pxr

    taken: set[str] = set()
    paths: list[str] = []
    for joint, parent in zip(skeleton.names, skeleton.parents, strict=True):
        plain = pxr.Tf.MakeValidIdentifier(joint)
        identifier, number = plain, 2
        while identifier in taken:  # unique in the whole skeleton: Blender names bones by them
            identifier, number = f"{plain}_{number}", number + 1
        taken.add(identifier)
        paths.append(identifier if parent < 0 else f"{paths[parent]}/{identifier}")
    return paths


def _add_skeleton(stage: Any, skeleton: Skeleton, joints: Sequence[str], rest: np.ndarray) -> Any:
    import pxr

    prim = pxr.UsdSkel.Skeleton.Define(stage, f"{_ROOT}/Skeleton")
    prim.CreateJointsAttr(list(joints))
    prim.CreateJointNamesAttr(list(skeleton.names))
    local = skeleton.offsets.copy()
    local[0] = rest[0]
    prim.CreateBindTransformsAttr(_to_matrices(rest))
    prim.CreateRestTransformsAttr(_to_matrices(local))
    return prim


def _to_matrices(shifts: np.ndarray) -> Any:
    """Translations (N, 3) as USD's matrices, which have them in their last row."""
    import pxr

    matrices = np.tile(np.eye(4), (len(shifts), 1, 1))
    matrices[:, 3, :3] = shifts
    return pxr.Vt.Matrix4dArray.FromNumpy(matrices)


def _add_motion(stage: Any, clip: Clip, joints: Sequence[str], codes: np.ndarray, skeleton: Any) -> None:
    import pxr

    motion = pxr.UsdSkel.Animation.Define(stage, f"{_ROOT}/Motion")
    motion.CreateJointsAttr(list(joints))
    motion.CreateScalesAttr([pxr.Gf.Vec3h(1.0)] * len(joints))
    translations, rotations = motion.CreateTranslationsAttr(), motion.CreateRotationsAttr()
    places = np.tile(clip.skeleton.offsets, (len(clip), 1, 1)).astype(np.float32)
    if clip.shifts is not None:
        places = (clip.skeleton.offsets + clip.shifts).astype(np.float32)
    places[:, 0] = clip.root
    turns = clip.rotations[..., [1, 2, 3, 0]].astype(np.float32)  # USD's memory has the real part last
    for i, code in enumerate(codes.tolist()):
        translations.Set(pxr.Vt.Vec3fArray.FromNumpy(places[i]), code)
        rotations.Set(pxr.Vt.QuatfArray.FromNumpy(turns[i]), code)
    binding = pxr.UsdSkel.BindingAPI.Apply(skeleton.GetPrim())
    binding.CreateAnimationSourceRel().SetTargets([motion.GetPrim().GetPath()])


def _extent_over_time(clip: Clip, skin: SkinnedMesh) -> np.ndarray:
    """(2, 3) m: a box that holds the body in every frame, joints and as much round them as the body is wide at rest."""
    rest = clip.skeleton.rest_positions()
    reach = float(np.linalg.norm(skin.vertices - rest[skin.joints[:, 0]], axis=1).max())
    return np.stack([clip.positions.min(axis=(0, 1)) - reach, clip.positions.max(axis=(0, 1)) + reach])


def _add_body(stage: Any, skin: SkinnedMesh, shift: np.ndarray, skeleton: Any, extent: np.ndarray) -> None:
    import pxr

    mesh = pxr.UsdGeom.Mesh.Define(stage, f"{_ROOT}/Body")
    points = (skin.vertices + shift).astype(np.float32)
    mesh.CreatePointsAttr(pxr.Vt.Vec3fArray.FromNumpy(points))
    mesh.CreateFaceVertexCountsAttr(pxr.Vt.IntArray.FromNumpy(np.full(len(skin.faces), 3, np.int32)))
    mesh.CreateFaceVertexIndicesAttr(pxr.Vt.IntArray.FromNumpy(skin.faces.ravel().astype(np.int32)))
    mesh.CreateNormalsAttr(pxr.Vt.Vec3fArray.FromNumpy(skin.normals.astype(np.float32)))
    mesh.SetNormalsInterpolation(pxr.UsdGeom.Tokens.vertex)
    mesh.CreateSubdivisionSchemeAttr(pxr.UsdGeom.Tokens.none)
    mesh.CreateDisplayColorAttr([pxr.Gf.Vec3f(*_COLOR)])
    mesh.CreateExtentAttr(pxr.Vt.Vec3fArray.FromNumpy(np.stack([points.min(axis=0), points.max(axis=0)])))
    binding = pxr.UsdSkel.BindingAPI.Apply(mesh.GetPrim())
    binding.CreateSkeletonRel().SetTargets([skeleton.GetPrim().GetPath()])
    binding.CreateGeomBindTransformAttr(pxr.Gf.Matrix4d(1.0))
    joints = np.where(skin.weights > 0, skin.joints, 0)
    indices = pxr.Vt.IntArray.FromNumpy(joints.astype(np.int32).ravel())
    weights = pxr.Vt.FloatArray.FromNumpy(skin.weights.astype(np.float32).ravel())
    binding.CreateJointIndicesPrimvar(False, joints.shape[1]).Set(indices)
    binding.CreateJointWeightsPrimvar(False, joints.shape[1]).Set(weights)
    root = pxr.UsdSkel.Root(stage.GetPrimAtPath(_ROOT))
    root.CreateExtentAttr(pxr.Vt.Vec3fArray.FromNumpy(extent.astype(np.float32)))
