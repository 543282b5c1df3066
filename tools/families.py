#!/usr/bin/env python3
"""Write what follows from the families of operators.

    python3 tools/families.py [--check]

These are the exports of pymluops/ops and their types, the exports of pymluops/torch, the tables of
operators in docs/operators.md, docs/torch.md and docs/mmcv.md, the header of the operators in
double that native/ops marks, and the list of the families' headers in mluops_ext.h. With
``--check`` nothing is written, and the exit status is 1 if a file is not current. The families are
read without the compiled part of the package and without PyTorch.
"""

from __future__ import annotations

import argparse
import sys
from importlib import import_module
from pathlib import Path

from written import arrays, bindings, tensors
from written.reading import OPS, ROOT, read_families
from written.tables import with_table, with_text

NATIVE = ROOT / "native"
INCLUDE = NATIVE / "include"
#: Markers of the headers of families in mluops_ext.h.
FAMILIES = "/* Families: written by tools/families.py. */\n", "/* End of the families. */"
TORCH = ROOT / "pymluops" / "torch"
DOCUMENTS = ROOT


def extension_headers() -> dict[Path, str]:
    """Return mluops_ext.h, which includes the headers of the families, and the header of operators in double."""
    sys.path.append(str(NATIVE / "abi"))
    generate = import_module("generate")
    header = generate.read_headers([INCLUDE / "mlu_op.h"])
    path, parts = INCLUDE / "mluops_ext.h", INCLUDE / "mluops_ext"
    names = sorted(part.name for part in parts.glob("*.h") if (NATIVE / "ops" / part.stem).is_dir())
    includes = "".join(f'#include "mluops_ext/{name}"\n' for name in names)
    return {
        path: with_text(path, *FAMILIES, includes),
        parts / "double.h": str(generate.double_declarations(header, NATIVE / "ops")),
    }


def written() -> dict[Path, str]:
    """Return the text that each file should have."""
    families = read_families()
    tables = {
        DOCUMENTS / "docs" / "operators.md": arrays.rows(families),
        DOCUMENTS / "docs" / "torch.md": tensors.rows(TORCH),
        DOCUMENTS / "docs" / "mmcv.md": bindings.rows(ROOT / "pymluops" / "mmcv"),
    }
    return {
        OPS / "__init__.py": arrays.exports(families),
        OPS / "_types.pyi": arrays.stubs(families),
        TORCH / "__init__.py": tensors.exports(TORCH),
        **extension_headers(),
        **{path: with_table(path, text) for path, text in tables.items()},
    }


def stale() -> list[Path]:
    """Return the files that are not current."""
    return [path for path, text in written().items() if not path.exists() or path.read_text(encoding="utf-8") != text]


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description="Write what follows from the descriptions of the operators.")
    parser.add_argument("--check", action="store_true", help="only tell which files are not current")
    if parser.parse_args().check:
        old = stale()
        for path in old:
            print(f"{path.relative_to(ROOT)}: is not current; run tools/families.py", file=sys.stderr)
        return 1 if old else 0
    for path, text in written().items():
        path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
