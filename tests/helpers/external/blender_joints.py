"""Joint positions as Blender shows them: imports a BVH, GLB, USD or FBX with the importer's defaults and prints JSON.

usage: python blender_joints.py FILE SECONDS_A_FRAME FRAME...     with a Python that has `bpy`

Prints one line `JOINTS {"names": [...], "frames": [[[x, y, z], ...], ...], "meshes": [[[low], [high]], ...]}`: for each
frame the bone heads, and the box round all meshes as deformed, in metres and turned from Blender's Z-up to Y-up. The
BVH importer puts file frame i at scene frame i + 1, the USD importer at frame i; the glTF importer puts time t at frame
t times the scene's rate; the FBX importer at 1 + t times that rate rounded to a whole number.
"""

import json
import sys

import bpy


def main() -> None:
    path, seconds, *frames = sys.argv[1:]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    if path.endswith(".bvh"):
        bpy.ops.import_anim.bvh(filepath=path)
        scene_frames = [1.0 + int(frame) for frame in frames]
    elif ".usd" in path[-5:]:
        bpy.ops.wm.usd_import(filepath=path)
        scene_frames = [float(frame) for frame in frames]
    elif path.endswith(".fbx"):
        bpy.ops.import_scene.fbx(filepath=path)
        scene_frames = [1.0 + int(frame) * float(seconds) * scene.render.fps for frame in frames]
    else:
        bpy.ops.import_scene.gltf(filepath=path)
        rate = scene.render.fps / scene.render.fps_base
        scene_frames = [int(frame) * float(seconds) * rate for frame in frames]
    armature = next(thing for thing in scene.objects if thing.type == "ARMATURE")
    bones = armature.pose.bones
    found, boxes = [], []
    for scene_frame in scene_frames:
        whole = int(scene_frame // 1)
        scene.frame_set(whole, subframe=scene_frame - whole)
        heads = [armature.matrix_world @ bone.head for bone in bones]
        found.append([to_y_up(head) for head in heads])
        points = [to_y_up(point) for point in deformed_vertices()]
        boxes.append([[pick(p[axis] for p in points) for axis in range(3)] for pick in (min, max)] if points else None)
    print("JOINTS " + json.dumps({"names": [bone.name for bone in bones], "frames": found, "meshes": boxes}))


def to_y_up(point):
    return [point.x, point.z, -point.y]


def deformed_vertices():
    """World positions of the vertices of all meshes, skinning applied."""
    graph = bpy.context.evaluated_depsgraph_get()
    for thing in bpy.context.scene.objects:
        if thing.type == "MESH" and thing.find_armature():  # not the shape that Blender draws bones with
            shown = thing.evaluated_get(graph)
            yield from (shown.matrix_world @ vertex.co for vertex in shown.data.vertices)


main()
