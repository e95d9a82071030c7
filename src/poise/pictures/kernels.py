"""The loops of the renderer, compiled: posing, filling triangles, blurring, and the colour of a pixel."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from poise.compiled.kernel import kernel


class Viewpoint(NamedTuple):
    """The camera: eye (3,) m; axes (3, 3) rows right, up, ahead; focal length in pixels; samples a pixel's side."""

    eye: np.ndarray
    axes: np.ndarray
    focal: float
    samples: int


class Geometry(NamedTuple):
    """What is seen: corners (V, 3) and faces (F, 3) as for `fill_triangles`; points m, normals, colors (V, 3)."""

    corners: np.ndarray
    faces: np.ndarray
    points: np.ndarray
    normals: np.ndarray
    colors: np.ndarray


class Light(NamedTuple):
    """The key light: axes (3, 3) rows its picture's x and y and the way towards it; its picture, nearness (N, N);
    place (4,): the picture's corner x, y in m, samples per m, and the zero of nearness."""

    axes: np.ndarray
    nearness: np.ndarray
    place: np.ndarray


class GroundMaps(NamedTuple):
    """Maps (N, N) of the ground at y = 0, covered from the light and covered from close above; place (3,): the maps'
    corner x, z in m and samples per m; whether it is drawn at all."""

    shadow: np.ndarray
    contact: np.ndarray
    place: np.ndarray
    is_drawn: bool


class PaintMap(NamedTuple):
    """What is painted on the ground: owner (H samples, W samples), index of a patch's face or -1, or (0, 0) for no
    paint; tints (faces, 3), factors on the ground's own light."""

    owner: np.ndarray
    tints: np.ndarray


class Scene(NamedTuple):
    """Everything that colours a picture; palette (4, 3) linear light: sky, horizon, ground, bounce from below."""

    viewpoint: Viewpoint
    geometry: Geometry
    light: Light
    ground: GroundMaps
    paint: PaintMap
    palette: np.ndarray


class Samples(NamedTuple):
    """What each sample shows (H samples, W samples): nearness, and owner, the index of a face or -1."""

    nearness: np.ndarray
    owner: np.ndarray


