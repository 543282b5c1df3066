"""Writes test cases, and files with their values beside them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from pymluops._whole_file import whole_file
from pymluops.gencase._values import stated_field

if TYPE_CHECKING:
    from pymluops.gencase._file import CaseFile, CaseTensor

__all__ = ["write_case"]


def write_case(case: CaseFile, target: Path, data: str) -> None:
    """Write a case; see `Case.write`. All that it needs is read before the first file is written."""
    from pymluops.gencase._file import text_of

    files: dict[str, bytes] = {}
    if data == "files":
        made, files = _with_files(case, target)
    elif data == "keep":
        made = case if target.parent.resolve() == case.folder.resolve() else _without_files(case)
    else:
        made = case.inlined(hexadecimal=data == "hexadecimal")
    content = made.node.SerializeToString() if target.suffix == ".pb" else text_of(made).encode()
    for name, values in files.items():
        _write(target.with_name(name), values)
    _write(target, content)


def _write(path: Path, content: bytes) -> None:
    with whole_file(path) as temporary:
        temporary.write_bytes(content)


def _with_files(case: CaseFile, target: Path) -> tuple[CaseFile, dict[str, bytes]]:
    """Return a copy whose tensors name files beside it, and what these have by their names: the bits as they are."""
    made, files = case.copy(), dict[str, bytes]()
    for number, (tensor, source) in enumerate(zip(_tensors(made), _tensors(case), strict=True)):
        values = None if source.is_null else source.values()
        if values is None:
            continue
        side = "input" if number < len(case.inputs) else "output"
        name = f"{target.stem}_data{number}_{side}"
        files[name] = values.astype(values.dtype.newbyteorder("<"), copy=False).tobytes()
        tensor.set_values(values[:0])
        tensor.message.path = name
    return made, files


def _without_files(case: CaseFile) -> CaseFile:
    """Return a copy that has the values of files itself, by their bits where decimals would lose some."""
    made = case.copy()
    for tensor in _tensors(made):
        values = tensor.values() if stated_field(tensor.message) == "path" else None
        if values is not None:
            tensor.set_values(values, hexadecimal=_loses_bits(values))
    return made


def _loses_bits(values: np.ndarray) -> bool:
    """Whether a NaN has other bits than that of decimal numbers."""
    if values.dtype.kind != "f":
        return False
    found = values[np.isnan(values)]
    return bool(found.tobytes() != np.full(found.size, np.nan, values.dtype).tobytes())


def _tensors(case: CaseFile) -> tuple[CaseTensor, ...]:
    return (*case.inputs, *case.outputs)
