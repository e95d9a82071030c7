"""glTF 2.0 in and out: .glb, .gltf, .vrm and .vrma. One module an idea.

In:
    document   the container: JSON, buffers, accessors; `entry` reads its JSON key by key
    nodes      the tree of nodes
    tracks     keys, and what is between them
    rig        which nodes are the body's joints
    pose       nodes that turn and scale at rest, to joints that do not
    skin       the mesh
    vrm        the bones that a VRM names
    read       all of these, and what was unusual: a file's recording
    character  a character, cut from the mesh of a model

Out:
    write      a clip and its body, or many characters, in a new file
    animate    a motion, added to the user's own file
"""
