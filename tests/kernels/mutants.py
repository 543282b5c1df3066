"""Our own kernels, each with a line changed, and what the checkers have to say then.

A library is made of the host's half of ours and the changed kernels, which run on the simulator of the sim backend. It
is an ordinary backend for Python, so operators are called as ever.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from kernels.device import HERE
from pymluops import sim
from pymluops.sim.toolchain import Toolchain, run_tool

NATIVE = HERE.parents[1] / "native"
FAMILIES = ("tin_shift", "psamask", "border_align", "three_interpolate", "get_indice_pairs")


@dataclass(frozen=True)
class Variant:
    """A change of a kernel, a call that shows it, and the finding: what, and where, by the start of the text there."""

    name: str
    file: str
    old: str
    new: str
    call: str
    finding: str
    at: str
    arch: int = 372

    @property
    def family(self) -> str:
        return self.file.partition("/")[0]


TIN_SHIFT, PSAMASK, BORDER_ALIGN, THREE_INTERPOLATE, GET_INDICE_PAIRS = (f"{family}/bang.mlu" for family in FAMILIES)

VARIANTS = [
    # A tile is cleared, then waited for, then loaded and stored.
    Variant(
        "zeros_not_waited_for", TIN_SHIFT,
        "    wait_for_all();\n    copy_rows(buffer + first", "    copy_rows(buffer + first",
        "tin_shift", "race/unsynced-compute",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "last_tile_not_waited_for", TIN_SHIFT,
        "  }\n  wait_for_all();\n}", "  }\n}",
        "tin_shift", "sync/drained-at-end",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "head_not_cleared", TIN_SHIFT,
        "clear_loosely(buffer, 0, first * tile.bytes);", "",
        "tin_shift", "init/copy",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "one_step_too_late", TIN_SHIFT,
        "(first - tile.shift) * plan.step_bytes", "(first - tile.shift + 1) * plan.step_bytes",
        "tin_shift", "memory/out-of-bounds",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "every_core_takes_all", TIN_SHIFT,
        "begin = plan.tiles * taskId / taskDim;", "begin = 0;",
        "tin_shift", "race/between-cores",
        "__memcpy_async(target, source, bytes, direction, target_stride, source_stride, rows - 1);",
    ),
    Variant(
        "lines_not_waited_for", PSAMASK,
        "    wait_for_all();\n    copy_tile(plan, box, map, plan.area, lines, NRAM2GDRAM);",
        "    copy_tile(plan, box, map, plan.area, lines, NRAM2GDRAM);",
        "psamask_collect", "race/copy-in-flight",
        "__memcpy_async(there, here, bytes, NRAM2GDRAM, array_stride, bytes, rows - 1);",
    ),
    Variant(
        "transpose_not_waited_for", PSAMASK,
        "    wait_for_all();\n    copy_columns(plan, box, map, turned, side, NRAM2GDRAM);",
        "    copy_columns(plan, box, map, turned, side, NRAM2GDRAM);",
        "psamask_distribute", "race/unsynced-compute",
        "__memcpy_async(there, turned, run * kFloat, NRAM2GDRAM, plan.area * kFloat, turned_line * kFloat,",
    ),
    Variant(
        "columns_not_waited_for", PSAMASK,
        "    wait_for_all();\n    // What pads", "    // What pads",
        "psamask_distribute_backward", "race/copy-in-flight",
        "__bang_transpose(lines, turned, plan.line, side);",
    ),
    Variant(
        "lines_not_cleared", PSAMASK,
        "    __bang_write_zero(lines, rounded_up(positions * plan.line, kVector));\n", "",
        "psamask_collect", "init/copy",
        "__memcpy_async(there, here, bytes, NRAM2GDRAM, array_stride, bytes, rows - 1);",
    ),
    Variant(
        "lines_not_rounded_up", PSAMASK,
        "__bang_write_zero(lines, rounded_up(positions * plan.line, kVector));",
        "__bang_write_zero(lines, positions * plan.line - 1);",
        "psamask_collect", "align/size",
        "__bang_write_zero(lines, positions * plan.line - 1);", 270,
    ),
    Variant(
        "samples_not_waited_for", BORDER_ALIGN,
        "    if (i > 0) keep_best(pool, (int)i, count);\n    wait_for_all();",
        "    if (i > 0) keep_best(pool, (int)i, count);",
        "border_align_forward", "race/copy-in-flight",
        "__bang_mul_scalar(value + at, pixels + at, shares[4 * b], plan.slot);",
    ),
    Variant(
        "gradients_overwritten", BORDER_ALIGN,
        "__bang_atomic_reduce_add(map, products, count);",
        "__memcpy(map, products, count * (int)sizeof(T), NRAM2GDRAM);",
        "border_align_backward", "race/between-cores",
        "__memcpy(map, products, count * (int)sizeof(T), NRAM2GDRAM);",
    ),
    Variant(
        "map_not_zeroed", BORDER_ALIGN,
        "if (cnrtMemsetAsync(problem.grad_input, 0, static_cast<std::size_t>(bytes), handle->queue) == cnrtSuccess) {",
        "if (bytes != 0) {",
        "border_align_backward", "init/atomic",
        "__bang_atomic_reduce_add(map, products, count);",
    ),
    Variant(
        "gradients_not_waited_for", BORDER_ALIGN,
        "wait_for_all();\n      spread_group(plan, group, spread);\n", "spread_group(plan, group, spread);\n",
        "border_align_backward", "race/implied-wait",
        "__bang_int2float(spread.number, spread.loaded_argmax, count, 0);",
    ),
    Variant(
        "targets_not_waited_for", THREE_INTERPOLATE,
        "GDRAM2NRAM);\n  wait_for_all();", "GDRAM2NRAM);",
        "three_interpolate_forward", "race/implied-wait",
        "const int index = work.targets.index[kNeighbours * n + i];\n"
        "      if (!is_within(index, first, count)) continue;\n      scale(",
    ),
    Variant(
        "terms_not_cleared", THREE_INTERPOLATE,
        "for (int i = 0; i < kNeighbours; ++i) __bang_write_value(work.terms[i], elements, 0.0f);", "",
        "three_interpolate_forward", "init/copy",
        "__memcpy(matrix + part.offset, table.stage, part.columns * size, NRAM2GDRAM,",
    ),
    Variant(
        "any_index_taken", THREE_INTERPOLATE,
        "      if (!is_within(index, first, count)) continue;\n      scale(", "      scale(",
        "three_interpolate_forward", "memory/out-of-bounds",
        "__bang_mul_scalar(to, from, weight, channels);",
    ),
    Variant(
        "one_row_too_many", THREE_INTERPOLATE,
        "width * size, part.length * size,\n           part.rows - 1);",
        "width * size, part.length * size,\n           part.rows);",
        "three_interpolate_backward", "memory/out-of-bounds",
        "__memcpy(table.stage, matrix + part.offset, part.columns * size, GDRAM2NRAM,",
    ),
    Variant(
        "rows_read_too_far", GET_INDICE_PAIRS,
        "load(raw, plan.memory.indices + static_cast<std::int64_t>(at) * 4, count * 4);",
        "load(raw, plan.memory.indices + static_cast<std::int64_t>(at) * 4, count * 4 + 4);",
        "get_indice_pairs", "memory/out-of-bounds",
        "void load(int *to, const int *from, int count) { __memcpy(to, from, count * 4, GDRAM2NRAM); }",
    ),
    Variant(
        "every_task_takes_all", "get_indice_pairs/bang_rows.h",
        "share.begin = static_cast<int>(static_cast<std::int64_t>(count) * taskId / taskDim);", "share.begin = 0;",
        "get_indice_pairs", "race/between-jobs",
        "void store(int *to, int *from, int count) { __memcpy(to, from, count * 4, NRAM2GDRAM); }",
    ),
    Variant(
        "numbers_not_counted", GET_INDICE_PAIRS,
        "  count_up(iota, plan.chunk);\n  const Share share = share_of(plan.rows);",
        "  const Share share = share_of(plan.rows);",
        "get_indice_pairs", "init/copy",
        "void store(int *to, int *from, int count) { __memcpy(to, from, count * 4, NRAM2GDRAM); }",
    ),
    Variant(
        "digits_overlap", GET_INDICE_PAIRS,
        "__bang_transpose(coordinates, raw, count, 4);", "__bang_transpose(raw, raw, count, 4);",
        "get_indice_pairs", "align/overlap",
        "__bang_transpose(raw, raw, count, 4);",
    ),
]  # fmt: skip


# ---- Libraries -------------------------------------------------------------------------------------------------------


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
        for pattern in ("core/*.cpp", "bang/*.cpp", *(f"ops/{family}/*.cpp" for family in FAMILIES)):
            for source in sorted(NATIVE.glob(pattern)):
                if not source.name.startswith("cpu"):
                    yield self._host(source)
        yield self._entries()

    def _kernels(self, text: str, source: Path, arch: int, first: list[str]) -> Callable[[], Path]:
        options = [*first, *self._include(), "-fvisibility=hidden"]
        return lambda: self.toolchain.kernel_object(text, str(source), arch, options)

    def _host(self, source: Path) -> Callable[[], Path]:
        options = ["-std=c++17", "-O1", "-fPIC", "-fvisibility=hidden", '-DMLUOPS_LIBRARY_VERSION="test"']
        options += ['-DMLUOPS_BANG_KIND="sim"', f"-I{source.parent}", *self._include()]
        text = source.read_text(encoding="utf-8")
        return lambda: self.toolchain.host_object(text, str(source), options)

    def _entries(self) -> Callable[[], Path]:
        """The entry points of functions that are not implemented, which the build generates too."""
        target = self.toolchain.folder / "changed" / "entries.c"
        target.parent.mkdir(exist_ok=True)
        headers = [NATIVE / "include" / name for name in ("mlu_op.h", "mluops_ext.h")]
        run_tool([sys.executable, NATIVE / "abi" / "generate.py", "--header", *headers, "--entries", target])
        text = target.read_text(encoding="utf-8")
        options = ["-x", "c", "-O1", "-fPIC", "-fvisibility=hidden", *self._include()]
        return lambda: self.toolchain.host_object(text, str(target), options)

    def _include(self) -> list[str]:
        return [self._headers, f"-I{NATIVE}", f"-I{NATIVE / 'include'}", f"-I{self.toolchain.simulator.include}"]


def changed(text: str, variant: Variant) -> str:
    """The source with the line changed, which has to be there once. Lines keep their numbers."""
    assert text.count(variant.old) == 1, f"{variant.file} has {text.count(variant.old)} times:\n{variant.old}"
    missing = variant.old.count("\n") - variant.new.count("\n")
    return text.replace(variant.old, "\n" * missing + variant.new)


def line_of(variant: Variant) -> tuple[Path, int]:
    """Where the finding has to be: in the file that was changed, or in another one of its folder."""
    for path in [NATIVE / "ops" / variant.file, *sorted((NATIVE / "ops" / variant.family).glob("bang*"))]:
        text = path.read_text(encoding="utf-8")
        if path == NATIVE / "ops" / variant.file:
            text = changed(text, variant)
        if variant.at in text:
            assert text.count(variant.at) == 1, f"{path} has several times:\n{variant.at}"
            return path, text[: text.index(variant.at)].count("\n") + 1
    raise AssertionError(f"nowhere: {variant.at}")


# ---- Calls, in a process of their own --------------------------------------------------------------------------------


def numbers(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=shape).astype(np.float32)


def indices(*shape: int, least: int, most: int) -> np.ndarray:
    return np.random.default_rng(1).integers(least, most + 1, shape, dtype=np.int32)


def sites(count: int, extent: int) -> np.ndarray:
    chosen = np.random.default_rng(2).permutation(extent**3)[:count]
    columns = [np.zeros_like(chosen), chosen // extent**2, chosen // extent % extent, chosen % extent]
    return np.stack(columns, axis=1).astype(np.int32)


BOXES = np.tile(np.array([[[1.0, 1.0, 6.0, 6.0]]], np.float32), (1, 8, 1))

CALLS: dict[str, Callable[[], Any]] = {
    "tin_shift": lambda: pymluops.tin_shift_forward(numbers(2, 6, 8, 40), np.array([[2, -1], [1, -3]], np.int32)),
    "psamask_collect": lambda: pymluops.psamask_forward(numbers(1, 9, 9, 25), 0, (5, 5)),
    "psamask_distribute": lambda: pymluops.psamask_forward(numbers(1, 9, 9, 25), 1, (5, 5)),
    "psamask_distribute_backward": lambda: pymluops.psamask_backward(numbers(1, 9, 9, 81), 1, (5, 5)),
    "border_align_forward": lambda: pymluops.border_align_forward(numbers(1, 9, 9, 64), BOXES, 4),
    "border_align_backward": lambda: pymluops.border_align_backward(
        numbers(1, 8, 4, 16), BOXES, indices(1, 8, 4, 16, least=0, most=4), 4, (9, 9)
    ),
    "three_interpolate_forward": lambda: pymluops.three_interpolate_forward(
        numbers(1, 32, 20), indices(1, 40, 3, least=-1, most=20), numbers(1, 40, 3), validate=False
    ),
    "three_interpolate_backward": lambda: pymluops.three_interpolate_backward(
        numbers(1, 32, 40), indices(1, 40, 3, least=-1, most=20), numbers(1, 40, 3), 20, validate=False
    ),
    "get_indice_pairs": lambda: pymluops.get_indice_pairs(
        sites(300, 16), batch_size=1, spatial_shape=(16, 16, 16), kernel_size=3
    ),
}


def main(library: str, arch: int, calls: Sequence[str]) -> None:
    """Makes the calls with all checkers and rules on and prints a line for each: what they found."""
    models = {model.arch: model.name for model in sim.devices()}
    with pymluops.use(library), sim.checking("all", {"all": "fail"}):
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
