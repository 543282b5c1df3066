# PyInstaller does not see these by itself: imports of the compiled module, families that are
# imported by name, libraries, and files that are read.
# ruff: noqa: N999
from pymluops._pyinstaller import OPTIONAL, files, libraries, modules

hiddenimports = modules()
excludedimports = [f"pymluops.{part}" for part in OPTIONAL]
binaries = libraries()
datas = files()
