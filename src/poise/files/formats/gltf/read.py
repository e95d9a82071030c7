"""glTF 2.0 in: .glb, .gltf, .vrm and .vrma.

A clip is in glTF's world space: whatever stands above the joints, armatures with a rotation or a scale of 100 and
matrix nodes, is folded in. The specification has metres and Y up. Many files are in other units all the same: where
no person fits into metres, `interpret` finds the unit and says so.

The rest pose is that of the nodes, not the one that the mesh was bound in: where they differ, a warning says so.

What is unusual about a file and was dealt with is told by topic, a sentence each.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from os import PathLike

import numpy as np

from poise.body.role_finding.guess import find_roles
from poise.body.roles import ROLES
from poise.body.skeleton import Skeleton
from poise.errors import FileError, InputError, unknown_name
from poise.files.formats.gltf.document import Document, read_document
from poise.files.formats.gltf.entry import JsonObject
from poise.files.formats.gltf.nodes import Nodes, make_unique, read_nodes
from poise.files.formats.gltf.pose import Tracks, compute_poses, compute_shifts, settle_nodes, to_local
from poise.files.formats.gltf.rig import Rig, find_rig
from poise.files.formats.gltf.skin import check_mesh, measure_bind_turn
from poise.files.formats.gltf.tracks import FrameTimes, choose_frames, read_tracks
from poise.files.formats.gltf.vrm import Humanoid, read_humanoid
from poise.files.input import stem_of
from poise.files.reading.recording import Recording
from poise.findings import Finding, list_names
from poise.motion.clip import Clip
from poise.spatial import rotation

MAX_FRAMES = 1_000_000
MAX_JOINT_FRAMES = 8_000_000  # frames times joints
_BOUND_ELSEWHERE = np.radians(10.0)  # between bind and rest pose: worth a word


@dataclass(frozen=True, eq=False)
class GltfSource:
    """What a glTF file is made of, for writers that keep it: the document, its nodes at rest and which are joints."""

    document: Document
    nodes: Nodes
    rig: Rig


def read_gltf(path: str | PathLike[str], clip: str | None = None) -> Recording:
    """The motion and the skin in a glTF, GLB, VRM or VRMA file, as they stand there.

    clip  which animation, by name, by what follows the `|` in its name, or by number from 0; the first if None. A file
          without animations gives one frame at rest.
    """
    document = read_document(path)
    return _read(document, _choose(document, clip))


def read_gltf_rest(path: str | PathLike[str]) -> Recording:
    """The body in a glTF, GLB or VRM file at rest, in one frame, without regard to its animations."""
    return _read(read_document(path), None)


def _read(document: Document, animation: int | None) -> Recording:
    humanoid = read_humanoid(document)
    nodes = read_nodes(document)
    rig = find_rig(document, nodes, humanoid)
    try:
        with np.errstate(over="ignore", invalid="ignore"):  # a clip of numbers that are none is refused below
            return _build_recording(document, nodes, rig, humanoid, animation)
    except FileError:
        raise
    except InputError as error:
        raise FileError(document.path, str(error)) from error
    except np.linalg.LinAlgError as error:
        raise FileError(document.path, f"its transforms have no meaning: {error}.") from error


def list_clips(document: Document) -> tuple[str, ...]:
    """The names of a document's animations, unlike each other; those without a name are called `clip` and a number."""
    return make_unique([animation.text("name") or f"clip{i}" for i, animation in enumerate(document.animations)])


def _choose(document: Document, clip: str | None) -> int | None:
    """The number of the wanted animation, None where there are none and none is asked for."""
    choices = list_clips(document)
    if clip is None:
        return 0 if choices else None
    wanted = str(clip)
    if wanted in choices:
        return choices.index(wanted)
    short = [i for i, name in enumerate(choices) if name.rpartition("|")[2] == wanted]
    if len(short) == 1:
        return short[0]
    if wanted.isdecimal() and len(wanted) < 9 and int(wanted) < len(choices):
        return int(wanted)
    raise unknown_name("clip", wanted, choices, str(document.path))


