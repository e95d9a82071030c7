"""What to do about bones that lost their length when a recording was converted: `--bones`."""

KEEP, RESTORE = BONES = ("keep", "restore")
