"""A second opinion on where the joints of a file are: its own channels or nodes, multiplied out as they stand.

Every module reads one format again and in the plainest way: text or JSON, 4x4 matrices, a product down the tree. None
shares code with a reader, the clip, the skeleton, quaternions or Euler angles, so that a mistake there shows as a
distance here. They read files that a reader has accepted already and explain nothing; what they cannot follow is an
`Unreadable`, and the figure says that it was not checked.

    tree       a motion: names, parents, and each joint's local matrix over time
    matrices   4x4 matrices of axes, angles, quaternions
    bvh, gltf (gltf_file, gltf_keys), acclaim, deepmimic, npz     one format each
    source     the motion that a recording was read from, and which joint is which
"""
