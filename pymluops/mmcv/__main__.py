"""``python -m pymluops.mmcv`` prints which operators of mmcv work."""

import os
import sys

from pymluops.mmcv._table import render

if __name__ == "__main__":
    try:
        print(render(), flush=True)
    except BrokenPipeError:  # the reader has gone, and does not want to know more
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
