"""What recordings do that a motion should not, one file a quirk: found, said in a sentence, and mended where it can be.

Every function is pure. A warning begins with the quirk's own words (`added T-pose:`, `lost bones:`, ...), by which it
can be found.
"""
