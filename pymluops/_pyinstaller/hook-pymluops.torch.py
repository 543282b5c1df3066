# Families are imported by their names.
# ruff: noqa: N999
from pymluops._pyinstaller import modules

hiddenimports = modules("torch")
