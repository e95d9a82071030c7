"""How strong people are about each axis of each joint, both ways: measured numbers, with their sources.

Torques are those about the joint's anatomical axes (`body/joints.py`: x bends, y turns, z goes sideways), of the left
side; the right is its mirror image. A row's sign says which way the torque turns: hip +x is extension, knee -x is
extension, ankle +x points the foot, elbow -x bends, forearm +y supinates, wrist -z bends it, +x goes to the little
finger.

Sources
  [anderson]  D. E. Anderson, M. L. Madigan, M. A. Nussbaum (2007), Maximum voluntary joint torque as a function of
              joint angle and angular velocity, J Biomech 40:3105, table 3 (read in the copy in RBDL's
              Millard2016TorqueMuscle).
  [rbdl]      the whole-body table there, of M. I. Jackson (2010, thesis, Loughborough: a gymnast) and B. B. Kentel,
              M. A. King, S. R. Mitchell (2011), J Appl Biomech 27:345 (a tennis player): widths and speeds are taken
              from it, not strengths.
  [stobbe]    T. Stobbe (1982), medians of men and women in manual jobs, as printed in Chaffin, Andersson, Martin,
              Occupational biomechanics (from memory).
  [chaffin]   the regressions over posture in the same book (from memory): elbow flexion 336 + 1.544 a - 0.0085 a2,
              shoulder flexion 275 - 0.296 s, shoulder extension 205 + 0.099 s, with the elbow's angle a and the upper
              arm's s in degrees.
  [ivey]      F. M. Ivey et al. (1985), Arch Phys Med Rehabil 66:384 (abstract): shoulder extension to flexion 5 : 4,
              adduction to abduction 2 : 1, internal to external rotation 3 : 2.
  [delp]      S. L. Delp, A. E. Grierson, T. S. Buchanan (1996), J Biomech 29:1371 (abstract): wrist, ten men.
  [gallwey]   L. W. O'Sullivan, T. J. Gallwey (2002), J Electromyogr Kinesiol 12:275 (abstract): forearm, 24 men.
  [axelsson]  P. Axelsson et al. (2018), J Hand Surg Am 43:677 (abstract): forearm, men 1.7 times women.
  [fice]      Prediction of three-dimensional maximum isometric neck strength (2014), Ann Biomed Eng,
              10.1007/s10439-014-1046-0 (abstract): neck, nine men.
  [vasavada]  A. N. Vasavada, S. Li, S. L. Delp (2001), Spine 26:1904 (from memory): neck of women.
  [sugimoto]  D. Sugimoto et al. (2014), Clin J Sport Med 24:422 (abstract): hip abduction at 60 degrees/s, 1.29 and
              1.13 N m/kg.
  [lindsay]   D. M. Lindsay et al. (1992), J Orthop Sports Phys Ther 16:43 (abstract): hip, internal rotation is the
              stronger; its size, 0.5 to 0.9 N m/kg, is from memory.
  [yildiz]    Y. Yildiz et al. (2003), J Sports Sci Med 2:70, table 2: ankle, nine healthy people.
  [hagen]     M. Hagen et al. (2015), J Foot Ankle Res 8:64 (abstract): inversion falls all the way to the inverted
              foot, eversion is highest in the middle.
  [endo]      M. Endo, J. A. Ashton-Miller, N. B. Alexander (2002), J Gerontol A 57:M392: toes.
  [goldmann]  J.-P. Goldmann, G.-P. Brueggemann (2012), J Anat 221:187 (abstract): toes are strongest bent up 25 to 45
              degrees.
  [quhalex]   Quantifying hallux extension strength (2023), PMC10223981 (abstract): 23-82 N up, 32-142 N down.
  [lumbar]    Isometric evaluation of the lumbar extensors in chronic low back pain (1997), J Korean Acad Rehabil Med
              21:1 (abstract): 70 healthy men of 49 years, 125, 164, 200, 221, 241, 257 and 262 ft lb at 0, 12, 24, 36,
              48, 60 and 72 degrees of bending; 30 women of 48, 78, 105, 120, 135, 142, 151 and 157.
  [mckune]    A. McKune et al. (2012), AJPHERD 18:317 (abstract): trunk flexion alike from 0 to 69 degrees of bending,
              less at 92.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

# C1 ... C6 of table 3 at 18-25, 55-65 and over 65 years: C1 a share of weight times stature, C2 1/rad, C3 rad,
# C4 and C5 rad/s where 75 and 50 % of the static torque are left, C6 s/rad.   [anderson]
Coefficients = tuple[float, float, float, float, float, float]
Ages = tuple[Coefficients, Coefficients, Coefficients]
# Years at which those of a group stand; between them they go over in a line. 25 is where the first group ends, 60 the
# middle of the second; the third's mean age is not in the copy: 72 is assumed.
ANDERSON_AGES = (25.0, 60.0, 72.0)


class Measured(NamedTuple):
    """A direction of [anderson]: the torque's sign about our x, the sign of their angle to ours, and both sexes.

    deep  what is left of it at the greatest of their angles, where the cosine would leave less than is usual
    """

    sign: int
    turn: int
    man: Ages
    woman: Ages
    deep: float | None = None


# fmt: off
ANDERSON: Mapping[str, tuple[Measured, Measured]] = MappingProxyType({
    "UpperLeg": (
        Measured(+1, -1,  # extension; their angle is flexion
            ((0.161, 0.958, 0.932, 1.578, 3.190, 0.242), (0.171, 0.922, 1.176, 1.601, 3.236, 0.320),
             (0.144, 0.896, 1.125, 1.561, 3.152, 0.477)),
            ((0.181, 0.697, 1.242, 1.567, 3.164, 0.164), (0.140, 0.830, 1.241, 1.444, 2.919, 0.317),
             (0.138, 0.707, 1.542, 1.613, 3.256, 0.360))),
        Measured(-1, -1,  # flexion
            ((0.113, 0.738, -0.214, 2.095, 4.267, 0.218), (0.107, 0.712, -0.192, 2.038, 4.145, 0.206),
             (0.101, 0.762, -0.269, 1.875, 3.819, 0.296)),
            ((0.127, 0.650, -0.350, 2.136, 4.349, 0.156), (0.091, 0.812, -0.196, 2.145, 4.366, 0.186),
             (0.081, 0.625, -0.422, 2.084, 4.245, 0.196))),
    ),
    "LowerLeg": (
        Measured(-1, +1,  # extension; their angle is flexion
            ((0.163, 1.258, 1.133, 1.517, 3.952, 0.095), (0.156, 1.225, 1.173, 1.518, 3.954, 0.266),
             (0.137, 1.310, 1.067, 1.141, 3.152, 0.386)),
            ((0.159, 1.187, 1.274, 1.393, 3.623, 0.173), (0.128, 1.286, 1.141, 1.332, 3.469, 0.233),
             (0.124, 1.347, 1.140, 1.066, 2.855, 0.464)),
            # People rise from a deep squat: half is assumed. Sarabon et al. (2021), Front Physiol 12:767941, have
            # 0.87 of mid-range in flexed knees; weightlifters' knees have 1.46 times the torque of a parallel squat
            # in a deep one with the same bar (P. Wretenberg et al. 1996, Med Sci Sports Exerc 28:218).
            deep=0.5),
        Measured(+1, +1,  # flexion
            ((0.087, 0.869, 0.522, 2.008, 5.233, 0.304), (0.081, 0.986, 0.523, 1.830, 4.777, 0.230),
             (0.069, 0.838, 0.437, 1.718, 4.476, 0.414)),
            ((0.080, 0.873, 0.635, 1.698, 4.412, 0.175), (0.060, 0.967, 0.402, 1.693, 4.410, 0.349),
             (0.060, 0.897, 0.445, 1.121, 2.922, 0.389))),
    ),
    "Foot": (
        Measured(+1, -1,  # plantar flexion; their angle is dorsiflexion
            ((0.095, 1.391, 0.408, 0.987, 3.558, 0.295), (0.114, 1.444, 0.551, 0.593, 2.128, 0.350),
             (0.106, 1.465, 0.498, 0.490, 1.767, 0.571)),
            ((0.104, 1.399, 0.424, 0.862, 3.109, 0.189), (0.093, 1.504, 0.381, 0.860, 3.126, 0.349),
             (0.125, 1.299, 0.580, 0.587, 1.819, 0.348))),
        Measured(-1, -1,  # dorsiflexion
            ((0.033, 1.510, -0.187, 0.699, 1.940, 0.828), (0.028, 1.293, -0.284, 0.634, 1.759, 0.999),
             (0.029, 1.419, -0.174, 0.561, 1.558, 1.198)),
            ((0.027, 1.079, -0.302, 0.864, 2.399, 0.771), (0.024, 1.308, -0.254, 0.596, 1.654, 1.006),
             (0.022, 1.096, -0.369, 0.458, 1.242, 1.401))),
    ),
})


# fmt: on


class Row(NamedTuple):
    """A direction that is known by its peak, or assumed: see the comments beside it.

    axis, sign  about which axis, and which way the torque turns
    man, woman  N m, the static peak of the mean man and woman of `static.py`
    peak        degrees, where it is
    width       1/rad: cos(width (angle - peak)) is what is left of it elsewhere
    zero, half  rad/s where nothing is left of it, and what is left at half of that    [Hill]
    stretched   what becomes of it while the muscles are stretched fast
    """

    axis: str
    sign: int
    man: float
    woman: float
    peak: float
    width: float
    zero: float
    half: float
    stretched: float


_TRUNK_SPEED = (8.0, 0.25, 1.1)  # zero: extension [rbdl]; half: that of [rbdl] is a rat's, so as at the shoulder
_HIP_SPEED = (6.5, 0.489, 1.05)  # as hip extension [anderson]
_FOOT_SPEED = (17.3, 0.112, 1.3)  # as dorsiflexion [anderson]
_TOE_SPEED = (20.0, 0.178, 1.05)  # half at 3.56 rad/s, as plantar flexion [anderson]; zero assumed
_HIP_SLOW = 0.833  # of the static torque is left at 60 degrees/s, by _HIP_SPEED
# By the role without its side; the trunk's is that of the whole trunk, which its joints share (`curves.py`).
# fmt: off
ROWS: Mapping[str, tuple[Row, ...]] = MappingProxyType({
    "spine": (
        # Extension [lumbar]: at 72 degrees 355 and 213 N m, of 49 and 48 years, at 25 by the decline of `static.py`
        # 411 and 229; the width has 0.48 of it left at 0, where they have 0.48 and 0.50. Their 0 is the back bent as
        # far back as it goes, and upright is taken to be 20 degrees from there (assumed): 293 and 163 N m, around 234
        # and 184 of [stobbe]. Flexion 143 and 75, sideways 159 and 94 [stobbe]. Flexion over the angle [mckune];
        # sideways assumed.
        Row("x", -1, 411.0, 229.0, 52.0, 0.855, *_TRUNK_SPEED),
        Row("x", +1, 143.0, 75.0, 0.0, 0.55, 19.2, 0.25, 1.1),  # zero [rbdl]
        *(Row("z", s, 159.0, 94.0, 0.0, 0.7, *_TRUNK_SPEED) for s in (-1, 1)),
        # Turning: about 85 and 50 N m, more when turned the other way (from memory: S. M. McGill and S. Kumar).
        *(Row("y", s, 85.0, 50.0, -20.0 * s, 0.9, *_TRUNK_SPEED) for s in (-1, 1)),
    ),
    "neck": (
        # Men [fice], women [vasavada]. Over angle and speed nothing was found: the trunk's shape, the shoulder's speed.
        Row("x", -1, 51.0, 21.0, 20.0, 0.75, 18.0, 0.25, 1.1),
        Row("x", +1, 30.0, 15.0, -20.0, 0.75, 18.0, 0.25, 1.1),
        *(Row("z", s, 32.0, 16.0, 0.0, 0.7, 18.0, 0.25, 1.1) for s in (-1, 1)),
        *(Row("y", s, 13.0, 6.0, -20.0 * s, 0.7, 18.0, 0.25, 1.1) for s in (-1, 1)),
    ),
    "UpperArm": (
        # Flexion as in `static.py`, extension 5/4 of it [ivey]; over the angle [chaffin]; speeds [rbdl].
        Row("x", -1, 68.6, 34.3, 0.0, 0.27, 19.1, 0.25, 1.23),
        Row("x", +1, 85.8, 42.9, -180.0, 0.13, 16.2, 0.25, 1.1),
        # Abduction 71 and 37 N m [stobbe]. Adduction between 67 and 30 [stobbe] and twice the abduction [ivey]: their
        # geometric mean. Over the angle as flexion and extension: assumed.
        Row("z", +1, 71.0, 37.0, 0.0, 0.27, 18.0, 0.224, 1.23),
        Row("z", -1, 98.0, 47.0, 134.0, 0.13, 18.05, 0.214, 1.26),
        # Internal (-y) and external rotation [stobbe], as 3 : 2 in [ivey]; widths and speeds [rbdl]; the peak, where
        # the muscle is long, is assumed.
        Row("y", -1, 52.0, 21.0, 30.0, 0.36, 19.5, 0.285, 1.28),
        Row("y", +1, 33.0, 19.0, -30.0, 0.50, 18.0, 0.229, 1.36),
    ),
    "LowerArm": (
        # Flexion 77 and 41 N m [stobbe], its shape [chaffin]. Extension: 0.6 of it [stobbe], 0.69 [rbdl], 0.84 (L.
        # Lategan, P. E. Krueger 2003): 0.7; its shape and all speeds [rbdl].
        Row("x", -1, 77.0, 41.0, -90.0, 0.37, 18.1, 0.19, 1.37),
        Row("x", +1, 54.0, 29.0, -94.0, 0.65, 18.45, 0.19, 1.32),
        # Supination (+y) peaks at three quarters of pronation, pronation in the middle [gallwey]; women [axelsson].
        Row("y", +1, 16.2, 9.5, -60.0, 0.45, 21.8, 0.209, 1.31),
        Row("y", -1, 13.1, 7.7, 0.0, 0.45, 18.0, 0.197, 1.35),
    ),
    "Hand": (
        # [delp], women 0.64 of men as in `static.py`; widths and speeds [rbdl].
        Row("z", -1, 12.2, 7.8, -40.0, 0.6, 36.4, 0.115, 1.14),
        Row("z", +1, 7.1, 4.5, 20.0, 0.3, 36.5, 0.115, 1.17),
        Row("x", -1, 11.0, 7.0, 0.0, 0.8, 27.9, 0.208, 1.39),
        Row("x", +1, 9.5, 6.1, 0.0, 0.8, 35.5, 0.25, 1.24),
    ),
    "UpperLeg": (
        # Abduction (+z) [sugimoto], brought to rest. Adduction 1.2 of it, and both shapes: from memory.
        Row("z", +1, 1.29 * 78 / _HIP_SLOW, 1.13 * 64 / _HIP_SLOW, -10.0, 1.0, *_HIP_SPEED),
        Row("z", -1, 1.2 * 1.29 * 78 / _HIP_SLOW, 1.2 * 1.13 * 64 / _HIP_SLOW, 20.0, 1.0, *_HIP_SPEED),
        # Rotation in (-y) and out [lindsay]; shapes assumed.
        Row("y", -1, 60.0, 38.0, 20.0, 0.7, *_HIP_SPEED),
        Row("y", +1, 52.0, 34.0, -20.0, 0.7, *_HIP_SPEED),
    ),
    "LowerLeg": (
        # Nothing was found for turning the shank: 0.3 of knee flexion is assumed, both ways.
        *(Row("y", s, 35.0, 24.0, 0.0, 0.7, 26.6, 0.2, 1.2) for s in (-1, 1)),
    ),
    "Foot": (
        # Eversion (+z): 37.3 N m while stretched at 120 degrees/s, inversion 19.7 while shortening [yildiz], both
        # brought to rest by the speed of dorsiflexion. Women 0.63 of men: assumed. Shapes after [yildiz] and [hagen].
        Row("z", +1, 29.0, 18.0, -12.0, 1.6, *_FOOT_SPEED),
        Row("z", -1, 41.0, 26.0, 20.0, 1.6, *_FOOT_SPEED),
    ),
    "Toes": (
        # Down [endo] as in `static.py`, over the angle [goldmann]. Up 0.6 of it [quhalex]; shape and speed assumed.
        Row("x", +1, 1.17 * 20.2, 1.17 * 12.3, -35.0, 1.4, *_TOE_SPEED),
        Row("x", -1, 0.6 * 1.17 * 20.2, 0.6 * 1.17 * 12.3, 20.0, 0.7, *_TOE_SPEED),
    ),
})
# fmt: on