# Neighbours looked at for ambient occlusion: 16 patterns of 8 directions, as shares of the radius (16, 8, 2).
_TURNS = np.arange(16)[:, None] / 16.0 * np.pi / 4.0 + (np.arange(8) % 4 + 0.5 * (np.arange(8) // 4)) * np.pi / 4.0
CREVICE_STEPS = np.stack([np.cos(_TURNS), np.sin(_TURNS)], axis=-1) * np.where(np.arange(8) < 4, 0.4, 1.0)[:, None]
# sRGB bytes of linear light 0..1 in equal steps, fine enough for the darkest.
_LEVELS = np.linspace(0.0, 1.0, 16384)
SRGB_BYTES = np.round(
    255.0 * np.where(_LEVELS <= 0.0031308, 12.92 * _LEVELS, 1.055 * _LEVELS ** (1.0 / 2.4) - 0.055)
).astype(np.uint8)


@kernel(fastmath=True)
def fill_triangles(corners: np.ndarray, faces: np.ndarray, nearness: np.ndarray, owner: np.ndarray) -> None:
    """Keep, for each sample, the nearest face over it.

    corners   (V, 3) x, y in samples and a nearness that is linear over the picture; faces with a corner of nearness
              <= 0 are left out (they reach behind the camera)
    faces     (F, 3)
    nearness  (H, W) in and out; a face wins where it is larger
    owner     (H, W) in and out, index of the face that won
    """
    height, width = nearness.shape
    for f in range(faces.shape[0]):
        i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
        if corners[i, 2] <= 0.0 or corners[j, 2] <= 0.0 or corners[k, 2] <= 0.0:
            continue
        ax, ay, bx, by, cx, cy = (
            corners[i, 0],
            corners[i, 1],
            corners[j, 0],
            corners[j, 1],
            corners[k, 0],
            corners[k, 1],
        )
        area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
        if area == 0.0:
            continue
        left = max(int(np.ceil(min(ax, bx, cx) - 0.5)), 0)
        right = min(int(np.floor(max(ax, bx, cx) - 0.5)), width - 1)
        top = max(int(np.ceil(min(ay, by, cy) - 0.5)), 0)
        bottom = min(int(np.floor(max(ay, by, cy) - 0.5)), height - 1)
        if left > right or top > bottom:
            continue
        # Shares u, v of the corners i, j are linear over the picture: start at the box's first sample, then step.
        inverse = 1.0 / area
        u_right, v_right = (by - cy) * inverse, (cy - ay) * inverse
        u_down, v_down = (cx - bx) * inverse, (ax - cx) * inverse
        x, y = left + 0.5, top + 0.5
        u_row = ((bx - x) * (cy - y) - (by - y) * (cx - x)) * inverse
        v_row = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) * inverse
        near_i, near_j, near_k = corners[i, 2], corners[j, 2], corners[k, 2]
        for row in range(top, bottom + 1):
            u, v = u_row, v_row
            for column in range(left, right + 1):
                if u >= 0.0 and v >= 0.0 and u + v <= 1.0:
                    near = near_k + u * (near_i - near_k) + v * (near_j - near_k)
                    if near > nearness[row, column]:
                        nearness[row, column] = near
                        owner[row, column] = f
                u += u_right
                v += v_right
            u_row += u_down
            v_row += v_down


@kernel(fastmath=True)
def pose_skin(
    vertices: np.ndarray,
    normals: np.ndarray,
    joints: np.ndarray,
    weights: np.ndarray,
    matrices: np.ndarray,
    points: np.ndarray,
    directions: np.ndarray,
) -> None:
    """Move a skin with its joints: the linear blend of `SkinnedMesh.pose`, ten times as fast.

    vertices, normals   (V, 3) at rest; joints, weights (V, 4); matrices (J, 3, 4), rest to world
    points, directions  (V, 3) out: vertices in m and unit normals in the world
    """
    for v in range(vertices.shape[0]):
        for row in range(3):
            a = b = c = d = 0.0
            for k in range(4):
                w = weights[v, k]
                if w != 0.0:
                    j = joints[v, k]
                    a += w * matrices[j, row, 0]
                    b += w * matrices[j, row, 1]
                    c += w * matrices[j, row, 2]
                    d += w * matrices[j, row, 3]
            points[v, row] = a * vertices[v, 0] + b * vertices[v, 1] + c * vertices[v, 2] + d
            directions[v, row] = a * normals[v, 0] + b * normals[v, 1] + c * normals[v, 2]
        x, y, z = directions[v]
        length = max(np.sqrt(x * x + y * y + z * z), 1e-12)
        for row in range(3):
            directions[v, row] /= length


@kernel(fastmath=True)
def blur(image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(H, W) smoothed along both axes by symmetric weights (n,): the middle's, then outward."""
    height, width = image.shape
    reach = weights.shape[0] - 1
    along = np.zeros_like(image)
    for y in range(height):
        for x in range(width):
            value = image[y, x]
            if value != 0.0:
                for k in range(max(-reach, -x), min(reach, width - 1 - x) + 1):
                    along[y, x + k] += value * weights[abs(k)]
    out = np.zeros_like(image)
    for y in range(height):
        for k in range(max(-reach, -y), min(reach, height - 1 - y) + 1):
            for x in range(width):
                out[y + k, x] += along[y, x] * weights[abs(k)]
    return out


@kernel(fastmath=True)
def sample_map(image: np.ndarray, x: float, y: float) -> float:
    """The value of a map (H, W) between its samples; 0 outside."""
    height, width = image.shape
    x -= 0.5
    y -= 0.5
    column, row = int(np.floor(x)), int(np.floor(y))
    if column < 0 or row < 0 or column >= width - 1 or row >= height - 1:
        return 0.0
    s, t = x - column, y - row
    upper = image[row, column] * (1.0 - s) + image[row, column + 1] * s
    lower = image[row + 1, column] * (1.0 - s) + image[row + 1, column + 1] * s
    return upper * (1.0 - t) + lower * t


@kernel(fastmath=True)
def measure_light(light: Light, x: float, y: float, z: float) -> float:
    """Share of the light that reaches a point in the world, 0 to 1: over 5 x 5 samples of what the light sees."""
    axes, place = light.axes, light.place
    column = int((x * axes[0, 0] + y * axes[0, 1] + z * axes[0, 2] - place[0]) * place[2])
    row = int((x * axes[1, 0] + y * axes[1, 1] + z * axes[1, 2] - place[1]) * place[2])
    near = x * axes[2, 0] + y * axes[2, 1] + z * axes[2, 2] - place[3] + 0.010
    height, width = light.nearness.shape
    if row < 2 or column < 2 or row >= height - 2 or column >= width - 2:
        return 1.0
    seen = 0.0
    for i in range(-2, 3):
        for j in range(-2, 3):
            if light.nearness[row + i, column + j] <= near:
                seen += (3.0 - abs(i)) * (3.0 - abs(j))
    return seen / 81.0


@kernel(fastmath=True)
def measure_crevice(nearness: np.ndarray, x: int, y: int, reach: float, depth: float) -> float:
    """How much of the surroundings of a sample stands before it, 0 open to 1 closed: ambient occlusion.

    Opposite samples are taken in pairs, so that a slanted plane does not shade itself. `reach` is the radius in
    samples and `depth` the same in metres: what is nearer by more than that does not count.
    """
    height, width = nearness.shape
    here = 1.0 / nearness[y, x]
    closed = 0.0
    pattern = (x * 7 + y * 11) & 15
    for step in range(8):
        dx, dy = int(reach * CREVICE_STEPS[pattern, step, 0]), int(reach * CREVICE_STEPS[pattern, step, 1])
        pair = 0.0
        for sign in (-1, 1):
            c, r = x + sign * dx, y + sign * dy
            if c < 0 or r < 0 or c >= width or r >= height or nearness[r, c] <= 0.0:
                pair -= depth
            else:
                pair += min(max(here - 1.0 / nearness[r, c], -depth), depth)
        closed += min(max(pair / depth, 0.0), 1.0)
    return closed / 8.0


@kernel(fastmath=True)
def find_weights(geometry: Geometry, f: int, x: float, y: float) -> tuple[float, float, float]:
    """Shares of a face's corners at a sample, in the world: linear over the picture only after division by distance."""
    corners, faces = geometry.corners, geometry.faces
    i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
    ax, ay, bx, by, cx, cy = corners[i, 0], corners[i, 1], corners[j, 0], corners[j, 1], corners[k, 0], corners[k, 1]
    inverse = 1.0 / ((bx - ax) * (cy - ay) - (by - ay) * (cx - ax))
    u = ((bx - x) * (cy - y) - (by - y) * (cx - x)) * inverse
    v = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) * inverse
    u, v, w = u * corners[i, 2], v * corners[j, 2], (1.0 - u - v) * corners[k, 2]
    inverse = 1.0 / (u + v + w)
    return u * inverse, v * inverse, w * inverse


@kernel(fastmath=True)
def blend(values: np.ndarray, faces: np.ndarray, f: int, u: float, v: float, w: float) -> tuple[float, float, float]:
    """The value inside a face, from its corners' (V, 3)."""
    i, j, k = faces[f, 0], faces[f, 1], faces[f, 2]
    return (
        u * values[i, 0] + v * values[j, 0] + w * values[k, 0],
        u * values[i, 1] + v * values[j, 1] + w * values[k, 1],
        u * values[i, 2] + v * values[j, 2] + w * values[k, 2],
    )


@kernel(fastmath=True)
def unit(x: float, y: float, z: float) -> tuple[float, float, float]:
    """The direction of a vector."""
    inverse = 1.0 / np.sqrt(x * x + y * y + z * z + 1e-30)
    return x * inverse, y * inverse, z * inverse


@kernel(fastmath=True)
def light_factors(
    view: Viewpoint,
    light: Light,
    point: tuple[float, float, float],
    normal: tuple[float, float, float],
    open_: float,
    lit: float,
) -> tuple[float, float, float, float]:
    """What reaches the eye from a point with a normal: direct light, sky, bounce from below, gloss.

    open_  how little the surroundings hide it; lit  how much of the key light reaches it; both 0 to 1
    """
    px, py, pz = point
    nx, ny, nz = normal
    lx, ly, lz = light.axes[2, 0], light.axes[2, 1], light.axes[2, 2]
    vx, vy, vz = unit(view.eye[0] - px, view.eye[1] - py, view.eye[2] - pz)
    direct = max(nx * lx + ny * ly + nz * lz, 0.0) * lit
    sky = 0.5 + 0.5 * ny
    hx, hy, hz = unit(vx + lx, vy + ly, vz + lz)
    shine = max(nx * hx + ny * hy + nz * hz, 0.0)
    shine *= shine
    shine *= shine
    shine *= shine
    shine *= shine
    edge = 1.0 - max(nx * vx + ny * vy + nz * vz, 0.0)
    gloss = 0.08 * direct * shine * shine + 0.10 * edge * edge * edge * sky * open_
    return 1.15 * direct, 0.43 * sky * open_, 0.43 * (1.0 - sky) * open_, gloss


@kernel(fastmath=True, inline="always")
def measure_ground(ground: GroundMaps, x: float, z: float, width_x: float, width_z: float) -> tuple[float, float]:
    """Factors on the ground's brightness at (x, z) m: what shadows leave of it, and what the grid's lines leave.

    width_x, width_z  m, what one pixel covers there
    """
    column, row = (x - ground.place[0]) * ground.place[2], (z - ground.place[1]) * ground.place[2]
    lit = 1.0 - 0.42 * sample_map(ground.shadow, column, row)
    lit *= 1.0 - 0.55 * sample_map(ground.contact, column, row)
    grid = 0.0
    line = 0.004
    for value, width in ((x, width_x), (z, width_z)):
        nearest = np.floor(4.0 * value + 0.5)
        away = abs(0.25 * nearest - value)
        if away < 0.5 * width + line:
            # Every fourth line, at whole metres, is the stronger one.
            spacing, strength = (1.0, 0.16) if int(nearest) & 3 == 0 else (0.25, 0.05)
            cover = min((0.5 * width + line - away) / width, 1.0) * min(1.0, 2.0 * line / width + 0.15)
            grid = max(grid, strength * cover * min(1.0, 0.5 * spacing / width))
    return lit, 1.0 - grid


@kernel(fastmath=True, inline="always")
def room_factors(view: Viewpoint, ground: GroundMaps, a: float, b: float) -> tuple[float, float, float]:
    """Shares of sky, horizon and ground in what a ray meets that goes a right and b up for each 1 ahead."""
    axes, eye = view.axes, view.eye
    dx = axes[2, 0] + a * axes[0, 0] + b * axes[1, 0]
    dy = axes[2, 1] + a * axes[0, 1] + b * axes[1, 1]
    dz = axes[2, 2] + a * axes[0, 2] + b * axes[1, 2]
    level = np.sqrt(dx * dx + dz * dz) + 1e-12
    if dy >= 0.0 or not ground.is_drawn or eye[1] <= 0.0:
        rise = min(max(1.6 * dy / level, 0.0), 1.0)
        return rise, 1.0 - rise, 0.0
    away = -eye[1] / dy
    # One pixel covers away / focal across the view, and 1 / |dy| times that along it.
    across = away / view.focal
    along = across / -dy
    wide, deep = (across * abs(dz) + along * abs(dx)) / level, (across * abs(dx) + along * abs(dz)) / level
    lit, grid = measure_ground(ground, eye[0] + away * dx, eye[2] + away * dz, wide, deep)
    far = away * level / (4.0 + 9.0 * eye[1])
    far *= far
    haze = 1.0 - 1.0 / (1.0 + far + 0.5 * far * far)  # much like 1 - exp(-far), and cheaper
    lines = grid + (1.0 - grid) * haze
    return 0.0, haze * (0.5 + 0.5 * lit) * lines, (1.0 - haze) * lit * lines


@kernel(fastmath=True, inline="always")
def measure_tint(
    paint: PaintMap, owner: np.ndarray, row: int, column: int, samples: int, rest: float
) -> tuple[float, float, float]:
    """Factors on the room's light in a pixel that shows it with a share `rest`: that share, tinted by paint."""
    if paint.owner.shape[0] == 0:
        return rest, rest, rest
    red = green = blue = 0.0
    share = 1.0 / (samples * samples)
    for r in range(row * samples, (row + 1) * samples):
        for c in range(column * samples, (column + 1) * samples):
            if owner[r, c] >= 0:
                continue
            k = paint.owner[r, c]
            if k < 0:
                red += share
                green += share
                blue += share
            else:
                red += share * paint.tints[k, 0]
                green += share * paint.tints[k, 1]
                blue += share * paint.tints[k, 2]
    return red, green, blue


@kernel(fastmath=True)
def find_bare(
    bare: np.ndarray, owner: np.ndarray, painted: np.ndarray, view: Viewpoint, ground: GroundMaps, part: np.ndarray
) -> None:
    """Tell the pixels that show the room as it is without anything in it.

    bare     (H, W) out; owner, painted (H samples, W samples), -1 where there is no surface, no paint
    part     (4,) top, bottom, left, right of the pixels that shade or paint may have changed
    """
    height, width = bare.shape
    samples, focal, is_drawn = view.samples, view.focal, ground.is_drawn
    axes, eye, shadow, contact, place = view.axes, view.eye, ground.shadow, ground.contact, ground.place
    is_painted = painted.shape[0] > 0
    for row in range(height):
        for column in range(width):
            is_free = True
            for r in range(row * samples, (row + 1) * samples):
                for c in range(column * samples, (column + 1) * samples):
                    if owner[r, c] >= 0 or (is_painted and painted[r, c] >= 0):
                        is_free = False
            if is_free and part[0] <= row < part[1] and part[2] <= column < part[3]:
                a, b = (column + 0.5 - 0.5 * width) / focal, (0.5 * height - row - 0.5) / focal
                dy = axes[2, 1] + a * axes[0, 1] + b * axes[1, 1]
                if dy < 0.0 and is_drawn and eye[1] > 0.0:
                    away = -eye[1] / dy
                    x = eye[0] + away * (axes[2, 0] + a * axes[0, 0] + b * axes[1, 0])
                    z = eye[2] + away * (axes[2, 2] + a * axes[0, 2] + b * axes[1, 2])
                    x, z = (x - place[0]) * place[2], (z - place[1]) * place[2]
                    is_free = sample_map(shadow, x, z) == 0.0 and sample_map(contact, x, z) == 0.0
            bare[row, column] = is_free


@kernel(fastmath=True)
def resolve(image: np.ndarray, seen: Samples, scene: Scene, bare: np.ndarray, first: int, last: int) -> None:
    """Colour rows first to last - 1 from their samples: the nearest face's colour, lit and shadowed, or the room's.

    image     (H, W, 3) uint8, out
    bare      (H, W) pixels to leave as they are, or (0, 0) for none
    """
    view, geometry, light, palette = scene.viewpoint, scene.geometry, scene.light, scene.palette
    nearness, owner, paint, ground = seen.nearness, seen.owner, scene.paint, scene.ground
    height, width = image.shape[:2]
    samples, focal, faces = view.samples, view.focal, geometry.faces
    share = 1.0 / (samples * samples)
    reach = 0.05 * focal * samples
    slope = 1.0 / focal
    has_backdrop = bare.shape[0] > 0
    for row in range(first, last):
        for column in range(width):
            if has_backdrop and bare[row, column]:
                continue
            red = green = blue = 0.0
            rest = 1.0
            known = 0.0
            lit = open_ = 1.0
            for r in range(row * samples, (row + 1) * samples):
                for c in range(column * samples, (column + 1) * samples):
                    f = owner[r, c]
                    if f < 0:
                        continue
                    rest -= share
                    u, v, w = find_weights(geometry, f, c + 0.5, r + 0.5)
                    px, py, pz = blend(geometry.points, faces, f, u, v, w)
                    nx, ny, nz = blend(geometry.normals, faces, f, u, v, w)
                    nx, ny, nz = unit(nx, ny, nz)
                    # Shadow and occlusion vary slowly: once a pixel, and again where another surface comes in.
                    distance = 1.0 / nearness[r, c]
                    if known == 0.0 or abs(distance - known) > 0.02:
                        known = distance
                        # Looked up a little off the surface, so that it does not shade itself.
                        lit = measure_light(light, px + 0.012 * nx, py + 0.012 * ny, pz + 0.012 * nz)
                        open_ = 1.0 - 0.8 * measure_crevice(nearness, c, r, reach * nearness[r, c], 0.05)
                    direct, sky, bounce, gloss = light_factors(view, light, (px, py, pz), (nx, ny, nz), open_, lit)
                    own_red, own_green, own_blue = blend(geometry.colors, faces, f, u, v, w)
                    red += share * (own_red * (direct + sky * palette[0, 0] + bounce * palette[3, 0]) + gloss)
                    green += share * (own_green * (direct + sky * palette[0, 1] + bounce * palette[3, 1]) + gloss)
                    blue += share * (own_blue * (direct + sky * palette[0, 2] + bounce * palette[3, 2]) + gloss)
            if rest > 1e-9:
                a, b = (column + 0.5 - 0.5 * width) * slope, (0.5 * height - row - 0.5) * slope
                sky, horizon, floor = room_factors(view, ground, a, b)
                tint_red, tint_green, tint_blue = measure_tint(paint, owner, row, column, samples, rest)
                red += tint_red * (sky * palette[0, 0] + horizon * palette[1, 0] + floor * palette[2, 0])
                green += tint_green * (sky * palette[0, 1] + horizon * palette[1, 1] + floor * palette[2, 1])
                blue += tint_blue * (sky * palette[0, 2] + horizon * palette[1, 2] + floor * palette[2, 2])
            image[row, column, 0] = SRGB_BYTES[int(min(red, 1.0) * 16383.0 + 0.5)]
            image[row, column, 1] = SRGB_BYTES[int(min(green, 1.0) * 16383.0 + 0.5)]
            image[row, column, 2] = SRGB_BYTES[int(min(blue, 1.0) * 16383.0 + 0.5)]
