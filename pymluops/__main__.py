"""``python -m pymluops`` is the ``pymluops`` program."""

import sys

from pymluops.cli import main

if __name__ == "__main__":
    sys.exit(main())
