"""``python -m pymluops.dropins`` prints which packages and extensions of others there are here, and what works."""

import os
import sys

from pymluops.dropins._table import render

if __name__ == "__main__":
    try:
        print(render(), flush=True)
    except BrokenPipeError:  # the reader has gone, and does not want to know more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
