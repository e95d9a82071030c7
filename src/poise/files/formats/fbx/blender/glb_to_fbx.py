"""Run by Blender, not by Poise: imports a GLB that Poise wrote and exports it as FBX.

usage: blender --background --factory-startup --python glb_to_fbx.py -- INPUT OUTPUT FRAMES FPS
   or: python glb_to_fbx.py -- INPUT OUTPUT FRAMES FPS     with a Python that has `bpy`

The GLB has a frame a second, so that its keys fall on Blender's frames exactly; the FBX is written at FPS.
The settings are those with which game engines and Blender itself see the body upright and in its own size: Y up, units
kept as the file's own scale and not as a scale of its objects, no extra bones at the ends, a key a frame.
"""

import sys

import bpy


def main() -> None:
    """Convert the file that the words after `--` name."""
    source, target, frames, fps = sys.argv[sys.argv.index("--") + 1 :]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    scene = bpy.context.scene
    set_rate(scene, 1.0)
    bpy.ops.import_scene.gltf(filepath=source)
    set_rate(scene, float(fps))
    scene.frame_start, scene.frame_end = 0, int(frames) - 1
    for thing in scene.objects:
        if thing.type == "ARMATURE":
            thing.name = "Armature"  # by this name Unreal knows that it is no bone
    for thing in list(scene.objects):
        if thing.type == "MESH" and not thing.find_armature():  # the shape that the importer draws bones with
            bpy.data.objects.remove(thing)
    bpy.ops.export_scene.fbx(
        filepath=target,
        object_types={"ARMATURE", "MESH"},
        axis_forward="-Z",
        axis_up="Y",
        apply_unit_scale=True,
        apply_scale_options="FBX_SCALE_ALL",
        bake_space_transform=False,
        add_leaf_bones=False,
        use_armature_deform_only=False,
        bake_anim=True,
        bake_anim_use_all_bones=True,
        bake_anim_use_nla_strips=False,
        bake_anim_use_all_actions=False,
        bake_anim_step=1.0,
        bake_anim_simplify_factor=0.0,
        path_mode="STRIP",
    )


def set_rate(scene: bpy.types.Scene, fps: float) -> None:
    """Blender's rate is a whole number over a base near one."""
    scene.render.fps = max(1, round(fps))
    scene.render.fps_base = scene.render.fps / fps


main()
