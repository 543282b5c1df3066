"""``python -m pymluops.mmcv`` prints which operators of mmcv work."""

from pymluops.mmcv._table import render

if __name__ == "__main__":
    print(render())
