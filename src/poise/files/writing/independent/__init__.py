"""A second opinion on where the joints of a file are: its own channels or nodes, multiplied out as they stand.

Every module reads one format again in the plainest way: text or JSON, 4x4 matrices, a product down the tree. None
shares code with a reader, the clip, the skeleton, quaternions or Euler angles, so that a mistake there shows as a
distance here. They read files that a reader has accepted already and explain nothing; what they cannot follow is an
`Unreadable`, and the report says that it was not checked.
"""
