"""The compile-and-link recipe of kernels: its figures, its options, and what the build asks it."""

from __future__ import annotations

import dataclasses
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import pymluops
from pymluops import sim
from pymluops.sim import toolchain
from pymluops.sim.toolchain import CompileError, Toolchain

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "pymluops" / "sim" / "toolchain.py"
ARCHS = [270, 290, 372, 592]
KERNEL = '#include "bang.h"\n__mlu_entry__ void nothing() {}\n'

needs_compiler = pytest.mark.usefixtures("compiler")


def ask(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    """Run the module as the build does; with -S there is neither NumPy nor the compiled package."""
    command = [sys.executable, "-S", str(SCRIPT), *map(str, arguments)]
    return subprocess.run(command, cwd="/", capture_output=True, text=True, timeout=60, check=False)


# ---- Cards ---------------------------------------------------------------------------------------


def test_the_library_has_the_cards_of_the_file() -> None:
    assert [dataclasses.asdict(model) for model in sim.devices()] == list(toolchain.cards())


def test_the_figures_are_the_members_of_the_structure() -> None:
    fields = [name for name, _ in pymluops.load("sim").ffi.typeof("mlusimDeviceModel").fields]
    assert list(toolchain.CARD_FIELDS) == fields
    assert all(sorted(card) == sorted(fields) for card in toolchain.cards())


def test_a_card_is_found_by_its_architecture() -> None:
    assert [toolchain.card_of(arch)["arch"] for arch in ARCHS] == ARCHS
    with pytest.raises(ValueError, match="arch: expected 270, 290, 372 or 592, got 220"):
        toolchain.card_of(220)


@pytest.mark.parametrize("arch", [0, 220, 371, 593])
def test_the_device_refuses_every_other_architecture(arch: int) -> None:
    other = dataclasses.replace(sim.devices()[0], arch=arch)
    with pytest.raises(pymluops.BadParamError, match="arch: expected 270, 290, 372 or 592"):
        sim.set_device(other)


def test_the_header_names_the_architectures_of_the_cards() -> None:
    header = (ROOT / "native" / "sim" / "include" / "mlusim.h").read_text(encoding="utf-8")
    line = next(line for line in header.splitlines() if "int32_t arch;" in line)
    assert [int(number) for number in re.findall(r"\b\d{3}\b", line)] == ARCHS


def test_the_documentation_has_the_figures_of_the_cards() -> None:
    text = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    table = {row[0]: row[1:] for row in rows}
    for column, card in enumerate(toolchain.cards()):
        assert table["`__BANG_ARCH__`"][column] == str(card["arch"])
        assert table["clusters x cores"][column].startswith(f"{card['clusters']} x {card['cores_per_cluster']}")
        sizes = f"{card['nram_kib']}, {card['wram_kib']} KiB"
        assert table["NRAM, WRAM per core"][column].startswith(sizes)
        assert table["SRAM per cluster"][column] == f"{card['sram_kib'] // 1024} MiB"
        assert table["device memory"][column] == f"{card['memory_mib'] // 1024} GiB"
        assert table["clock"][column].startswith(f"{card['clock_mhz'] / 1000} GHz")
        assert table["bandwidth"][column].startswith(f"{card['bandwidth_gb_s']} GB/s")


# ---- The build -----------------------------------------------------------------------------------


def test_the_build_gets_the_architectures() -> None:
    done = ask("--archs")
    assert (done.returncode, done.stdout, done.stderr) == (0, "270;290;372;592\n", "")


@pytest.mark.parametrize("compiler_id", ["GNU", "Clang"])
@pytest.mark.parametrize("arch", ARCHS)
def test_the_build_gets_the_options_of_a_toolchain(arch: int, compiler_id: str) -> None:
    done = ask("--flags", str(arch), "--compiler-id", compiler_id, "--strip", "/build", "--strip", "/source")
    assert (done.returncode, done.stderr) == (0, "")
    words = [word for option in done.stdout.strip().split(";") for word in option.removeprefix("SHELL:").split(" ")]
    assert words == toolchain.kernel_options(arch, compiler_id, ["/build", "/source"])


def test_the_options_keep_findings_on_their_lines() -> None:
    options = toolchain.kernel_options(372, "GNU")
    assert {"-g1", "-fno-optimize-sibling-calls", "-fno-ipa-icf", "-fno-crossjumping", "-fno-tree-tail-merge"} <= {
        *options
    }
    assert {"-D__BANG_ARCH__=372", "-D__MLU_NRAM_SIZE__=768", "-D__MLU_WRAM_SIZE__=1024"} <= {*options}


def test_only_known_compilers_are_taken() -> None:
    with pytest.raises(ValueError, match="compiler_id: expected GNU or Clang, got MSVC"):
        toolchain.kernel_options(372, "MSVC")
    assert ask("--flags", "220").returncode != 0


def test_the_build_gets_the_table_of_cards(tmp_path: Path) -> None:
    assert ask("--cards", tmp_path / "cards.inc").returncode == 0
    table = (tmp_path / "cards.inc").read_text(encoding="utf-8")
    assert '{"MLU290", 290, 16, 4, 512, 512, 2048, 1024, 32768, 1000, 1024},' in table
    assert f"kDefaultModel = {[model.name for model in sim.devices()].index('MLU590')};" in table


def test_the_build_gets_macros_for_the_architectures(tmp_path: Path) -> None:
    assert ask("--arch-header", tmp_path / "archs.h").returncode == 0
    macros = dict(
        line.removeprefix("#define MLUOPS_BANG_FOR_").split("(DO, what) ")
        for line in (tmp_path / "archs.h").read_text(encoding="utf-8").splitlines()
        if line.startswith("#define")
    )
    every = {model.arch for model in sim.devices()}
    found = {name: {int(arch) for arch in re.findall(r"DO\((\d+), what\)", text)} for name, text in macros.items()}
    assert found == {"EACH_ARCH": every, "OTHER_ARCHS": every - {592}, "DEFAULT_ARCH": {592}}


# ---- Compiling -----------------------------------------------------------------------------------


@needs_compiler
def test_a_source_is_compiled_once(tmp_path: Path) -> None:
    compiled = Toolchain(tmp_path).compile(KERNEL)
    written = compiled.stat().st_mtime_ns
    assert compiled.is_relative_to(tmp_path)
    assert Toolchain(tmp_path).compile(KERNEL) == compiled
    assert compiled.stat().st_mtime_ns == written
    assert Toolchain(tmp_path).compile(KERNEL, 372) != compiled
    assert not [path for path in tmp_path.iterdir() if f".{os.getpid()}." in path.name]


@needs_compiler
@pytest.mark.parametrize(
    ("source", "said"),
    [
        ("struct S { __nram__ int x[2]; };\n", r"^wrong\.mlu:1: "),  # the translator
        ("\nint f() { return nothing; }\n", r"wrong\.mlu:2:"),  # the compiler
        ("extern int g(); int f() { return g(); }\n", "undefined reference"),  # the linker
    ],
)
def test_a_wrong_source_is_refused(source: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=said):
        Toolchain(tmp_path).compile(source, name="wrong.mlu")


def test_a_compiler_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(CompileError, match=r"^no-such-compiler: "):
        Toolchain(tmp_path, "no-such-compiler")
