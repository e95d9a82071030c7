"""What every demo of a mixed body writes, named after it, into a folder:

NAME.glb, NAME.bvh                    the motion of its subject
NAME.mp4 (or .webp), NAME.png         a film of everybody in it, side by side, and six moments of it
NAME-center.png, -torques.png, -feet.png, -connectors.png    plots of its subject
NAME.json                             its figures, but for those that the machine's speed decides
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import poise
from poise.body.geometry.mannequin import build_mannequin
from poise.body.geometry.skin import build_skin
from poise.body.strength.static import static_strength
from poise.drivers.balance.support_polygon import find_outline
from poise.dynamics.tree import build_tree
from poise.files.output import write_bytes
from poise.jobs.shared.answers import GAINS, LAGS, SHIFTS, measure_answer
from poise.jobs.shared.metrics import measure_error, measure_feet
from poise.motion.edits.ground import translate
from poise.motion.gestures.gesture import Gesture
from poise.motion.samples.body import Figure as Standing
from poise.motion.samples.tracks import build_clip, stand
from poise.pictures import mix_plots
from poise.pictures.camera import PictureView
from poise.pictures.film import film_suffix, save_film
from poise.pictures.image import save_png
from poise.pictures.items import BalanceMarks, Item
from poise.pictures.picture import DrawnBody, Picture, film_picture, frame_picture, place_side_by_side, render_picture
from poise.stage.take.take import ActorTake

TAKE_FPS, FILM_FPS, FILM_SIZE = 50.0, 25.0, (960, 540)
SHEET_MOMENTS, SHEET_CELL = 6, (480, 270)
CLAY, BLUE, RED, GREEN = (0.80, 0.71, 0.60), (0.36, 0.56, 0.80), (0.82, 0.42, 0.36), (0.55, 0.73, 0.52)
_BY_SPEED = ("realtime_factor",)
# Those of `poise mix` that every demo of a mixed body has.
MIX_FIGURES = (
    "fell", "fell_at_s", "kinematic_error_rad", "foot_slip_mm", "com_margin_m", "sway_mm", *GAINS, *LAGS, *SHIFTS,
    "realtime_factor", "coupling",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shot:
    """One figure of a film.

    take, actor  whose motion; None for a take's only actor
    label        written below it
    color        sRGB 0 to 1
    items        props and arrows beside it
    """

    take: poise.Take
    actor: str | None
    label: str
    color: tuple[float, float, float] = CLAY
    items: Sequence[Item] = ()

    @property
    def times(self) -> np.ndarray:
        """(F,) s."""
        return self.take.times

    @property
    def record(self) -> ActorTake:
        """What happened to its actor."""
        return self.take.actor(self.actor)

    def figure(self) -> DrawnBody:
        """It in a picture, with its support and centre of mass on the ground where it balances."""
        record = self.record
        skin = build_skin(record.character.skeleton, build_mannequin(record.character.skeleton, record.character.mass))
        support = find_support(record)
        marks = [BalanceMarks(self.take.times, record.center, support)] if len(support) else []
        return DrawnBody(self.take.clip(self.actor), skin, self.color, label=self.label, items=(*marks, *self.items))


@dataclass(frozen=True, eq=False)
class Ghost:
    """A motion in a film that nothing happened to: it was only animated. Fields as of `Shot`."""

    clip: poise.Clip
    mass: float
    label: str
    color: tuple[float, float, float] = RED

    @property
    def times(self) -> np.ndarray:
        """(F,) s."""
        return self.clip.times

    def figure(self) -> DrawnBody:
        """It in a picture."""
        skin = build_skin(self.clip.skeleton, build_mannequin(self.clip.skeleton, self.mass))
        return DrawnBody(self.clip, skin, self.color, label=self.label)


def run_beside_animated(
    character: poise.Character, gesture: Gesture, seconds: float, part: str = "arms"
) -> tuple[poise.Stage, poise.Take, list[Shot], dict[str, Any]]:
    """Two on a stage: `animated` does the gesture and nothing else moves; `mixed` does it on legs that balance.

    Returns the stage, its take, a shot of each and the figures of the mixed one.
    """
    stage = poise.Stage()
    animated, mixed = stage.add(character, "animated"), stage.add(character, "mixed")
    animated.drive("root", poise.Kinematic(stand_still(character)))
    mixed.drive("legs", poise.Balance())
    for actor in (animated, mixed):
        actor.drive(part, poise.Kinematic(gesture))
    take = stage.run(seconds, fps=TAKE_FPS)
    figures = measure_mix(stage, take, "mixed", take.clip("animated"), gesture.joints(character.skeleton))
    return stage, take, [Shot(take, "animated", "animated only", RED), Shot(take, "mixed", "mixed", BLUE)], figures


def stand_still(character: poise.Character) -> poise.Clip:
    """A clip of one second in which nothing moves: what a body that is only animated stands on."""
    figure = Standing(character.skeleton)
    return build_clip(figure, stand(figure, np.array([0.0, 0.5, 1.0])), "stand")


def find_support(record: ActorTake, frame: int = 0) -> np.ndarray:
    """(N, 2) m, x and z, the outline of both soles; empty where it does not balance."""
    soles = record.soles[frame]
    return find_outline(soles).corners if np.isfinite(soles).all() else np.zeros((0, 2))


def measure_mix(stage: poise.Stage, take: poise.Take, actor: str | None = None, reference: poise.Clip | None = None,
                joints: Sequence[int] = ()) -> dict[str, Any]:  # fmt: skip
    """The figures of `poise mix`.

    reference, joints  a motion at the take's times, wherever it stands, and which joints were to follow it exactly
    """
    record, clip = take.actor(actor), take.clip(actor)
    fell = take.fell_at(actor)
    ground = stage.ground.height if stage.ground is not None else 0.0
    error = None if reference is None else measure_error(clip, reference, list(joints))
    beside = None if reference is None else translate(reference, clip.root[0] - reference.root[0])
    tree = build_tree(record.character)
    return {
        "fell": fell is not None,
        "fell_at_s": fell,
        "kinematic_error_rad": error,
        **measure_feet(clip, tree, ground),
        **measure_answer(clip, tree, beside, fell is None),
        "realtime_factor": float(np.ptp(take.times) / take.wall_seconds) if take.wall_seconds else None,
        "coupling": stage.couple,
    }


def save_show(folder: Path, name: str, shots: Sequence[Shot | Ghost], figures: Mapping[str, Any], subject: Shot,
              speed: float = 1.0, azimuth: float | None = None, together: bool = False) -> dict[str, Any]:  # fmt: skip
    """Write everything and return the figures.

    subject  what the motion files and the plots are of
    speed    of the film: 2 is twice as fast as it happened
    azimuth  rad, of its camera, as for `frame_picture`
    together whether they are in the film where they were, and not side by side
    """
    save_motion(folder, name, subject)
    save_plots(folder, name, subject)
    film_shots(folder / name, shots, speed, azimuth=azimuth, together=together)
    return save_figures(folder, name, figures)


def save_motion(folder: Path, name: str, shot: Shot) -> None:
    """NAME.glb and NAME.bvh."""
    for suffix in (".glb", ".bvh"):
        shot.take.save(folder / f"{name}{suffix}", shot.actor)


def save_figures(folder: Path, name: str, figures: Mapping[str, Any]) -> dict[str, Any]:
    """NAME.json, without what depends on how fast this machine is; returns all."""
    lasting = {key: value for key, value in figures.items() if key not in _BY_SPEED}
    write_bytes(folder / f"{name}.json", (json.dumps(lasting, indent=2, default=float) + "\n").encode())
    return dict(figures)


def build_picture(shots: Sequence[Shot | Ghost], azimuth: float | None = None, together: bool = False) -> Picture:
    """All shots side by side, or together where they were."""
    figures = [shot.figure() for shot in shots]
    return Picture(figures if together or len(figures) == 1 else place_side_by_side(figures, azimuth=azimuth))


def film_shots(path: Path, shots: Sequence[Shot | Ghost], speed: float = 1.0, size: tuple[int, int] = FILM_SIZE,
               azimuth: float | None = None, together: bool = False) -> Path:  # fmt: skip
    """Film them all for as long as the shortest lasts; the best kind of film there is here. Returns its path."""
    picture = build_picture(shots, azimuth, together)
    begin, end = max(shot.times[0] for shot in shots), min(shot.times[-1] for shot in shots)
    times = begin + np.arange(int((end - begin) / speed * FILM_FPS) + 1) * speed / FILM_FPS
    path = path.with_name(path.name + film_suffix())
    view = frame_picture(picture, times, size, azimuth=azimuth)
    save_film(path, film_picture(picture, times, size, view), FILM_FPS)
    sheet_times = np.linspace(times[0], times[-1], SHEET_MOMENTS + 2)[1:-1]
    if size == FILM_SIZE:
        save_png(
            path.with_suffix(".png"),
            draw_sheet(picture, sheet_times, frame_picture(picture, times, SHEET_CELL, azimuth=azimuth)),
        )
    return path


def draw_sheet(picture: Picture, times: np.ndarray, view: PictureView) -> np.ndarray:
    """(H, W, 3) uint8, moments of a picture in rows of three."""
    cells = [render_picture(picture, float(t), SHEET_CELL, view) for t in times]
    return np.concatenate([np.concatenate(cells[k : k + 3], axis=1) for k in range(0, len(cells), 3)])


def save_plots(folder: Path, name: str, shot: Shot) -> None:
    """Centre of mass and support, joint torques, foot forces, connector wrenches; those that there is something for."""
    take, record = shot.take, shot.record
    times, title = take.times, f"{name}: {shot.label}"
    labels, strength = record.character.skeleton.labels, static_strength(record.character)
    support = find_support(record)
    plots = {
        "center": mix_plots.plot_center_of_mass(times, record.center, support if len(support) else None, title=title),
        "torques": mix_plots.plot_joint_torques(
            times,
            {label: np.linalg.norm(record.torque[:, i], axis=-1) for i, label in enumerate(labels) if i},
            {label: float(strength[i]) for i, label in enumerate(labels) if i},
            title=title,
        ),
    }
    if len(support):
        weight = 9.81 * build_tree(record.character).mass
        plots["feet"] = mix_plots.plot_foot_forces(times, record.feet, record.pressure, weight, title=title)
    if record.connectors:
        wrenches = {
            label: (record.wrench[:, k, 3:], record.wrench[:, k, :3]) for k, label in enumerate(record.connectors)
        }
        plots["connectors"] = mix_plots.plot_connector_wrench(times, wrenches, title=title)
    for kind, data in plots.items():
        write_bytes(folder / f"{name}-{kind}.png", data)


def measure_sway(record: ActorTake, frames: slice = slice(None)) -> float:
    """mm, RMS of the centre of mass about its mean place, seen from above."""
    level = record.center[frames][:, [0, 2]]
    return 1000.0 * float(np.sqrt(np.mean(np.sum((level - level.mean(axis=0)) ** 2, axis=1))))
