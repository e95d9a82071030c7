"""Many characters in one GLB: each moves as its own clip, and equal bodies are there once."""

from __future__ import annotations

import numpy as np
import pygltflib
import pytest

from helpers.errors import rejects
from poise.body.character import Character
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import coarsen_skin
from poise.errors import InputError
from poise.files.formats.gltf.write import CrowdFigure, find_skin, format_glb, format_glb_crowd
from poise.motion.clip import Clip
from poise.spatial import rotation
from test_glb import Glb


def clip(character: Character, name: str, seed: int, frames: int = 4) -> Clip:
    rng = np.random.default_rng(seed)
    turns = rotation.exp(0.3 * rng.normal(size=(frames, len(character.skeleton), 3)))
    return Clip(character.skeleton, np.arange(frames) / 25, rng.normal(size=(frames, 3)), turns, name)


TALL, SMALL = Character.human(1.9, 90.0, preset="mix"), Character.human(1.6, 55.0, preset="mix")
SKINS = {id(c): find_skin(c.skeleton, build_mannequin(c.skeleton, c.mass)) for c in (TALL, SMALL)}
BODIES = (TALL, SMALL, TALL)
FIGURES = [CrowdFigure(clip(c, f"figure {k}", k), SKINS[id(c)]) for k, c in enumerate(BODIES)]


class Crowd(Glb):
    """Nodes of different figures have the same names: they are told apart by their numbers."""

    def __init__(self, data: bytes):
        super().__init__(data)
        self.joint_names = self.names
        self.names = list(range(len(self.names)))


def test_every_figure_moves_as_its_clip() -> None:
    glb = Crowd(format_glb_crowd(FIGURES))
    for frame, time in enumerate(FIGURES[0].clip.times):
        world = glb.world_matrices(float(time))
        for figure, skin in zip(FIGURES, glb.gltf.skins, strict=True):
            assert [glb.joint_names[j] for j in skin.joints] == list(figure.clip.skeleton.names)
            got = np.array([world[j][:3, 3] for j in skin.joints])
            np.testing.assert_allclose(got, figure.clip.positions[frame], atol=5e-6)


def test_a_scaled_figure_is_the_same_but_larger() -> None:
    """Joints and skin: all that the file shows of it is at its scale about the origin."""
    plain = FIGURES[0]
    large = CrowdFigure(plain.clip, plain.skin, scale=1.25)
    glb = Crowd(format_glb_crowd([plain, large]))
    world = glb.world_matrices(float(plain.clip.times[1]))
    ours, theirs = ([world[j] for j in skin.joints] for skin in glb.gltf.skins)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(b[:3], 1.25 * a[:3], atol=1e-5)
    assert len(glb.gltf.meshes) == 1
    with pytest.raises(InputError, match="scale above 0"):
        format_glb_crowd([CrowdFigure(plain.clip, plain.skin, scale=0.0)])


def test_every_skin_follows_its_own_joints_as_a_file_of_its_own() -> None:
    glb = Crowd(format_glb_crowd(FIGURES))
    time = float(FIGURES[0].clip.times[2])
    world = glb.world_matrices(time)
    skinned = [node for node in glb.gltf.nodes if node.mesh is not None]
    for figure, node in zip(FIGURES, skinned, strict=True):
        skin, primitive = glb.gltf.skins[node.skin], glb.gltf.meshes[node.mesh].primitives[0]
        binds = glb.array(skin.inverseBindMatrices).reshape(-1, 4, 4).transpose(0, 2, 1)
        bones = np.array([world[j] @ b for j, b in zip(skin.joints, binds, strict=True)])
        points = glb.array(primitive.attributes.POSITION)
        points = np.column_stack([points, np.ones(len(points))])
        joints, weights = glb.array(primitive.attributes.JOINTS_0), glb.array(primitive.attributes.WEIGHTS_0)
        got = np.einsum("vk,vkij,vj->vi", weights, bones[joints], points)[:, :3]
        alone = Glb(format_glb(figure.clip, figure.skin)).skinned_vertices(time)
        np.testing.assert_allclose(got, alone, atol=1e-6)


def test_equal_bodies_are_there_once() -> None:
    glb = pygltflib.GLTF2.load_from_bytes(format_glb_crowd(FIGURES))
    assert len(glb.meshes) == len(glb.materials) == 2
    assert len(glb.skins) == 3 and len({skin.inverseBindMatrices for skin in glb.skins}) == 2
    assert len(glb.animations) == 1
    assert {node for skin in glb.skins for node in skin.joints}.isdisjoint(
        [k for k, node in enumerate(glb.nodes) if node.mesh is not None]
    )
    many, few = (len(format_glb_crowd(FIGURES[:1] * count)) for count in (11, 1))
    assert many - few < 0.5 * few


def test_figures_that_do_not_fit_together_are_refused() -> None:
    other = FIGURES[1].clip.replace(times=FIGURES[1].clip.times * 2.0)
    rejects(lambda: format_glb_crowd([FIGURES[0], CrowdFigure(other, FIGURES[1].skin)]), "'figure 1'")
    rejects(lambda: format_glb_crowd([FIGURES[0], CrowdFigure(FIGURES[1].clip, FIGURES[0].skin)]), "'figure 1'")
    with pytest.raises(InputError, match="at least one figure"):
        format_glb_crowd([])


def test_a_coarse_skin_is_the_same_body_with_fewer_vertices() -> None:
    """No vertex is further from the fine skin than a cell's diagonal, and each is still tied to its joint."""
    fine, cell = SKINS[id(TALL)], 0.02
    coarse = coarsen_skin(fine, cell)
    assert len(coarse.vertices) < 0.7 * len(fine.vertices)
    np.testing.assert_allclose(coarse.weights.sum(axis=1), 1.0)
    np.testing.assert_allclose(np.linalg.norm(coarse.normals, axis=1), 1.0, atol=1e-9)
    assert coarse.faces.max() < len(coarse.vertices)
    for vertex, joint in list(zip(coarse.vertices, coarse.joints[:, 0], strict=True))[::37]:
        mine = fine.vertices[fine.joints[:, 0] == joint]
        assert np.linalg.norm(mine - vertex, axis=1).min() < cell * np.sqrt(3.0)
