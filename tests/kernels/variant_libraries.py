"""Our own kernels, each with a line changed, and what the checkers have to say then.

A library is made of the host's half of ours and the changed kernels, which run on the simulator of
the sim backend. It is an ordinary backend for Python, so operators are called as ever.
"""

from __future__ import annotations

import dataclasses
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pymluops
from kernels.host_functions import HERE
from kernels.variants import Calls, Variant
from pymluops import sim
from pymluops.sim.toolchain import Toolchain, run_tool

NATIVE = HERE.parents[1] / "native"
#: The families with kernels for the device, and the modules of their changes.
FAMILIES = tuple(sorted(path.parent.name for path in (NATIVE / "ops").glob("*/bang.mlu")))
_MODULES = [importlib.import_module(f"kernels.variants.{family}") for family in FAMILIES]
VARIANTS: list[Variant] = [variant for module in _MODULES for variant in module.VARIANTS]
CALLS: Calls = {name: call for module in _MODULES for name, call in module.CALLS.items()}


# ---- Libraries -----------------------------------------------------------------------------------


def digest(text: str) -> str:
    """Stands in options for what a source includes, so that nothing is taken for compiled that has changed."""
    return "0x" + hashlib.sha256(text.encode()).hexdigest()[:8]


class Libraries:
    """Builds the library of a variant; what variants share is compiled once."""

    def __init__(self, toolchain: Toolchain) -> None:
        self.toolchain = toolchain
        headers = "".join(path.read_text(encoding="utf-8") for path in sorted(NATIVE.rglob("*.h")))
        self._headers = f"-DMLUOPS_TEST_HEADERS={digest(headers)}"

    def build(self, variant: Variant) -> Path:
        source = NATIVE / "ops" / variant.file
        text = changed(source.read_text(encoding="utf-8"), variant)
        folder = self.toolchain.folder / "changed" / variant.name
        if source.suffix == ".h":
            target = folder / "ops" / variant.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
        with ThreadPoolExecutor(2) as pool:
            objects = list(pool.map(lambda work: work(), self._objects(variant, text, folder)))
        return self.toolchain.link(objects, f"libmluops_{variant.name}")

    def _objects(self, variant: Variant, text: str, folder: Path) -> Iterator[Callable[[], Path]]:
        for family in FAMILIES:
            source = NATIVE / "ops" / family / "bang.mlu"
            is_variant = family == variant.family
            content = text if source == NATIVE / "ops" / variant.file else source.read_text(encoding="utf-8")
            first = [f"-I{folder}", f"-DMLUOPS_TEST_CHANGE={digest(text)}"] if is_variant else []
            yield self._kernels(content, source, variant.arch, first)
        yield from (self._entries("--entries", "entries.c"), self._entries("--case-entries", "case_entries.cpp"))
        families = [f"ops/{family}/{part}" for family in FAMILIES for part in ("*.cpp", "bang/*.cpp")]
        for pattern in ("core/*.cpp", "cases/*.cpp", "bang/*.cpp", *families):
            for source in sorted(NATIVE.glob(pattern)):
                if not source.name.startswith("cpu"):
                    yield self._host(source)

    def _kernels(self, text: str, source: Path, arch: int, first: list[str]) -> Callable[[], Path]:
        options = [*first, *self._include(), "-fvisibility=hidden"]
        return lambda: self.toolchain.kernel_object(text, str(source), arch, options)

    def _host(self, source: Path) -> Callable[[], Path]:
        options = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", '-DMLUOPS_LIBRARY_VERSION="test"']
        options += ['-DMLUOPS_BANG_KIND="sim"', f"-I{source.parent}", *self._include()]
        text = source.read_text(encoding="utf-8")
        return lambda: self.toolchain.host_object(text, str(source), options)

    def _entries(self, option: str, name: str) -> Callable[[], Path]:
        """Entry points that the build generates too: of functions that are not implemented, and of dumped ones."""
        target = self.toolchain.folder / "changed" / name
        target.parent.mkdir(exist_ok=True)
        headers = [NATIVE / "include" / name for name in ("mlu_op.h", "mluops_ext.h")]
        run_tool([sys.executable, NATIVE / "abi" / "generate.py", "--header", *headers, option, target])
        language = ["-x", "c"] if target.suffix == ".c" else ["-std=c++17"]
        options = [*language, "-O1", "-fPIC", "-fvisibility=hidden", *self._include()]
        return lambda: self.toolchain.host_object(target.read_text(encoding="utf-8"), str(target), options)

    def _include(self) -> list[str]:
        return [self._headers, f"-I{NATIVE}", f"-I{NATIVE / 'include'}", f"-I{self.toolchain.simulator.include}"]


def changed(text: str, variant: Variant) -> str:
    """The source with the line changed, which has to be there once. Lines keep their numbers."""
    assert text.count(variant.old) == 1, f"{variant.file} has {text.count(variant.old)} times:\n{variant.old}"
    missing = variant.old.count("\n") - variant.new.count("\n")
    return text.replace(variant.old, "\n" * missing + variant.new)


def line_of(variant: Variant) -> tuple[Path, int]:
    """Where the finding has to be: in the file that was changed, or in another one for the device."""
    folder = NATIVE / "ops" / variant.family
    others = [path for pattern in ("bang*.*", "bang/*.h") for path in sorted(folder.glob(pattern))]
    for path in [NATIVE / "ops" / variant.file, *others]:
        text = path.read_text(encoding="utf-8")
        if path == NATIVE / "ops" / variant.file:
            text = changed(text, variant)
        if variant.at in text:
            assert text.count(variant.at) == 1, f"{path} has several times:\n{variant.at}"
            return path, text[: text.index(variant.at)].count("\n") + 1
    raise AssertionError(f"nowhere: {variant.at}")


# ---- Calls, in a process of their own ------------------------------------------------------------


def main(library: str, arch: int, calls: Sequence[str]) -> None:
    """Makes the calls with all checkers and rules on and prints a line for each: what they found."""
    models = {model.arch: model.name for model in sim.devices()}
    with pymluops.use(library), sim.checking("all", {"all": "fail", "unused": "off"}):
        sim.set_device(models[arch])
        for call in calls:
            findings: tuple[Any, ...] = ()
            try:
                CALLS[call]()
            except pymluops.ExecutionFailedError as error:
                findings = error.findings
            print(json.dumps([dataclasses.asdict(finding) for finding in findings]))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), sys.argv[3:])
