"""Falling: who is pushed over tips the way of the push, over the corner that is farthest that way."""

from __future__ import annotations

import numpy as np

from poise.demos import fall as demo
from poise.motion.own import idle


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
