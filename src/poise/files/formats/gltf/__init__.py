"""glTF 2.0 in and out: .glb, .gltf, .vrm and .vrma. One module an idea.

In:
    document   the container: JSON, buffers, accessors; `entry` reads its JSON key by key
    nodes      the tree of nodes
    tracks     keys, and what is between them
    rig        which nodes are the body's joints
    pose       nodes that turn and scale at rest, to joints that do not
    skin       the mesh
    remarks    what was unusual
    vrm        the bones that a VRM names
    reading    all of these: a file's recording
    character  a character, cut from the mesh of a model

Out:
    buffer     the binary part, and the container round it
    glb        a clip and its body
    glb_crowd  many characters in one file
    animate    a motion, added to the user's own file
"""
