"""The arguments of a kernel as they are written on a command line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from pymluops._shown import one_line, shortened
from pymluops.cli import CommandError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pymluops.bang import Parameter

__all__ = ["HELP", "Written", "arrange", "read", "value_of"]

HELP = """\
An argument is NAME=VALUE, with the name of a parameter or its number from 0, or a VALUE for the next parameter that has
none. A VALUE is @FILE.npy; an array of zeros, f32[4,5]; an array with contents, f32[4,5]=WHAT, where WHAT is zeros,
ones, range, random, random:SEED (from -1 to 1, integers from -100 to 100 as far as the type goes) or a number; null; or
a number, true or false. Types are f16 f32 f64 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool, or the names of NumPy.
"""

_NAMED = re.compile(r"([A-Za-z_]\w*|[0-9]+)=(.*)", re.DOTALL)
_ARRAY = re.compile(r"([A-Za-z]\w*)\[([0-9, ]*)\](?:=(.*))?", re.DOTALL)
_INFINITE = re.compile(r"\s*[+-]?inf(?:inity)?\s*", re.IGNORECASE)
_SHORT = {"f": "float", "i": "int", "u": "uint"}
_MOST_DIGITS = 100
_MOST_DIMS = 32  # of an array in every version of NumPy
#: Limits of the memory of a container.
_OF_CONTAINERS = (Path("/sys/fs/cgroup/memory.max"), Path("/sys/fs/cgroup/memory/memory.limit_in_bytes"))
_LIMIT = 100  # of random integers
_CONTENTS = "zeros, ones, range, random, random:SEED or a number"


class Written(NamedTuple):
    """An argument that can be read.

    Attributes
    ----------
    name : str or None
        The parameter that it names.
    text : str
        The value as it is written.
    make : callable
        Makes the value; reads a file or fills an array.
    nbytes : int
        Of an array that is filled; else 0.
    """

    name: str | None
    text: str
    make: Callable[[], Any]
    nbytes: int = 0


def read(text: str) -> Written:
    """Read one argument, ``NAME=VALUE`` or ``VALUE``, as far as that goes without its parameter and files.

    Raises
    ------
    CommandError
        If it cannot be read.
    """
    match = _NAMED.fullmatch(text)
    if match is None:
        return _value(None, text)
    return _value(match[1], match[2])


def arrange(written: Sequence[Written], parameters: Sequence[Parameter]) -> list[Any]:
    """Return the arguments for the parameters, in their order.

    Raises
    ------
    CommandError
        If a parameter has none or two, or one cannot be made.
    """
    given: dict[int, Written] = {}
    for each in written:
        if each.name is None:
            continue
        number = _number_of(each.name, parameters)
        if number in given:
            raise CommandError(f"--arg {_short(each.name)}: is given twice")
        given[number] = each
    free = (number for number in range(len(parameters)) if number not in given)
    for each in written:
        if each.name is not None:
            continue
        number = next((number for number in free if number not in given), len(parameters))
        if number == len(parameters):
            raise CommandError(f"--arg {_short(each.text)}: all {len(parameters)} parameters have an argument")
        given[number] = each
    missing = [str(parameter) for number, parameter in enumerate(parameters) if number not in given]
    if missing:
        raise CommandError(f"--arg: nothing is given for {', '.join(missing)}")
    _require_room("--arg", sum(each.nbytes for each in given.values()), "all arrays")
    return [given[number].make() for number in range(len(parameters))]


def _number_of(name: str, parameters: Sequence[Parameter]) -> int:
    names = [parameter.name for parameter in parameters]
    if name in names:
        return names.index(name)
    number = int(name) if name.isdigit() and len(name) <= _MOST_DIGITS else len(names)
    if number < len(names):
        return number
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
    return _value(name, text).make()


def _value(name: str | None, text: str) -> Written:
    text = text.strip()
    option = "--arg" if name is None else f"--arg {_short(name)}"
    if text.startswith("@"):
        if text == "@":
            raise CommandError(f"{option}: expected the name of a .npy file behind @, got nothing")
        return Written(name, text, lambda: _loaded(option, text[1:]))
    match = _ARRAY.fullmatch(text)
    if match is not None:
        make, nbytes = _array(option, match[1], match[2], (match[3] or "zeros").strip())
        return Written(name, text, make, nbytes)
    if text in ("null", "true", "false"):
        return Written(name, text, lambda: {"null": None, "true": True, "false": False}[text])
    number = _number(text)
    if number is None:
        raise CommandError(
            f"{option}: expected @FILE.npy, an array such as f32[4,5], a number or null, got {_short(text)}"
        )
    return Written(name, text, lambda: number)


def _number(text: str) -> float | None:
    """Return a number; None for a text that is none, that has too many digits, or that is too large for a double."""
    if len(text) > _MOST_DIGITS:
        return None
    try:
        return int(text, 0)
    except ValueError:
        pass
    try:
        number = float(text)
    except ValueError:
        return None
    return None if math.isinf(number) and not _INFINITE.fullmatch(text) else number


def _short(text: str) -> str:
    return shortened(one_line(text), 60)


# ---- Files ---------------------------------------------------------------------------------------


def _loaded(option: str, file: str) -> NDArray[Any]:
    import numpy as np

    from pymluops.demo.files import opened
    from pymluops.demo.npy import read_header

    path = Path(file)
    try:
        with opened(path) as (stream, size):
            header = read_header(path, stream, size)
            count = math.prod(header.shape)
            _require_room(option, count * header.dtype.itemsize, "the array")
            if header.dtype.kind not in "fiub" or not header.dtype.isnative:
                raise CommandError(f"holds {shortened(str(header.dtype))}, which is no type of numbers of this machine")
            content = stream.read(count * header.dtype.itemsize)
        flat = np.frombuffer(bytearray(content), header.dtype)
        loaded = flat.reshape(header.shape, order="F" if header.fortran else "C")
    except ValueError:  # fewer bytes than there were
        raise CommandError(f"{option}: {_short(file)}: is not a whole .npy file") from None
    except CommandError as error:
        problem = str(error).removeprefix(f"{path}: ").removeprefix(f"{option}: ")
        raise CommandError(f"{option}: {_short(file)}: {problem}") from None
    return np.ascontiguousarray(cast("NDArray[Any]", loaded))


# ---- Arrays --------------------------------------------------------------------------------------


def _array(option: str, type_name: str, shape_text: str, contents: str) -> tuple[Callable[[], NDArray[Any]], int]:
    dtype = _dtype(option, type_name)
    words = [word for word in re.split(r"[, ]+", shape_text) if word]
    if len(words) > _MOST_DIMS or any(len(word.lstrip("0")) > 18 for word in words):
        expected = f"at most {_MOST_DIMS} dims, each of at most 18 digits"
        raise CommandError(f"{option}: expected {expected}, got {_short(type_name)}[{_short(shape_text)}]")
    shape = tuple(map(int, words))
    if math.prod(length or 1 for length in shape) >= 2**63 // dtype.itemsize:
        raise CommandError(f"{option}: expected a smaller array, got {_short(type_name)}[{_short(shape_text)}]")
    nbytes = math.prod(shape) * dtype.itemsize
    _require_room(option, nbytes, f"{_short(type_name)}[{_short(shape_text)}]")
    return _contents(option, dtype, shape, contents), nbytes


def _contents(option: str, dtype: np.dtype[Any], shape: tuple[int, ...], contents: str) -> Callable[[], NDArray[Any]]:
    import numpy as np

    count = math.prod(shape)
    word, colon, seed = contents.partition(":")
    if word == "random" and (not colon or (seed.isascii() and seed.isdecimal() and len(seed) <= _MOST_DIGITS)):
        return lambda: _random(np.random.default_rng(int(seed or 0)), dtype, shape)
    if contents == "range":
        _require_in_range(option, dtype, max(count - 1, 0), f"the numbers up to {count - 1}")
        return lambda: np.arange(count, dtype=np.int64 if dtype.kind == "b" else dtype).astype(dtype).reshape(shape)
    number = {"zeros": 0, "ones": 1, "true": 1, "false": 0}.get(contents, _number(contents))
    if number is None:
        raise CommandError(f"{option}: expected {_CONTENTS} behind the array's =, got {_short(contents)}")
    _require_in_range(option, dtype, number, _short(contents))
    value = number if dtype.kind == "f" or dtype.name == "bfloat16" else int(number)
    return lambda: np.full(shape, value, dtype)


def _require_in_range(option: str, dtype: np.dtype[Any], number: float, shown: str) -> None:
    """Refuse a number that an element would not hold, but for rounding of a real one."""
    import numpy as np

    if dtype.kind in "iub":
        least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        if not math.isfinite(number) or number != int(number) or not least <= number <= most:
            raise CommandError(f"{option}: expected integers from {least} to {most}, got {shown}")
        return
    with np.errstate(all="ignore"):
        held = float(np.full((), float(number), np.float64).astype(dtype))
    if math.isinf(held) and not math.isinf(number):
        raise CommandError(f"{option}: expected numbers in the range of {dtype.name}, got {shown}")


def _random(generator: np.random.Generator, dtype: np.dtype[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    import numpy as np

    if dtype.kind == "b":
        return generator.integers(0, 2, shape).astype(dtype)
    if dtype.kind in "iu":
        least = max(-_LIMIT, int(np.iinfo(dtype).min))
        return generator.integers(least, min(_LIMIT, int(np.iinfo(dtype).max)), shape, endpoint=True).astype(dtype)
    return generator.uniform(-1, 1, shape).astype(dtype)


def _dtype(option: str, type_name: str) -> np.dtype[Any]:
    import numpy as np

    match = re.fullmatch(r"([fiu])([0-9]{1,2})", type_name)
    word = f"{_SHORT[match[1]]}{match[2]}" if match else type_name
    if word in ("bf16", "bfloat16"):
        try:
            import ml_dtypes
        except ImportError:
            raise CommandError(f"{option}: bf16 needs the package ml_dtypes") from None
        bfloat16: np.dtype[Any] = np.dtype(ml_dtypes.bfloat16)
        return bfloat16
    if word in ("half", "float"):
        word = {"half": "float16", "float": "float32"}[word]
    try:
        dtype = np.dtype(word)
    except (TypeError, ValueError):
        dtype = np.dtype(object)
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise CommandError(f"{option}: expected a type such as f32, f16, i32 or u8, got {_short(type_name)}")
    return dtype


# ---- Memory --------------------------------------------------------------------------------------


def _require_room(option: str, nbytes: int, purpose: str) -> None:
    """Refuse arrays for which, with the copies that a launch takes, there is no memory."""
    most = _free_bytes() // 4
    if nbytes > most:
        gib = 1 << 30
        raise CommandError(
            f"{option}: expected at most {most / gib:.1f} GiB, a quarter of the free memory, for {purpose}, "
            f"got {nbytes / gib:.1f} GiB"
        )


def _free_bytes() -> int:
    """Return how much memory there is, as far as the system says; else 16 GiB."""
    import resource

    limits = [resource.getrlimit(resource.RLIMIT_AS)[0]]
    try:
        text = Path("/proc/meminfo").read_text(encoding="ascii")
        limits += [1024 * int(found) for found in re.findall(r"^MemAvailable: *([0-9]+) kB$", text, re.MULTILINE)]
    except (OSError, ValueError):
        limits.append(16 << 30)
    for file in _OF_CONTAINERS:
        with suppress(OSError, ValueError):  # there is none, or it says "max"
            limits.append(int(file.read_text(encoding="ascii")))
    return min(limit for limit in limits if limit >= 0)
