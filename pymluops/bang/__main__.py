"""``python -m pymluops.bang`` is ``bangcc``."""

import sys

from pymluops.bang.driver import main

if __name__ == "__main__":
    sys.exit(main())
