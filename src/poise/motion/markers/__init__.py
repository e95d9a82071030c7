"""A skeleton and its motion from labelled optical markers: `fit` tells the story, `sets.toml` has the labels."""

from __future__ import annotations

from poise.motion.markers.fit import MarkerMotion, fit_markers
from poise.motion.markers.gaps import LONGEST_GAP
from poise.motion.markers.labels import clean_label, find_markers, share_seen, split_subjects

__all__ = [
    "LONGEST_GAP",
    "MarkerMotion",
    "clean_label",
    "find_markers",
    "fit_markers",
    "share_seen",
    "split_subjects",
]
