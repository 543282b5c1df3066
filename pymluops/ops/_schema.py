"""What an operator expects of its arguments, written down once; `pymluops._core.Operator` reads it.

A shape is a text of terms, for example ``"N H W 4*C"``. A term is a number, a symbol, or a product of them. A symbol
stands for a number >= 0. It takes its value where it comes first, a scalar argument or a dim of an array, and
everything later must agree with it.
"""

from __future__ import annotations

from dataclasses import dataclass

from pymluops._arguments import INT32_MAX
from pymluops.enums import DataType, Layout

FLOATS = (DataType.FLOAT, DataType.HALF)
FLOAT32 = (DataType.FLOAT,)
INT32 = (DataType.INT32,)


@dataclass(frozen=True)
class Tensor:
    """An array argument.

    Parameters
    ----------
    name : str
        Name of the Python argument.
    dtype : tuple of DataType or str
        The types allowed, or the name of an earlier array argument with the same type.
    shape : str
        Its terms.
    output : bool
        Written by the operator; made by it if the caller gives None.
    own_memory : bool
        When made, it owns its memory, so that it can be resized.
    layout : Layout
        What its descriptor says.
    positive : str
        Symbols that must be > 0.
    divides : tuple of two str, optional
        Two symbols, the first of which must divide the second.
    within : tuple of str
        Symbols: every value v must satisfy 0 <= v < symbol. One symbol for all, or one for each column.
    axes : tuple of str
        What the axes are called when such a value is reported.
    library_looks : bool
        The CPU library looks at all values itself before it writes anything, and refuses the same ones. They are looked
        at here only to name one that it refused.
    parameter : str
        Name of the C parameter, if it is another.
    """

    name: str
    dtype: tuple[DataType, ...] | str
    shape: str
    output: bool = False
    own_memory: bool = False
    layout: Layout = Layout.ARRAY
    positive: str = ""
    divides: tuple[str, str] | None = None
    within: tuple[str, ...] = ()
    axes: tuple[str, ...] = ()
    library_looks: bool = False
    parameter: str = ""


@dataclass(frozen=True)
class Scalar:
    """An integer argument: it gives a symbol its value and, if a C parameter has its name, goes to that.

    Parameters
    ----------
    name : str
        Name of the Python argument.
    minimum, maximum : int
        Smallest and largest value allowed; the C functions take int32.
    symbol : str
        Name of the symbol, if it is another.
    """

    name: str
    minimum: int = 1
    maximum: int = INT32_MAX
    symbol: str = ""
