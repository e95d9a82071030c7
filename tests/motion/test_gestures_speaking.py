"""Speech gestures: strokes that end on their stresses, hands that chain or come to rest between them."""

import numpy as np
import pytest

from poise.errors import InputError
from poise.motion.gestures import GestureMotion, Speak, Stress, speak
from test_gestures import SIDES, find_body, human, wrists

FINE = np.linspace(-0.08, 0.08, 1601)  # s, 0.1 ms apart


def random_speech(seed: int) -> Speak:
    rng = np.random.default_rng(seed)
    times = 0.7 + np.cumsum(rng.uniform(0.5, 1.8, 8))
    kinds, hands = rng.choice(["beat", "point"], 8), rng.choice(["right", "left", "both"], 8)
    aims = rng.uniform([-0.5, -0.3, 0.5], [0.5, 0.3, 1.0], (8, 3))
    return speak(
        [Stress(*row) for row in zip(times.tolist(), kinds.tolist(), hands.tolist(), map(tuple, aims), strict=True)]
    )


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("body", ["mix", "1.2 m", "A-pose", "no hands"])
@pytest.mark.many(3)
def test_strokes_end_on_their_stresses(body, seed):
    skeleton, gesture = find_body(body), random_speech(seed)
    for stress in gesture.stresses:
        hands = wrists(skeleton, gesture, stress.time + FINE)
        for i, side in enumerate(SIDES):
            if stress.hand not in (side, "both"):
                continue
            aim = np.array([0.0, -1.0, 0.0]) if stress.kind == "beat" else np.array(stress.direction)
            far = hands[:, i] @ (aim / np.linalg.norm(aim))
            # A beat is lowest, a point furthest out, within 4 ms: an eighth of a frame at 30 Hz.
            assert abs(FINE[np.argmax(far)]) < 4e-3
            speed = np.linalg.norm(np.gradient(hands[:, i], FINE, axis=0), axis=-1)
            assert speed[800] < 0.02 * max(speed[0], 0.2)
            assert speed[:400].mean() > speed[800:].mean() * 0.8


def test_near_strokes_chain_and_far_ones_come_to_rest():
    skeleton = human()
    hanging = wrists(skeleton, speak([Stress(1.0)]), np.zeros(1))[0, 1, 1]
    near = wrists(skeleton, speak([Stress(1.0), Stress(1.6), Stress(2.6)]), np.linspace(1.0, 2.6, 200))[:, 1, 1]
    assert near.min() > hanging + 0.2
    far = wrists(skeleton, speak([Stress(1.0), Stress(4.0)]), np.linspace(1.0, 4.0, 400))[:, 1, 1]
    assert far.min() == pytest.approx(hanging, abs=1e-6)
    # A hand that is not asked for does not move at all, and is not among the joints.
    assert speak([Stress(1.0)]).sides == ("right",)


def test_points_go_where_they_should():
    skeleton = human()
    for aim in ((0.0, 0.0, 1.0), (-0.7, 0.3, 0.6), (0.3, -0.2, 0.9)):
        gesture = speak([Stress(1.0, "point", "right", aim)])
        pose = GestureMotion(gesture, skeleton).pose(1.0)
        positions, _ = skeleton.pose(pose.root, pose.rotations)
        line = positions[skeleton.index("rightHand")] - positions[skeleton.index("rightUpperArm")]
        cosine = line @ np.array(aim) / np.linalg.norm(line) / np.linalg.norm(aim)
        assert np.degrees(np.arccos(cosine)) < 4.0


def test_hands_stay_calm_even_where_strokes_are_as_close_as_allowed():
    gesture = speak([Stress(0.5), *(Stress(0.5 + 0.25 * k) for k in range(1, 6)), Stress(2.25, "point")])
    path = wrists(human(), gesture, np.arange(0.0, gesture.length, 1e-3))[:, 1]
    assert np.linalg.norm(np.diff(path, axis=0), axis=-1).max() / 1e-3 < 4.5
    assert np.linalg.norm(np.diff(path, 2, axis=0), axis=-1).max() / 1e-6 < 12 * 9.81


@pytest.mark.parametrize(
    "make, words",
    [
        (lambda: speak([]), "no stresses given"),
        (lambda: speak([Stress(2.0), Stress(1.0)]), "stress times must increase; 1 s follows 2 s."),
        (lambda: speak([Stress(1.0), Stress(1.0, hand="left")]), "use hand='both'"),
        (lambda: speak([Stress(0.1)]), "the right hand's beat at 0.1 s comes 0.1 s after the beginning, and needs 0.5"),
        (
            lambda: speak([Stress(1.0), Stress(1.1)]),
            "beat at 1.1 s comes 0.1 s after its stroke at 1 s, and needs 0.25",
        ),
        (
            lambda: speak([Stress(1.0), Stress(1.3, "point", "both")]),
            "right hand's point at 1.3 s comes 0.3 s after its stroke at 1 s, and needs 0.5",
        ),
        (lambda: speak([1.0]), "stresses must be Stress(time, kind, hand) each; given 1.0."),
        (lambda: Stress(1.0, "wave"), "kind must be one of 'beat', 'point'; given 'wave'."),
        (lambda: Stress(1.0, hand="foot"), "hand must be one of"),
        (lambda: Stress(float("nan")), "time must be from 0 to 36000 s; got nan"),
        (lambda: Stress(1.0, "point", direction=(0.0, 0.0, -1.0)), "do not point backward"),
        (lambda: Stress(1.0, "point", direction=(0.0, 0.0, 0.0)), "direction must be three numbers"),
        (lambda: Stress(1.0, "point", direction=(1.0, 2.0)), "direction must be three numbers"),
        (lambda: speak([Stress(1.0)], size=5), "size must be from 0.2 to 2; got 5."),
    ],
)
def test_bad_input_is_told_in_a_sentence(make, words):
    with pytest.raises(InputError) as error:
        make()
    assert words in str(error.value)


def test_the_other_hand_may_follow_sooner():
    assert len(speak([Stress(1.0), Stress(1.05, hand="left")]).stresses) == 2