def _build_recording(
    document: Document, nodes: Nodes, rig: Rig, humanoid: Humanoid | None, animation: int | None
) -> Recording:
    choices = list_clips(document)
    names = tuple(nodes.names[joint] for joint in rig.joints)
    roles = _find_stated_roles(document, nodes, rig, humanoid)
    own = {*rig.above, *rig.joints}
    tracks = {} if animation is None else read_tracks(document, document.animations[animation], own)
    most = min(MAX_FRAMES, MAX_JOINT_FRAMES // len(rig.joints))
    try:
        frames = choose_frames(tracks.values(), most)
    except ValueError as error:
        raise FileError(document.path, f"clip {animation} is too long to be read: {error}.") from error
    anchor = _find_anchor(rig, names, roles)
    settled, changing = settle_nodes(nodes, rig, tracks, frames.at, anchor)
    poses = compute_poses(settled, rig, tracks, frames.at)
    rest = settled.world[list(rig.joints), :3, 3]
    offsets = rest - np.where(rig.parents[:, None] >= 0, rest[rig.parents], 0.0)
    skeleton = Skeleton(names, rig.parents, offsets, _read_tips(document, rig), roles)
    name = choices[animation] if animation is not None else stem_of(document.path)
    shifts = compute_shifts(rig, offsets, poses)
    motion = Clip(skeleton, frames.times, poses.positions[:, 0], to_local(rig, poses.turns), name, shifts)
    skin, odd = check_mesh(document, settled, rig)
    findings = [*rig.findings, *changing, *odd]
    bound = measure_bind_turn(document, settled, rig) if skin is not None else 0.0
    if bound > _BOUND_ELSEWHERE:
        message = (
            f"the mesh was bound in another pose than the nodes rest in, by up to {np.degrees(bound):.0f} degrees; "
            "the nodes' pose is taken as the rest pose."
        )
        findings.append(Finding("bind pose", message, bound))
    findings += list_remarks(document, nodes, rig, tracks, frames, animation)
    return Recording(
        motion,
        humanoid.format if humanoid else "glTF",
        str(document.path),
        choices or (name,),
        unit=1.0,
        up="Y",
        roles=roles,
        has_rate=frames.rate is not None,
        skin=skin,
        source=GltfSource(document, nodes, rig),
        findings=tuple(findings),
    )


def _find_stated_roles(document: Document, nodes: Nodes, rig: Rig, humanoid: Humanoid | None) -> dict[str, str]:
    """Role -> joint name, as a VRM or a file of Poise's own says."""
    joints = set(rig.joints)
    if humanoid is not None:
        return {role: nodes.names[node] for role, node in humanoid.nodes.items() if node in joints}
    roles: dict[str, str] = {}
    if not _is_own(document):
        return roles
    for joint in rig.joints:
        extras = document.nodes[joint].plain.get("extras")
        role = extras.get("role") if isinstance(extras, dict) else None
        if isinstance(role, str) and role in ROLES:
            roles.setdefault(role, nodes.names[joint])
    return roles


def _read_tips(document: Document, rig: Rig) -> np.ndarray:
    """(J, 3) end sites that Poise keeps beside its joints; other files have none."""
    tips = np.full((len(rig.joints), 3), np.nan)
    if _is_own(document):
        for i, joint in enumerate(rig.joints):
            node = document.nodes[joint]
            if isinstance(node.plain.get("extras"), dict):
                tip = JsonObject(document.path, f"'extras' of {node.what}", node.plain["extras"]).numbers("tip", 3)
                tips[i] = np.nan if tip is None else tip
    return tips


def _is_own(document: Document) -> bool:
    asset = document.top.entry("asset")
    return asset is not None and asset.text("generator") == "Poise"


def _find_anchor(rig: Rig, names: tuple[str, ...], roles: dict[str, str]) -> int:
    """The joint above which there is no body: the hips, else the first that has more than one child."""
    tree = Skeleton(names, rig.parents, np.zeros((len(names), 3)))
    hips = roles.get("hips") or find_roles(tree).get("hips")
    if hips is not None:
        return names.index(hips)
    children = np.bincount(rig.parents[1:], minlength=len(names))
    joint = 0
    while children[joint] == 1:
        joint = int(np.flatnonzero(rig.parents == joint)[0])
    return joint if children[joint] else 0


_TURNED = np.radians(1.0)
_SCALED = 1e-3
_FEW_KEYS = 0.5  # of the frames


def list_remarks(
    document: Document, nodes: Nodes, rig: Rig, tracks: Tracks, frames: FrameTimes, animation: int | None
) -> list[Finding]:
    """Remarks on the nodes above the joints, rest axes, names, keys and what the file depends on."""
    return [
        *_describe_above(document, nodes, rig),
        *_describe_rest(nodes, rig),
        *_describe_names(document, nodes, rig, animation),
        *_describe_keys(tracks, frames),
        *_describe_buffers(document),
    ]


def _describe_above(document: Document, nodes: Nodes, rig: Rig) -> Iterator[Finding]:
    for node in rig.above:
        turn = float(rotation.angle(rotation.identity(), nodes.rotations[node]))
        scale = nodes.scales[node]
        effects = []
        if turn > _TURNED:
            effects.append(f"turns them by {np.degrees(turn):.0f} degrees")
        if np.abs(scale - 1.0).max() > _SCALED:
            even = np.ptp(scale) < _SCALED * np.abs(scale).max()
            effects.append("scales them by " + (f"{scale[0]:.4g}" if even else ", ".join(f"{s:.4g}" for s in scale)))
        if effects:
            form = ", a matrix," if "matrix" in document.nodes[node] else ""
            message = f"node '{nodes.names[node]}'{form} above the joints {' and '.join(effects)}; that is kept."
            yield Finding("armature", message, nodes.names[node])


def _describe_rest(nodes: Nodes, rig: Rig) -> Iterator[Finding]:
    turns = rotation.angle(rotation.identity(), nodes.rotations[list(rig.joints)])
    worst = int(turns.argmax())
    if turns[worst] > _TURNED:
        message = (
            f"joints are turned at rest, '{nodes.names[rig.joints[worst]]}' by {np.degrees(turns[worst]):.0f} degrees "
            "from its parent; the clip is told from axes along the world's."
        )
        yield Finding("rest axes", message, float(turns[worst]))


def _describe_names(document: Document, nodes: Nodes, rig: Rig, animation: int | None) -> Iterator[Finding]:
    made = [nodes.names[j] for j in rig.joints if document.nodes[j].text("name") != nodes.names[j]]
    if made:
        yield Finding("names", f"joints without a name of their own are called {list_names(made)}.", tuple(made))
    if animation is None:  # the body at rest: no clip is wanted
        return
    if not document.animations[animation].text("name"):
        yield Finding("names", f"the animation has none; it is called clip{animation}.", animation)
    if len(document.animations) > 1:
        count = len(document.animations)
        yield Finding("clips", f"the file holds {count}; choose one with --clip.", count)


def _describe_keys(tracks: Tracks, frames: FrameTimes) -> Iterator[Finding]:
    keys = np.unique(np.concatenate([track.times for track in tracks.values()])) if tracks else np.zeros(1)
    if 1 < len(keys) < _FEW_KEYS * len(frames.times):
        rate = (len(frames.times) - 1) / float(frames.times[-1])
        message = f"the motion has {len(keys)} keys; what is between them is sampled at {rate:.4g} Hz."
        yield Finding("keys", message, len(keys))
    steps = sum(track.how == "STEP" for track in tracks.values())
    if steps:
        yield Finding("keys", f"{steps} of {len(tracks)} channels jump from key to key (STEP).", steps)
    scales = sum(path == "scale" for _, path in tracks)
    if scales:
        yield Finding("keys", f"the scale of {scales} nodes has keys.", scales)


def _describe_buffers(document: Document) -> Iterator[Finding]:
    if not document.meshes:
        yield Finding("mesh", "the file has none; it holds motion only.")
    beside = [uri for b in document.buffers if (uri := b.plain.get("uri")) and not str(uri).startswith("data:")]
    if beside:
        message = f"the file goes together with {', '.join(str(uri)[:80] for uri in beside[:3])} beside it."
        yield Finding("buffers", message, len(beside))
