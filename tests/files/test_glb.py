"""GLB out, read back by another library: the container, the skeleton, the motion and the skin."""

from __future__ import annotations

import numpy as np
import pygltflib
import pytest

from helpers.bodies import make_human
from helpers.clips import locked_clip, random_clip
from helpers.errors import rejects
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.mesh import Mesh
from poise.body.geometry.polyhedron import check_closed, compute_volume
from poise.body.geometry.skin import build_skin
from poise.body.skeleton import Skeleton
from poise.errors import InputError
from poise.files import save_clip
from poise.files.formats.gltf.write import build_lozenges, compute_shaded_vertices, format_glb, save_glb
from poise.files.writing.writing import write_result
from poise.motion.clip import Clip
from poise.spatial import rotation

_DTYPES = {5126: "<f4", 5125: "<u4", 5123: "<u2", 5121: "u1"}
_WIDTHS = {"SCALAR": 1, "VEC3": 3, "VEC4": 4, "MAT4": 16}


class Glb:
    """A GLB as its reader sees it, with forward kinematics and skinning done the glTF way: 4x4 matrices."""

    def __init__(self, data: bytes):
        self.gltf = pygltflib.GLTF2.load_from_bytes(data)
        self.names = [node.name for node in self.gltf.nodes]

    def array(self, index: int) -> np.ndarray:
        accessor = self.gltf.accessors[index]
        view = self.gltf.bufferViews[accessor.bufferView]
        width = _WIDTHS[accessor.type]
        blob = self.gltf.binary_blob()
        flat = np.frombuffer(blob, _DTYPES[accessor.componentType], accessor.count * width, view.byteOffset)
        return flat.reshape(accessor.count, width)

    def local_matrices(self, time: float) -> list[np.ndarray]:
        translations = [np.array(node.translation or (0, 0, 0), float) for node in self.gltf.nodes]
        turns = [np.array([1.0, 0, 0, 0]) for _ in self.gltf.nodes]
        animation = self.gltf.animations[0]
        for channel in animation.channels:
            sampler = animation.samplers[channel.sampler]
            times, keys = self.array(sampler.input)[:, 0], self.array(sampler.output).astype(float)
            key = keys[int(np.argmin(np.abs(times - time)))]
            if channel.target.path == "translation":
                translations[channel.target.node] = key
            else:
                turns[channel.target.node] = key[[3, 0, 1, 2]]
        matrices = []
        for node, translation, turn in zip(self.gltf.nodes, translations, turns, strict=True):
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = rotation.to_matrix(turn) * (node.scale or (1, 1, 1)), translation
            matrices.append(matrix)
        return matrices

    def world_matrices(self, time: float) -> dict[str, np.ndarray]:
        local, world = self.local_matrices(time), {}
        stack = [(node, np.eye(4)) for node in self.gltf.scenes[0].nodes]
        while stack:
            node, above = stack.pop()
            world[node] = above @ local[node]
            stack += [(child, world[node]) for child in self.gltf.nodes[node].children or []]
        return {self.names[node]: matrix for node, matrix in world.items()}

    def skinned_vertices(self, time: float) -> np.ndarray:
        skin, primitive = self.gltf.skins[0], self.gltf.meshes[0].primitives[0]
        binds = self.array(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        world = self.world_matrices(time)
        bones = np.array([world[self.names[j]] @ b for j, b in zip(skin.joints, binds, strict=True)])
        points = self.array(primitive.attributes.POSITION)
        points = np.column_stack([points, np.ones(len(points))])
        joints, weights = self.array(primitive.attributes.JOINTS_0), self.array(primitive.attributes.WEIGHTS_0)
        return np.einsum("vk,vkij,vj->vi", weights, bones[joints], points)[:, :3]


def human_clip(frames: int = 5) -> Clip:
    rng = np.random.default_rng(1)
    human = make_human(1.75)
    turns = rotation.exp(rng.normal(size=(frames, len(human), 3)) * 0.3)
    return Clip(human, np.arange(frames) / 30, rng.normal(size=(frames, 3)) + [0, 1, 0], turns, "dance")


CLIPS = {
    "human": human_clip(),
    "random": random_clip(np.random.default_rng(2)),
    "gimbal lock": locked_clip(),
    "uneven times": human_clip(3).replace(times=[0.0, 0.1, 0.5]),
    "late start": human_clip(3).replace(times=[2.0, 2.1, 2.2]),
    "still": human_clip(1),
    "one joint": random_clip(np.random.default_rng(3), joints=2),
}


@pytest.mark.parametrize("name", CLIPS)
def test_joints_stand_where_the_clip_says(name):
    clip = CLIPS[name]
    glb = Glb(format_glb(clip))
    for frame, time in enumerate(clip.times - clip.times[0]):
        world = glb.world_matrices(float(time))
        got = np.array([world[joint][:3, 3] for joint in clip.skeleton.names])
        np.testing.assert_allclose(got, clip.positions[frame], atol=5e-6)


def test_the_body_follows_its_joints():
    """The limbs rigidly, the trunk by a blend of joints: as the skin that pictures draw."""
    clip = human_clip()
    meshes = build_mannequin(clip.skeleton, 70.0)
    positions, orientations = (values[3] for values in clip.world)
    pieces = {
        joint: Mesh(*compute_shaded_vertices(meshes[joint])[::2]) for joint in clip.skeleton.names if joint in meshes
    }
    skin = build_skin(clip.skeleton, pieces)
    got = Glb(format_glb(clip, meshes)).skinned_vertices(clip.times[3])
    np.testing.assert_allclose(got, skin.pose(clip.skeleton, positions, orientations)[0], atol=5e-6)
    for joint in ("leftHand", "rightLowerLeg"):
        j = clip.skeleton.index(joint)
        own = skin.joints[:, 0] == j
        rigid = rotation.rotate(orientations[j], pieces[joint].vertices) + positions[j]
        np.testing.assert_allclose(got[own], rigid, atol=5e-6)


def test_rest_pose_stands_on_the_ground_above_the_origin():
    clip = human_clip()
    glb = Glb(format_glb(clip, build_mannequin(clip.skeleton, 70.0)))
    accessor = glb.gltf.accessors[glb.gltf.meshes[0].primitives[0].attributes.POSITION]
    assert accessor.min[1] == pytest.approx(0, abs=1e-6)
    assert glb.gltf.nodes[1].translation[0::2] == [0, 0]


def test_names_roles_and_tips_are_kept_and_no_node_is_added_for_tips():
    clip = human_clip()
    glb = Glb(format_glb(clip, name="dance"))
    assert glb.names == ["dance", *clip.skeleton.names, "dance body"]
    head = glb.gltf.nodes[1 + clip.skeleton.index("head")]
    assert head.extras["role"] == "head"
    np.testing.assert_allclose(head.extras["tip"], clip.skeleton.tips[clip.skeleton.index("head")], atol=1e-7)
    assert glb.gltf.asset.generator == "Poise"
    assert glb.gltf.animations[0].name == "dance"


def test_bytes_are_always_the_same_and_still_channels_have_one_key(tmp_path):
    clip = human_clip()
    assert format_glb(clip) == format_glb(clip)
    still = clip.rotations.copy()
    still[:, 4] = still[0, 4]
    glb = Glb(format_glb(clip.replace(rotations=still)))
    counts = [glb.gltf.accessors[sampler.output].count for sampler in glb.gltf.animations[0].samplers]
    assert [i for i, count in enumerate(counts) if count == 1] == [1 + 4]
    inputs = {sampler.input for sampler in glb.gltf.animations[0].samplers}
    assert len(inputs) == 2
    save_clip(clip, tmp_path / "a.glb")
    save_glb(clip, tmp_path / "b.glb")
    assert (tmp_path / "a.glb").read_bytes() == (tmp_path / "b.glb").read_bytes()


def test_who_stands_still_does_so_for_as_long(tmp_path):
    """Nothing changes, and yet there are as many frames as were written."""
    clip = random_clip(np.random.default_rng(0), frames=20)
    still = clip.replace(root=np.repeat(clip.root[:1], 20, axis=0), rotations=np.repeat(clip.rotations[:1], 20, axis=0))
    save_glb(still, tmp_path / "still.glb")
    glb = Glb((tmp_path / "still.glb").read_bytes())
    lengths = [len(glb.array(sampler.input)) for sampler in glb.gltf.animations[0].samplers]
    assert sorted(lengths)[-2:] == [1, 20]
    assert write_result(still, None, tmp_path / "again.glb").error < 1e-5


def test_neighbouring_keys_lie_on_one_side():
    spin = rotation.from_axis_angle(np.array([0, 0, 1.0]), np.linspace(0, 20, 100))
    clip = Clip(Skeleton(("a",), [-1], np.zeros((1, 3))), np.arange(100) / 30, np.zeros((100, 3)), spin[:, None])
    glb = Glb(format_glb(clip))
    keys = glb.array(glb.gltf.animations[0].samplers[1].output)
    assert (np.sum(keys[1:] * keys[:-1], axis=1) > 0).all()


def test_many_joints_get_wider_indices():
    rng = np.random.default_rng(4)
    clip = random_clip(rng, frames=2, joints=300)
    glb = Glb(format_glb(clip))
    assert glb.array(glb.gltf.meshes[0].primitives[0].attributes.JOINTS_0).max() > 255
    np.testing.assert_allclose(glb.world_matrices(0.0)["joint299"][:3, 3], clip.positions[0, 299], atol=1e-4)


def test_lozenges_are_closed_and_lie_along_their_bones():
    skeleton = make_human(1.75)
    for joint, mesh in build_lozenges(skeleton).items():
        check_closed(mesh)
        assert compute_volume(mesh) > 0
        children = skeleton.offsets[skeleton.children(joint)]
        for child in children:
            assert np.linalg.norm(mesh.vertices - child, axis=1).min() < 1e-12


def test_shading_is_sharp_at_edges_and_smooth_elsewhere():
    axes = np.array([[x, y, z] for x in (-1.0, 1.0) for y in (-1.0, 1.0) for z in (-1.0, 1.0)])
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    box = Mesh(axes, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])
    vertices, normals, faces = compute_shaded_vertices(box)
    assert len(vertices) == 24
    outward = np.cross(*(vertices[faces[:, k]] - vertices[faces[:, 0]] for k in (1, 2)))
    np.testing.assert_allclose(normals[faces[:, 0]], outward / np.linalg.norm(outward, axis=1, keepdims=True))
    limb = build_mannequin(make_human(1.75), 70.0)["leftUpperArm"]
    vertices, normals, faces = compute_shaded_vertices(limb)
    assert len(vertices) < 1.2 * len(limb.vertices)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-12)


def test_what_cannot_be_written_is_told():
    clip = human_clip()
    box = build_lozenges(clip.skeleton)[0]
    rejects(lambda: format_glb(clip, {"hip": box}), "'hip'", "Did you mean 'hips'")
    with pytest.raises(InputError, match=r"no meshes were given"):
        format_glb(clip, {})
    with pytest.raises(InputError, match=r"single precision"):
        format_glb(
            clip.replace(times=1e7 + np.arange(5) / 30, root=clip.root).replace(times=[0, 1e7, 1e7 + 1 / 30, 2e7, 3e7])
        )
