"""Falling: who is pushed over tips the way of the push, over the corner that is farthest that way."""

from __future__ import annotations

import numpy as np

from poise.demos.strength import fall as demo
from poise.motion.samples import idle


def test_a_push_back_and_to_the_left_tips_the_body_over_its_left_heel() -> None:
    body = demo.build_body()
    found = demo.push_over(idle(body.skeleton, 1.2, demo.FPS), body, demo.DIRECTIONS["back-left"])
    figures = demo.judge(found, body, demo.DIRECTIONS["back-left"])
    assert found.mix.fell
    assert figures["moved_m"] > 0.3
    assert -5.0 < figures["pressure_edge_mm"] < 20.0
    # as it tips, the farthest corner the way of the push is down, and the other foot is up
    soles = demo.find_soles(found.mix.clip)
    heights = soles[int(np.searchsorted(found.mix.clip.times, 0.75)), ..., 1]
    heel = np.unravel_index(np.argmax(soles[0] @ demo.find_way(135.0)), (2, 4))
    assert heel[0] == 0
    assert heights[heel] < heights.min() + 5e-3
    assert heights[1].min() > 0.02


def test_a_push_back_tips_the_body_over_its_heels() -> None:
    """On the inner edges of its feet it pushed itself off by its toes: heels were 26 cm up."""
    body = demo.build_body()
    found = demo.push_over(idle(body.skeleton, 1.2, demo.FPS), body, demo.DIRECTIONS["back"])
    clip, way = found.mix.clip, demo.find_way(demo.DIRECTIONS["back"])
    soles, ankles = demo.find_soles(clip), clip.positions[:, [clip.skeleton.index("leftFoot")]][:, 0]
    up = demo.find_centers(clip, body) - ankles
    lean = np.degrees(np.arccos(up[:, 1] / np.linalg.norm(up, axis=1)))
    behind = (soles[0] @ way) > (soles[0] @ way).max() - 0.01
    tips = np.flatnonzero((lean > 18.0) & (lean < 53.0))
    tips = tips[: int(np.flatnonzero(np.diff(tips, append=10**6) > 1)[0]) + 1]
    assert len(tips) > 5
    assert soles[tips][:, behind, 1].min(axis=1).max() < 0.01
