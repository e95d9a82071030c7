"""What is unusual about a glTF file and was dealt with, a topic and a sentence each."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from poise.files.gltf.document import Document
from poise.files.gltf.nodes import Nodes
from poise.files.gltf.pose import Tracks
from poise.files.gltf.rig import Rig
from poise.files.gltf.tracks import FrameTimes
from poise.spatial import rotation

_TURNED = np.radians(1.0)
_SCALED = 1e-3
_FEW_KEYS = 0.5  # of the frames


def list_remarks(
    document: Document, nodes: Nodes, rig: Rig, tracks: Tracks, frames: FrameTimes, animation: int | None
) -> list[str]:
    """Sentences on the nodes above the joints, rest axes, names, keys and what the file depends on."""
    return [
        *_describe_above(document, nodes, rig),
        *_describe_rest(nodes, rig),
        *_describe_names(document, nodes, rig, animation),
        *_describe_keys(tracks, frames),
        *_describe_buffers(document),
    ]


def _describe_above(document: Document, nodes: Nodes, rig: Rig) -> Iterator[str]:
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
            yield f"armature: node '{nodes.names[node]}'{form} above the joints {' and '.join(effects)}; that is kept."


def _describe_rest(nodes: Nodes, rig: Rig) -> Iterator[str]:
    turns = rotation.angle(rotation.identity(), nodes.rotations[list(rig.joints)])
    worst = int(turns.argmax())
    if turns[worst] > _TURNED:
        yield (
            f"rest axes: joints are turned at rest, '{nodes.names[rig.joints[worst]]}' by "
            f"{np.degrees(turns[worst]):.0f} degrees from its parent; the clip is told from axes along the world's."
        )


def _describe_names(document: Document, nodes: Nodes, rig: Rig, animation: int | None) -> Iterator[str]:
    made = [nodes.names[j] for j in rig.joints if document.nodes[j].text("name") != nodes.names[j]]
    if made:
        more = f" and {len(made) - 6} more" if len(made) > 6 else ""
        yield f"names: joints without a name of their own are called {', '.join(made[:6])}{more}."
    if animation is None:  # the body at rest: no clip is wanted
        return
    if not document.animations[animation].text("name"):
        yield f"names: the animation has none; it is called clip{animation}."
    if len(document.animations) > 1:
        yield f"clips: the file holds {len(document.animations)}; choose one with --clip."


def _describe_keys(tracks: Tracks, frames: FrameTimes) -> Iterator[str]:
    keys = np.unique(np.concatenate([track.times for track in tracks.values()])) if tracks else np.zeros(1)
    if 1 < len(keys) < _FEW_KEYS * len(frames.times):
        rate = (len(frames.times) - 1) / float(frames.times[-1])
        yield f"keys: the motion has {len(keys)} keys; what is between them is sampled at {rate:.4g} Hz."
    steps = sum(track.how == "STEP" for track in tracks.values())
    if steps:
        yield f"keys: {steps} of {len(tracks)} channels jump from key to key (STEP)."
    scales = sum(path == "scale" for _, path in tracks)
    if scales:
        yield f"keys: the scale of {scales} nodes has keys."


def _describe_buffers(document: Document) -> Iterator[str]:
    if not document.meshes:
        yield "mesh: the file has none; it holds motion only."
    beside = [uri for b in document.buffers if (uri := b.plain.get("uri")) and not str(uri).startswith("data:")]
    if beside:
        yield f"buffers: the file goes together with {', '.join(str(uri)[:80] for uri in beside[:3])} beside it."
