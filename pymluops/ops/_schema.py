"""What an operator expects of its arguments, written down once; `pymluops._core.Operator` reads it.

A shape is a text of terms, for example ``"N H W 4*C K+1"``. A term is a number, a symbol, or a
product of them, to which a number may be added. A symbol stands for a number >= 0. It takes its
value where it comes first, an integer argument or a dim of an array, and everything later must
agree with it.

A rule is a text of two terms and an operator between them: ``"G divides C"``, ``"K == H*W"``,
``"top <= N"``, with any comparison of Python; or of a term and the numbers it may be: ``"D in 5
6"``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from pymluops.enums import DataType, Layout

FLOATS = (DataType.FLOAT, DataType.HALF)
FLOAT32 = (DataType.FLOAT,)
INT32 = (DataType.INT32,)


@dataclass(frozen=True)
class Pairs:
    """The types that an array may have beside those of another one.

    Parameters
    ----------
    other : str
        Name of the other array argument, which stands earlier.
    allowed : tuple of (DataType, DataType)
        Pairs of types: of the other array, and of this one. The first pair with the other's type
        says what a made output has.
    """

    other: str
    allowed: tuple[tuple[DataType, DataType], ...]


@dataclass(frozen=True)
class Tensor:
    """An array argument.

    Parameters
    ----------
    name : str
        Name of the Python argument.
    dtype : tuple of DataType, str or Pairs
        The types allowed, the name of an earlier array argument with the same type, or pairs of
        types with it. An output that is made has the first one.
    shape : str
        Its terms.
    output : bool
        Written by the operator; made by it if the caller gives None.
    in_place : bool
        Read and written: an output that the caller must give.
    zeroed : bool
        An output of which the operator writes only parts: it is made of zeros, and the other values
        of a given one stay.
    optional : bool
        May be None, which the C function gets as NULL.
    given_with : str
        Name of an earlier optional array argument: this one is given exactly if that one is. An
        output is made then.
    own_memory : bool
        When made, it owns its memory, so that it can be resized.
    layout : Layout
        What its descriptor says.
    positive : str
        Symbols that must be > 0.
    zero_if : str
        Symbols: where one of them is 0 the C function writes nothing, and this output is filled
        with zeros here.
    rules : tuple of str
        Rules between symbols that are known with this array.
    any_size : bool
        May have 2**31 elements or more.
    within : tuple of str
        Symbols: every value v must satisfy 0 <= v < symbol. One symbol for all, or one for each
        column.
    at : str
        Name of another int32 array argument of one dim: only the rows with its numbers are looked
        at, for `within`.
    counts : str
        Symbol: every value is at least 0, and their sum is at most this.
    spans : str
        Name of an earlier int32 array argument of the same shape, and a symbol: with a value v and
        the length n there, ``0 <= v``, ``0 <= n`` and ``v + n <= symbol``.
    axes : tuple of str
        What the axes are called when such a value is reported.
    library_looks : bool
        The CPU library looks at all values itself before it writes anything, and refuses the same
        ones. They are looked at here only to name one that it refused.
    parameter : str
        Name of the C parameter, if it is another.
    any_dims : bool
        It may have any number of dims; `shape` is one symbol, the number of its elements. All such
        arrays have the same dims, and an output that is made gets these. An output that is given
        may be such an input: each element is computed of those at its place.
    stretched : bool
        With `any_dims`, an input whose dims need only go together with those of the others, as
        NumPy's do.
    """

    name: str
    dtype: tuple[DataType, ...] | str | Pairs
    shape: str
    output: bool = False
    in_place: bool = False
    zeroed: bool = False
    optional: bool = False
    given_with: str = ""
    own_memory: bool = False
    layout: Layout = Layout.ARRAY
    positive: str = ""
    zero_if: str = ""
    rules: tuple[str, ...] = ()
    any_size: bool = False
    within: tuple[str, ...] = ()
    at: str = ""
    counts: str = ""
    spans: str = ""
    axes: tuple[str, ...] = ()
    library_looks: bool = False
    parameter: str = ""
    any_dims: bool = False
    stretched: bool = False


@dataclass(frozen=True)
class Scalar:
    """An argument that is no array. What it is follows from the type of the C parameter with its name.

    - an integer type, or no C parameter: an integer. If it cannot be negative, it gives a symbol
      its value.
    - ``float`` and ``double``: a number. For a ``float`` it is rounded before it is compared with
      the limits.
    - ``bool``: a truth value
    - an enum: one of `choices`

    Parameters
    ----------
    name : str
        Name of the Python argument.
    minimum, maximum : int or float, optional
        Smallest and largest value allowed. Without them, integers go from 1 to the largest of the C
        type and numbers have no limits.
    symbol : str
        Name of the symbol, if it is another.
    parameter : str
        Name of the C parameter, if it is neither the symbol nor `name`.
    above : bool
        `minimum` itself is not allowed; for numbers.
    infinite, nan : bool
        Infinities, or NaN, are allowed; for numbers.
    choices : mapping of str to int
        Names of the values allowed; the value itself may be given as well.
    passed : int, optional
        What the C function gets whatever value is given, for an integer that has no effect.
    """

    name: str
    minimum: float | None = None
    maximum: float | None = None
    symbol: str = ""
    parameter: str = ""
    above: bool = False
    infinite: bool = False
    nan: bool = False
    choices: Mapping[str, int] = field(default_factory=dict[str, int])
    passed: int | None = None

    @property
    def c_name(self) -> str:
        """Name of the C parameter that it goes to, if there is one."""
        return self.parameter or self.symbol or self.name
