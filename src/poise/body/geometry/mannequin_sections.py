"""The mannequin's cross-sections: a lean adult of average build.

Half-widths are shares of the stature, positions shares of the segment. The figure was drawn for this package: no row is
measured, but its girths (chest, waist, hip, thigh, calf, arm) were set near the medians of adult surveys, so that a
stature of 1.75 m comes out near 65 kg before it is fitted to the body's own mass. A `fat` column says how strongly a
section follows the body's girth factor g, as half-width x g^fat: a belly more than a wrist.
"""

from __future__ import annotations

import numpy as np

# position, half-width: left or right, front, back; power; fat: side, front, back.
# Position 0 is the line of the hip joints, 1 that of the shoulder joints; the last rows end in the neck.
TRUNK = np.array(
    [
        (-0.195, 0.0180, 0.0220, 0.0380, 2.0, 0.3, 0.6, 0.8),
        (-0.155, 0.0500, 0.0431, 0.0619, 2.1, 0.5, 0.8, 0.9),
        (-0.100, 0.0730, 0.0525, 0.0704, 2.2, 0.6, 1.0, 0.9),
        (-0.030, 0.0845, 0.0578, 0.0725, 2.3, 0.75, 1.3, 0.9),
        (0.080, 0.0939, 0.0588, 0.0683, 2.4, 0.9, 1.7, 0.9),
        (0.240, 0.0873, 0.0578, 0.0578, 2.4, 1.4, 2.2, 1.1),
        (0.400, 0.0775, 0.0556, 0.0504, 2.4, 1.6, 2.3, 1.2),
        (0.550, 0.0816, 0.0596, 0.0543, 2.5, 1.4, 1.9, 1.2),
        (0.700, 0.0940, 0.0659, 0.0616, 2.5, 1.0, 1.4, 1.1),
        (0.820, 0.1017, 0.0651, 0.0651, 2.5, 0.8, 1.2, 1.0),
        (0.930, 0.1035, 0.0571, 0.0645, 2.4, 0.6, 0.9, 0.9),
        (1.010, 0.1003, 0.0472, 0.0587, 2.3, 0.5, 0.7, 0.8),
        (1.070, 0.0850, 0.0386, 0.0522, 2.2, 0.5, 0.6, 0.7),
        (1.120, 0.0614, 0.0333, 0.0458, 2.1, 0.6, 0.6, 0.7),
        (1.165, 0.0416, 0.0291, 0.0395, 2.0, 0.7, 0.6, 0.7),
        (1.210, 0.0291, 0.0250, 0.0312, 2.0, 0.7, 0.6, 0.7),
    ]
)
NECK_POSITION = 1.16  # where the neck's joint was drawn
# Relief on the trunk: position, its spread, angle from the front (degrees), its spread, height as a share; both sides.
TRUNK_RELIEF = (
    (0.745, 0.085, 38.0, 24.0, 0.075),  # chest
    (-0.030, 0.110, 150.0, 26.0, 0.110),  # buttocks
    (-0.080, 0.130, 180.0, 9.0, -0.150),
    (0.800, 0.120, 140.0, 26.0, 0.050),  # shoulder blades
    (0.450, 0.260, 180.0, 13.0, -0.070),  # the spine's furrow
    (0.850, 0.180, 180.0, 13.0, -0.060),
)
# position along the bone, half-widths, power, fat. Half-widths of arms are up, down, front, back in a T-pose, those of
# legs outer, inner, front, back.
SHOULDER = np.array(
    [
        (0.10, 0.0140, 0.0260, 0.0240, 0.0310, 2.1, 0.70),
        (0.50, 0.0200, 0.0330, 0.0310, 0.0350, 2.1, 0.75),
        (0.80, 0.0245, 0.0345, 0.0325, 0.0345, 2.1, 0.80),
        (1.00, 0.0270, 0.0320, 0.0310, 0.0315, 2.1, 0.80),
    ]
)
UPPER_ARM = np.array(
    [
        (0.00, 0.0290, 0.0320, 0.0320, 0.0320, 2.1, 0.80),
        (0.10, 0.0325, 0.0335, 0.0345, 0.0345, 2.1, 0.85),
        (0.25, 0.0325, 0.0325, 0.0340, 0.0335, 2.1, 1.00),
        (0.45, 0.0283, 0.0300, 0.0322, 0.0311, 2.1, 1.00),
        (0.70, 0.0238, 0.0258, 0.0274, 0.0268, 2.1, 0.85),
        (0.90, 0.0220, 0.0230, 0.0243, 0.0243, 2.1, 0.65),
        (1.00, 0.0217, 0.0229, 0.0241, 0.0241, 2.1, 0.60),
    ]
)
LOWER_ARM = np.array(
    [
        (0.00, 0.0217, 0.0229, 0.0241, 0.0241, 2.1, 0.60),
        (0.10, 0.0234, 0.0246, 0.0258, 0.0251, 2.1, 0.65),
        (0.24, 0.0246, 0.0251, 0.0280, 0.0258, 2.1, 0.70),
        (0.45, 0.0217, 0.0224, 0.0251, 0.0229, 2.1, 0.65),
        (0.70, 0.0169, 0.0172, 0.0197, 0.0189, 2.1, 0.50),
        (0.90, 0.0132, 0.0135, 0.0169, 0.0166, 2.2, 0.40),
        (1.00, 0.0126, 0.0128, 0.0166, 0.0163, 2.3, 0.35),
    ]
)
UPPER_LEG = np.array(
    [
        (0.00, 0.0508, 0.0497, 0.0532, 0.0590, 2.2, 1.00),
        (0.12, 0.0532, 0.0532, 0.0555, 0.0590, 2.2, 1.10),
        (0.30, 0.0502, 0.0514, 0.0555, 0.0525, 2.15, 1.10),
        (0.55, 0.0427, 0.0427, 0.0485, 0.0434, 2.1, 0.95),
        (0.78, 0.0347, 0.0359, 0.0387, 0.0359, 2.1, 0.75),
        (0.92, 0.0318, 0.0335, 0.0341, 0.0335, 2.2, 0.60),
        (1.00, 0.0312, 0.0329, 0.0335, 0.0329, 2.2, 0.55),
    ]
)
LOWER_LEG = np.array(
    [
        (0.00, 0.0309, 0.0326, 0.0338, 0.0326, 2.2, 0.55),
        (0.08, 0.0315, 0.0326, 0.0321, 0.0343, 2.2, 0.60),
        (0.20, 0.0343, 0.0343, 0.0304, 0.0418, 2.1, 0.75),
        (0.32, 0.0349, 0.0343, 0.0292, 0.0441, 2.1, 0.80),
        (0.50, 0.0297, 0.0292, 0.0263, 0.0361, 2.1, 0.70),
        (0.70, 0.0224, 0.0224, 0.0224, 0.0246, 2.1, 0.50),
        (0.86, 0.0189, 0.0193, 0.0197, 0.0209, 2.1, 0.40),
        (0.96, 0.0200, 0.0207, 0.0201, 0.0217, 2.1, 0.35),
        (1.00, 0.0195, 0.0200, 0.0201, 0.0215, 2.1, 0.35),
    ]
)
NECK = np.array(
    [
        (-0.25, 0.0360, 0.0360, 0.0240, 0.0400, 2.0, 0.70),
        (0.10, 0.0355, 0.0355, 0.0335, 0.0375, 2.0, 0.70),
        (0.60, 0.0338, 0.0338, 0.0343, 0.0348, 2.0, 0.65),
        (1.20, 0.0338, 0.0338, 0.0333, 0.0354, 2.0, 0.60),
    ]
)
# Shares of the hand's length along it, of the stature across: back of the hand, palm, thumb's side, little finger's.
HAND_LENGTH = 0.108  # Drillis and Contini (1966), as in Winter, "Biomechanics and motor control", fig. 4.1
PALM = np.array(
    [
        (0.00, 0.0113, 0.0115, 0.0152, 0.0149, 2.3, 0.35),
        (0.12, 0.0107, 0.0124, 0.0173, 0.0170, 2.4, 0.35),
        (0.30, 0.0097, 0.0124, 0.0236, 0.0229, 2.6, 0.35),
        (0.46, 0.0084, 0.0100, 0.0248, 0.0239, 2.8, 0.30),
    ]
)
# Fingers: towards the thumb, length, radius, all shares of the stature; spread in degrees.
FINGERS = (
    (0.0172, 0.0450, 0.0056, 4.0),
    (0.0060, 0.0500, 0.0058, 1.0),
    (-0.0054, 0.0465, 0.0055, -2.0),
    (-0.0162, 0.0370, 0.0049, -5.0),
)
# Shares of the sole's length from heel to toe, of the ankle's height: top of the foot, and where it is broadest;
# power of the superellipse above that. Its
# length and breadth are those of the sole (`soles.build_footing`), which depends on the skeleton alone, not on the
# girth: what a body stands on is known without its mass.
FOOT_LENGTH = 0.152  # Drillis and Contini (1966), as above
ANKLE_HEIGHT = 0.039  # Drillis and Contini (1966), as above
ANKLE_POSITION, BALL_POSITION = 0.25, 0.72
FOOT = np.array(
    [
        (0.00, 0.50, 0.22, 1.80),
        (0.02, 0.74, 0.22, 1.70),
        (0.06, 0.98, 0.22, 1.60),
        (0.14, 1.22, 0.22, 1.50),
        (0.24, 1.34, 0.22, 1.45),
        (0.36, 1.16, 0.22, 1.45),
        (0.52, 0.82, 0.20, 1.55),
        (0.66, 0.60, 0.18, 1.75),
        (0.76, 0.50, 0.17, 1.90),
        (0.88, 0.42, 0.16, 2.00),
        (0.96, 0.33, 0.16, 2.00),
        (1.00, 0.22, 0.16, 2.00),
    ]
)
CORNER = 0.016  # of the sole's length, the radius of its rounded corners
FOOT_DOMES = 0.01, 0.03, 0.01  # of the sole's length, how far the foot bulges beyond it: heel, toes' joint, tip
# Shares of the head's height from chin to crown: half-width, front, back (negative: before the axis); power.
HEAD = np.array(
    [
        (0.015, 0.125, 0.330, -0.120, 2.4),
        (0.060, 0.178, 0.376, -0.040, 2.4),
        (0.130, 0.232, 0.392, 0.030, 2.4),
        (0.200, 0.258, 0.394, 0.130, 2.4),
        (0.280, 0.277, 0.394, 0.270, 2.35),
        (0.380, 0.300, 0.394, 0.370, 2.3),
        (0.480, 0.317, 0.390, 0.420, 2.3),
        (0.590, 0.330, 0.386, 0.448, 2.25),
        (0.700, 0.335, 0.388, 0.455, 2.2),
        (0.800, 0.318, 0.362, 0.435, 2.15),
        (0.880, 0.275, 0.308, 0.375, 2.1),
        (0.940, 0.206, 0.230, 0.285, 2.05),
        (0.975, 0.134, 0.146, 0.192, 2.0),
        (0.993, 0.070, 0.076, 0.110, 2.0),
    ]
)
HEAD_RELIEF = (
    (0.340, 0.038, 0.0, 10.0, 0.135),  # nose
    (0.410, 0.070, 0.0, 9.0, 0.085),
    (0.560, 0.040, 16.0, 18.0, 0.022),  # brows
    (0.470, 0.050, 25.0, 14.0, -0.055),  # eyes
    (0.185, 0.030, 0.0, 20.0, -0.020),  # below the lips
    (0.235, 0.030, 0.0, 14.0, 0.022),  # lips
    (0.080, 0.050, 0.0, 18.0, 0.030),  # chin
)
