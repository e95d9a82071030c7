"""Run by Blender, not by Poise: imports an FBX and writes all of it as GLB, every action a clip.

usage: blender --background --factory-startup --python fbx_to_glb.py -- INPUT OUTPUT FPS
   or: python fbx_to_glb.py -- INPUT OUTPUT FPS     with a Python that has `bpy`

The GLB has the FBX file's frames at a rate of FPS, a whole number, whatever theirs is: Blender's exporter has its own
ideas of rates that are none. The line `RATE 23.976...` on standard output tells theirs.
"""

import sys

import bpy


def main() -> None:
    """Convert the file that the words after `--` name."""
    source, target, fps = sys.argv[sys.argv.index("--") + 1 :]
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.ops.import_scene.fbx(filepath=source, ignore_leaf_bones=False, automatic_bone_orientation=False)
    put_keys_on_frames()
    render = bpy.context.scene.render
    print("RATE", repr(render.fps / render.fps_base))
    render.fps, render.fps_base = int(fps), 1.0
    bpy.ops.export_scene.gltf(
        filepath=target,
        export_format="GLB",
        export_yup=True,
        export_animations=True,
        export_animation_mode="ACTIONS",
        export_force_sampling=True,  # FBX has curves of its own kind: a key a frame says what they are
        export_frame_range=False,
        export_optimize_animation_size=False,
        export_rest_position_armature=True,
        export_materials="NONE",
        export_morph=False,
        export_cameras=False,
        export_lights=False,
    )


def put_keys_on_frames() -> None:
    """Undo a slip of the importer: it places keys as if the rate were a whole number, 24 for 23.976."""
    scene = bpy.context.scene
    stretch = 1.0 / scene.render.fps_base
    for action in bpy.data.actions:
        for bag in (bag for layer in action.layers for strip in layer.strips for bag in strip.channelbags):
            for curve in bag.fcurves:
                for key in curve.keyframe_points:
                    frame = 1.0 + (key.co[0] - 1.0) * stretch
                    key.co[0] = round(frame) if abs(frame - round(frame)) < 1e-2 else frame
                curve.update()


main()
