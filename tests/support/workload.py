"""Every operator on fixed arguments, large enough for several threads; as a program it prints digests."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Collection
from functools import cache
from typing import Any

import numpy as np

import pymluops
from support import described, families


@cache
def _calls(name: str, dtype: str) -> list[dict[str, Any]]:
    return described.large(name, np.random.default_rng(13), dtype)


def _changed_in_place(name: str, arguments: dict[str, Any]) -> dict[str, np.ndarray]:
    """Copies of the arrays that an operator changes, as the arguments serve several calls."""
    names = [tensor.name for tensor in families.OPERATORS[name].tensors if tensor.in_place]
    return {key: arguments[key].copy() for key in names if arguments.get(key) is not None}


def results(handle: Any = None, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Named results of the operators in all their types; of those in `names` only, if it is given.

    A name begins with that of the operator and a space.
    """
    found: dict[str, np.ndarray] = {}
    for name in families.OPERATORS if names is None else names:
        for dtype in described.dtypes(name):
            for case, arguments in enumerate(_calls(name, dtype)):
                changed = _changed_in_place(name, arguments)
                made = described.call(name, {**arguments, **changed}, handle=handle)
                for number, array in enumerate((*made, *changed.values())):
                    found[f"{name} {dtype} {case} {number}"] = array
    return found


def on(backend: str) -> list[str]:
    """The operators that a library has, those included that `described_calls.on` lacks."""
    library = pymluops.load(backend)
    return [name for name, operator in families.OPERATORS.items() if library.implements(operator.function)]


def digests(handle: Any = None) -> dict[str, str]:
    """A hash of every result in the CPU library."""
    return {
        name: hashlib.sha256(f"{value.dtype.str}{value.shape}".encode() + value.tobytes()).hexdigest()
        for name, value in results(handle).items()
    }


def differing(found: dict[str, str], expected: dict[str, str]) -> list[str]:
    """Names of the results whose digests are not equal."""
    return sorted(name for name in found.keys() | expected.keys() if found.get(name) != expected.get(name))


if __name__ == "__main__":
    library = pymluops.load("cpu")
    level = library.ffi.string(library.lib.mluopsExtGetInstructionLevel()).decode()
    json.dump({"level": level, "digests": digests(), "threads": pymluops.get_num_threads()}, sys.stdout)
