"""Calls of single intrinsics: statements that become one kernel, and what they do to arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from kernels.host_functions import SUCCESS, Device, Outcome
from pymluops.sim.toolchain import Toolchain

HERE = Path(__file__).resolve().parent

#: The types of elements, by their names in BANG C.
DTYPES: dict[str, Any] = {
    "half": np.dtype(np.float16),
    "float": np.dtype(np.float32),
    "bfloat16_t": np.dtype(ml_dtypes.bfloat16),
    "char": np.dtype(np.int8),
    "signed char": np.dtype(np.int8),
    "unsigned char": np.dtype(np.uint8),
    "short": np.dtype(np.int16),
    "unsigned short": np.dtype(np.uint16),
    "int": np.dtype(np.int32),
    "unsigned int": np.dtype(np.uint32),
    "std::int64_t": np.dtype(np.int64),
    "std::uint64_t": np.dtype(np.uint64),
}
REALS = ("half", "float", "bfloat16_t")
HALF_FLOAT = ("half", "float")
WORDS = ("short", "unsigned short", "int", "unsigned int")
INTEGERS = ("char", "signed char", "unsigned char", *WORDS)

#: ``run(arch, function, *arguments)`` calls a host function of a test's source.
Run = Callable[..., Outcome]

NOTHING = np.zeros(0, np.uint8)
SOURCES = 3


@dataclass(frozen=True)
class Done:
    """What a call left: dst, the memory in GDRAM, what it returned, and what the simulator found."""

    dst: np.ndarray
    memory: np.ndarray
    returned: np.ndarray
    outcome: Outcome

    def value(self, dtype: Any) -> Any:
        return self.returned.view(dtype)[0]


class Calls:
    """Statements compiled for one architecture and run one at a time.

    In a statement ``D(T)`` is dst, ``A(T)``, ``B(T)``, ``C(T)`` are the sources as pointers to T,
    all in NRAM, ``M(T)`` points into GDRAM, ``W(T)`` into WRAM, ``N(i)`` is one of the numbers
    given, and ``RETURN(x)`` keeps a result.
    """

    def __init__(
        self, toolchain: Toolchain, device: Callable[[int], Device], arch: int, statements: Iterable[str]
    ) -> None:
        self._numbers = {statement: number for number, statement in enumerate(dict.fromkeys(statements))}
        cases = " ".join(f"case {number}: {statement}; break;" for statement, number in self._numbers.items())
        source = HERE / "vector.mlu"
        before, _, after = source.read_text(encoding="utf-8").partition("{ CALLS }")
        assert after, "vector.mlu has no place for the calls"
        text = f"{before}{{ {cases} }}{after}"
        self._library = toolchain.compile(text, arch, name=str(source))
        self._device = device(arch)

    def __call__(
        self,
        statement: str,
        *sources: np.ndarray,
        dst: np.ndarray = NOTHING,
        memory: np.ndarray = NOTHING,
        numbers: Sequence[int] = (),
        keep: bool = False,
        alias: int = 0,
        shift: int = 0,
        loaded: Sequence[int] | None = None,
        out: tuple[int, int] | None = None,
        expected: Iterable[tuple[str, str]] = (),
        recorded: Iterable[tuple[str, str]] = (),
        checks: str = "all",
    ) -> Done:
        """Run a statement; what the simulator finds has to be `expected`, pairs of checker and rule.

        dst gives the shape and type of the result, and its first contents if `keep`. `alias` puts
        it over a source, counted from 1. `loaded` says how many bytes of each source are written
        before, `out` which bytes of dst go back: begin and number. What is `recorded` is found as
        well, and does not end the launch.
        """
        given = [bytes_of(source) for source in sources] + [NOTHING] * (SOURCES - len(sources))
        sizes = [source.nbytes for source in given]
        results = [bytes_of(dst).copy(), bytes_of(memory).copy(), np.zeros(8, np.uint8)]
        begin, bytes_out = out if out is not None else (0, dst.nbytes)
        layout = [dst.nbytes, *sizes, memory.nbytes, int(keep), alias, shift, *(loaded or sizes), begin, bytes_out]
        layout += [*numbers, *[0] * (12 - len(numbers))]
        outcome = self._device.call(
            self._library, "run", self._numbers[statement], results[0], *given, *results[1:],
            np.array(layout, np.int32), checks=checks,
        )  # fmt: skip
        found = {(finding.checker, finding.rule) for finding in outcome.findings}
        assert found == {*expected, *recorded}, outcome.report
        assert (outcome.code == SUCCESS) == (not set(expected)), outcome.report
        return Done(
            results[0].view(dst.dtype).reshape(dst.shape),
            results[1].view(memory.dtype).reshape(memory.shape),
            results[2],
            outcome,
        )


def bytes_of(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)


# ---- Values --------------------------------------------------------------------------------------

EDGES = (0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 127.5, -128.5, 1e-8, -6e-8, 6.1e-5, 65504.0, -65504.0,
         1e10, -3.4e38, 1.2e-40, float("inf"), float("-inf"), float("nan"))  # fmt: skip
INTEGER_EDGES = (0, 1, -1, 2, 7, -8, 127, -128, 255, 256, 32767, -32768, 65535, 2**31 - 1, -(2**31), 2**32 - 1)


def values(rng: np.random.Generator, ctype: str, count: int, *, special: float = 0.3) -> np.ndarray:
    """Random elements, some of them edges of what numbers can be."""
    dtype = DTYPES[ctype]
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        drawn = rng.integers(info.min, info.max, count, dtype=dtype, endpoint=True)
        small = rng.integers(-4 if info.min < 0 else 0, 5, count).astype(dtype)
        edges = np.array([edge for edge in INTEGER_EDGES if info.min <= edge <= info.max], dtype)
        drawn = np.where(rng.random(count) < 0.3, small, drawn)
    else:
        with np.errstate(over="ignore"):
            drawn = (rng.standard_normal(count) * 10.0 ** rng.integers(-3, 4, count)).astype(np.float32).astype(dtype)
            edges = np.array(EDGES, np.float32).astype(dtype)
    return np.where(rng.random(count) < special, edges[rng.integers(0, len(edges), count)], drawn).astype(dtype)


def assert_same(actual: np.ndarray, expected: np.ndarray) -> None:
    """The same bits; but one NaN is like another."""
    assert actual.dtype == expected.dtype
    word = np.dtype(f"u{actual.dtype.itemsize}")
    a, b = np.ascontiguousarray(actual).view(word), np.ascontiguousarray(expected).view(word)
    differs = a != b
    if actual.dtype.kind not in "iub":
        differs &= ~(np.isnan(actual.astype(np.float32)) & np.isnan(expected.astype(np.float32)))
    places = np.flatnonzero(differs.reshape(-1))
    assert not len(places), (
        f"{len(places)} differ, the first at {places[0]}: {actual.reshape(-1)[places[0]]!r} is not "
        f"{expected.reshape(-1)[places[0]]!r}"
    )


def succeed(outcome: Outcome) -> None:
    assert outcome.code == SUCCESS, outcome.report
