"""What VRM and VRM animation files state about a body: which node is which bone, and that lengths are metres.

VRM 0.x keeps a list of bones in the extension `VRM`, VRM 1.0 an object in `VRMC_vrm`, a VRM animation the same object
in `VRMC_vrm_animation` (github.com/vrm-c/vrm-specification). The names are those of VRM 1.0, which are Poise's; 0.x
differs in the thumb only. A body of 0.x faces -Z at rest, one of 1.0 faces +Z: neither is turned here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from poise.body.roles import ROLES, SIDES
from poise.files.formats.gltf.document import Document
from poise.files.formats.gltf.entry import JsonObject
from poise.frozen import Portable

# 0.x counts the thumb's bones as those of a finger.
_THUMB_0 = {"Proximal": "Metacarpal", "Intermediate": "Proximal", "Distal": "Distal"}
_ROLE_OF_BONE_0: Mapping[str, str] = MappingProxyType(
    {f"{side}Thumb{old}": f"{side}Thumb{new}" for side in SIDES for old, new in _THUMB_0.items()}
)


@dataclass(frozen=True)
class Humanoid(Portable):
    """format  what the file is called; nodes  VRM 1.0 role -> index of its node."""

    format: str
    nodes: Mapping[str, int]


def read_humanoid(document: Document) -> Humanoid | None:
    """The body that a VRM or VRM animation file declares, or None for any other glTF file."""
    for extension, name in (
        ("VRMC_vrm", "VRM 1.0"),
        ("VRMC_vrm_animation", "VRM animation"),
        ("VRM", "VRM 0.x"),
    ):
        entry = document.top.extension(extension)
        humanoid = None if entry is None else entry.entry("humanoid")
        if humanoid is None:
            continue
        read = _read_bones_0 if extension == "VRM" else _read_bones_1
        nodes = {role: node for role, node in read(humanoid, len(document.nodes)).items() if role in ROLES}
        if len(set(nodes.values())) < len(nodes):
            raise humanoid.error("gives one node to two bones. Each has its own.")
        if nodes:
            return Humanoid(name, MappingProxyType(nodes))
    return None


def _read_bones_0(humanoid: JsonObject, count: int) -> dict[str, int]:
    """Return the bones of VRM 0.x, a list: role -> node."""
    nodes: dict[str, int] = {}
    for bone in humanoid.entries("humanBones", "human bone"):
        role, node = bone.text("bone") or "", bone.find_index("node", count)
        if node is not None:
            nodes.setdefault(_ROLE_OF_BONE_0.get(role, role), node)
    return nodes


def _read_bones_1(humanoid: JsonObject, count: int) -> dict[str, int]:
    """Return the bones of VRM 1.0, an object: role -> node."""
    bones = humanoid.entry("humanBones")
    entries = {} if bones is None else {role: bones.entry(role) for role in ROLES}
    found = {role: entry.find_index("node", count) for role, entry in entries.items() if entry is not None}
    return {role: node for role, node in found.items() if node is not None}
