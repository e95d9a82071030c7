"""`python -m poise` is the command `poise`."""

import sys

from poise.cli import main

sys.exit(main())
