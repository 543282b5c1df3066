"""The arguments of a kernel as they are written on a command line."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from pymluops._shown import one_line, shortened
from pymluops.cli import CommandError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pymluops.bang import Parameter

__all__ = ["HELP", "arrange", "value_of"]

HELP = """\
An argument is NAME=VALUE, with the name of a parameter or its number from 0, or a VALUE for the next parameter that has
none. A VALUE is @FILE.npy; an array of zeros, f32[4,5]; an array with contents, f32[4,5]=WHAT, where WHAT is zeros,
ones, range, random, random:SEED (from -1 to 1, integers from -100 to 100 as far as the type goes) or a number; null; or
a number, true or false. Types are f16 f32 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool, or the names of NumPy.
"""

_NAMED = re.compile(r"^([A-Za-z_]\w*|\d+)=(.*)$", re.DOTALL)
_ARRAY = re.compile(r"^([A-Za-z]\w*)\[([\d, ]*)\](?:=(.*))?$", re.DOTALL)
_SHORT = {"f": "float", "i": "int", "u": "uint"}
_MOST_BYTES = 1 << 36
_LIMIT = 100  # of random integers


def arrange(texts: Sequence[str], parameters: Sequence[Parameter]) -> list[Any]:
    """Return the arguments for the parameters, in their order.

    Raises
    ------
    CommandError
        If a parameter has none or two, or one cannot be read.
    """
    given: dict[int, str] = {}
    unnamed: list[str] = []
    for text in texts:
        match = _NAMED.match(text)
        if match is None:
            unnamed.append(text)
            continue
        number = _number_of(match[1], parameters)
        if number in given:
            raise CommandError(f"--arg {match[1]}: is given twice")
        given[number] = match[2]
    free = (number for number in range(len(parameters)) if number not in given)
    for text in unnamed:
        number = next((number for number in free if number not in given), len(parameters))
        if number == len(parameters):
            raise CommandError(f"--arg {_short(text)}: all {len(parameters)} parameters have an argument")
        given[number] = text
    missing = [str(parameter) for number, parameter in enumerate(parameters) if number not in given]
    if missing:
        raise CommandError(f"--arg: nothing is given for {', '.join(missing)}")
    return [value_of(parameter.name, given[number]) for number, parameter in enumerate(parameters)]


def _number_of(name: str, parameters: Sequence[Parameter]) -> int:
    names = [parameter.name for parameter in parameters]
    if name in names:
        return names.index(name)
    if name.isdigit() and int(name) < len(names):
        return int(name)
    raise CommandError(f"--arg {_short(name)}: expected one of {', '.join(names) or 'no parameters'}")


def value_of(name: str, text: str) -> Any:
    """Return one argument.

    Parameters
    ----------
    name : str
        Of the parameter, for messages.
    text : str
        As it is written, see `HELP`.

    Raises
    ------
    CommandError
        If it cannot be read.
    """
    text = text.strip()
    if text.startswith("@"):
        return _loaded(name, text[1:])
    match = _ARRAY.match(text)
    if match is not None:
        return _array(name, match[1], match[2], (match[3] or "zeros").strip())
    if text in ("null", "true", "false"):
        return {"null": None, "true": True, "false": False}[text]
    number = _number(text)
    if number is not None:
        return number
    raise CommandError(
        f"--arg {name}: expected @FILE.npy, an array such as f32[4,5], a number or null, got {_short(text)}"
    )


def _number(text: str) -> float | None:
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        return float(text)
    except ValueError:
        return None


def _short(text: str) -> str:
    return shortened(one_line(text), 60)


def _loaded(name: str, file: str) -> NDArray[Any]:
    import numpy as np

    try:
        loaded: object = np.load(Path(file), allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "is not a .npy file"
        raise CommandError(f"--arg {name}: {_short(file)}: {reason}") from None
    if not isinstance(loaded, np.ndarray):
        raise CommandError(f"--arg {name}: {_short(file)}: expected one array, got an archive")
    return np.ascontiguousarray(cast("NDArray[Any]", loaded))


def _array(name: str, type_name: str, shape_text: str, contents: str) -> NDArray[Any]:
    import numpy as np

    dtype = _dtype(name, type_name)
    words = [word for word in re.split(r"[, ]+", shape_text) if word]
    shape = tuple(map(int, words))
    if math.prod(shape) * dtype.itemsize > _MOST_BYTES:
        raise CommandError(f"--arg {name}: expected at most 64 GiB, got {_short(type_name)}[{_short(shape_text)}]")
    word, _, seed = contents.partition(":")
    if word == "random" and (not seed or seed.isdigit()):
        return _random(np.random.default_rng(int(seed or 0)), dtype, shape)
    try:
        if word == "range":
            return np.arange(math.prod(shape)).reshape(shape).astype(dtype)
        number = {"zeros": 0, "ones": 1}.get(contents)
        return np.full(shape, float(contents) if number is None else number).astype(dtype)
    except (ValueError, OverflowError):
        expected = "zeros, ones, range, random, random:SEED or a number"
        raise CommandError(
            f"--arg {name}: expected {expected} behind {type_name}[...]=, got {_short(contents)}"
        ) from None


def _random(generator: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    import numpy as np

    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        least = max(-_LIMIT, int(np.iinfo(dtype).min))
        return generator.integers(least, min(_LIMIT, int(np.iinfo(dtype).max)), shape, endpoint=True).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def _dtype(name: str, type_name: str) -> np.dtype[Any]:
    import numpy as np

    match = re.fullmatch(r"([fiu])(\d+)", type_name)
    word = f"{_SHORT[match[1]]}{match[2]}" if match else type_name
    if word in ("bf16", "bfloat16"):
        try:
            import ml_dtypes
        except ImportError:
            raise CommandError(f"--arg {name}: bf16 needs the package ml_dtypes") from None
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    if word in ("half", "float"):
        word = {"half": "float16", "float": "float32"}[word]
    try:
        dtype = np.dtype(word)
    except TypeError:
        dtype = np.dtype(object)
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise CommandError(f"--arg {name}: expected a type such as f32, f16, i32 or u8, got {_short(type_name)}")
    return dtype
