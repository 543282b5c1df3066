"""The dynamic symbol table of the shared library: the declared functions and nothing else."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
from elftools.elf.elffile import ELFFile

from abi.facts import EXTENSION_HEADER, FUNCTIONS, HEADER, IMPLEMENTED, read_headers
from pymluops.gencase._operators import OPERATORS

#: Functions that cases are dumped of: a generated entry point stands in front of each.
DUMPED = {name for operator in OPERATORS for name in operator.functions}
DECLARED = set(read_headers(HEADER, EXTENSION_HEADER).functions)


@pytest.fixture(scope="module")
def library(backend: Any) -> Any:
    with Path(backend.path).open("rb") as file:
        yield ELFFile(file)


def _defined(library: ELFFile) -> dict[str, Any]:
    symbols = library.get_section_by_name(".dynsym").iter_symbols()
    return {symbol.name: symbol for symbol in symbols if symbol["st_shndx"] != "SHN_UNDEF" and symbol.name}


def test_exports_are_the_declared_functions(library: ELFFile) -> None:
    assert set(_defined(library)) == DECLARED


def test_every_function_of_the_header_is_exported(library: ELFFile) -> None:
    assert len(FUNCTIONS) == 189
    assert set(FUNCTIONS) <= set(_defined(library))


def test_exports_are_visible_functions(library: ELFFile) -> None:
    for name, symbol in _defined(library).items():
        info, other = symbol["st_info"], symbol["st_other"]
        assert (info["type"], other["visibility"]) == ("STT_FUNC", "STV_DEFAULT"), name
        # The generated entry point of a function that is not implemented is weak, unless cases are
        # dumped of it.
        implemented = name in IMPLEMENTED or name not in FUNCTIONS or name in DUMPED
        assert info["bind"] == ("STB_GLOBAL" if implemented else "STB_WEAK"), name


def test_needs_no_other_runtime(library: ELFFile) -> None:
    """Only the C and C++ runtimes: no OpenMP, no BLAS, nothing of the vendor."""
    needed = {tag.needed for tag in library.get_section_by_name(".dynamic").iter_tags("DT_NEEDED")}
    plain = re.compile(r"(libc|libm|libpthread|libdl|librt|libgcc_s|libstdc\+\+|ld-linux[\w-]*)[-\w]*\.so[.\d]*")
    assert [name for name in needed if not plain.fullmatch(name)] == []


def test_stack_is_not_executable(library: ELFFile) -> None:
    flags = [segment["p_flags"] for segment in library.iter_segments("PT_GNU_STACK")]
    assert [flag & 1 for flag in flags] == [0]
