"""mmcv without a compiler: ``mmcv.ops`` of mmcv-lite, or of a source tree, computed by this package on the CPU.

::

    import pymluops.mmcv
    pymluops.mmcv.install()  # before mmcv.ops is imported

    import mmcv.ops

``python -m pymluops.mmcv`` prints which operators work.
"""

from __future__ import annotations

from pymluops.mmcv._install import install, uninstall

__all__ = ["install", "uninstall"]
