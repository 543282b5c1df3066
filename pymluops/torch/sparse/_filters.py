"""Layouts of filters in state dicts: those of mmcv, of this package and of the versions of spconv."""

from __future__ import annotations

import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from pymluops.torch._numbers import flag

__all__ = ["OWN_VERSION", "filters_from_spconv", "filters_to_spconv", "load_state_dict", "read_filter"]

#: Written into the metadata of state dicts by modules of this package. PyTorch writes 1 for modules
#: of others, and mmdetection3d 2 for those of spconv 2.
OWN_VERSION = 3

#: [*kernel_size, Ci, Co], [*kernel_size, Co, Ci] and [Co, *kernel_size, Ci].
LAYOUTS = ("mmcv", "spconv-2.0", "spconv-2.2")


def _moved(weight: Tensor, layout: str, back: bool) -> Tensor:
    if layout == "spconv-2.0":
        return weight.transpose(-1, -2)
    if layout == "spconv-2.2":
        return weight.movedim(-1, 0) if back else weight.movedim(0, -1)
    if layout != "mmcv":
        raise ValueError(f"filters: layout: expected one of {', '.join(LAYOUTS)}, got {layout!r}")
    return weight


def filters_from_spconv(weight: Tensor, layout: str = "spconv-2.2") -> Tensor:
    """Return a filter of spconv as it is here and in mmcv: [*kernel_size, Ci, Co].

    Parameters
    ----------
    weight : Tensor
        The filter.
    layout : {"spconv-2.2", "spconv-2.0", "mmcv"}
        [Co, *kernel_size, Ci] since spconv 2.2, [*kernel_size, Co, Ci] in 2.0 and 2.1; ``"mmcv"``,
        which spconv 1 has too, is the layout of the result.

    Returns
    -------
    Tensor, shape [*kernel_size, Ci, Co]

    Raises
    ------
    ValueError
        If the layout is another one.
    """
    return _moved(weight, layout, back=False).contiguous()


def filters_to_spconv(weight: Tensor, layout: str = "spconv-2.2") -> Tensor:
    """Return a filter [*kernel_size, Ci, Co] in a layout of spconv; see `filters_from_spconv`."""
    return _moved(weight, layout, back=True).contiguous()


class _Undecided(NamedTuple):
    """A filter whose shape several layouts have."""

    module: Any
    weight: Tensor
    candidates: list[str]
    message: str
    home: str


class _Load:
    """A call of load_state_dict, recognised by the list of missing keys that all its modules share."""

    def __init__(self, missing: list[str]) -> None:
        self.missing = missing
        self.told: set[str] = set()
        self.undecided: list[_Undecided] = []


_local = threading.local()


@contextmanager
def _asked_for(layout: str | None) -> Generator[None]:
    before = getattr(_local, "layout", None)
    _local.layout, _local.load = layout, None
    try:
        yield
    finally:
        _local.layout, _local.load = before, None


def load_state_dict(
    module: nn.Module, state_dict: Mapping[str, Any], layout: str | None = None, *, strict: bool = True
) -> Any:
    """Load a state dict whose filters have a layout that their shapes may not tell.

    Parameters
    ----------
    module : Module
        The network.
    state_dict : mapping of str to Tensor
        Its parameters and buffers.
    layout : {"mmcv", "spconv-2.2", "spconv-2.0"}, optional
        The layout of all filters of sparse convolutions; see `filters_from_spconv`. Without it,
        shapes tell.
    strict : bool
        Whether all keys have to be there.

    Returns
    -------
    NamedTuple
        Missing and unexpected keys, as ``Module.load_state_dict`` returns them.

    Raises
    ------
    RuntimeError
        If a filter has not the shape of the layout, or several layouts have its shape and nothing
        tells which is meant.
    ValueError
        If the layout is another one.
    """
    if layout is not None and layout not in LAYOUTS:
        raise ValueError(f"load_state_dict: layout: expected one of {', '.join(LAYOUTS)}, got {layout!r}")
    strict = flag("load_state_dict", "strict", strict)
    with _asked_for(layout):
        return module.load_state_dict(state_dict, strict=strict)


def _shape_in(layout: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    *kernel, inputs, outputs = shape
    shapes = {"mmcv": shape, "spconv-2.0": (*kernel, outputs, inputs), "spconv-2.2": (outputs, *kernel, inputs)}
    return shapes[layout]


def _converted(weight: Tensor, layout: str, home: str, pointwise: bool) -> Tensor:
    """Return a filter in the layout of its layer.

    Layers of a kernel of 1 read the memory of a filter as [Ci, Co] in every version of spconv,
    whatever its shape says, and so do those of mmcv.
    """
    cells = filters_from_spconv(weight, layout)
    if pointwise:
        cells = weight.contiguous().view(cells.shape)
        return cells if home == "mmcv" else cells.view(_shape_in(home, tuple(cells.shape)))
    return cells if home == "mmcv" else filters_to_spconv(cells, home)


def read_filter(
    module: Any,
    name: str,
    weight: Tensor,
    version: int | None,
    missing: list[str],
    errors: list[str],
    *,
    home: str = "mmcv",
    asked: str | None = None,
    presumed: str | None = None,
) -> Tensor:
    """Return a filter of a state dict in the layout of its layer, or tell in `errors` why that is not known.

    Parameters
    ----------
    module : SparseConvolution
        The layer that loads it.
    name : str
        Its key.
    weight : Tensor
        The filter.
    version : int, optional
        Of the layer, from the metadata of the state dict.
    missing, errors : list of str
        Lists that all modules of a call of load_state_dict share.
    home : str
        The layout of the layer's own filter.
    asked : str, optional
        The layout that the caller names, unless a call of `load_state_dict` here names one.
    presumed : str, optional
        The layout where nothing tells, in place of an error.

    Returns
    -------
    Tensor
        The filter; as it was if its shape fits no layout.
    """
    load = getattr(_local, "load", None)
    if load is None or load.missing is not missing:
        load = _local.load = _Load(missing)
    own = module.weight.detach()
    shape = tuple(filters_from_spconv(own.to("meta"), home).shape)
    candidates = [layout for layout in LAYOUTS if _shape_in(layout, shape) == tuple(weight.shape)]
    asked = getattr(_local, "layout", None) or asked
    named = asked or {OWN_VERSION: "mmcv", 2: "spconv-2.2"}.get(version or 0)
    if named in candidates:
        candidates = [named]
    elif asked:
        errors.append(f"{name}: expected shape {list(_shape_in(asked, shape))} of {asked}, got {list(weight.shape)}")
        return weight
    if not candidates:
        return weight
    pointwise = _is_pointwise(module)
    readings = {layout: _converted(weight, layout, home, pointwise) for layout in candidates}
    if len(candidates) == 1:
        load.told.add(candidates[0])
        _decide(load, errors)
        return readings[candidates[0]]
    first = readings[candidates[0]]
    if not weight.is_meta and all(torch.equal(first, other) for other in readings.values()):
        return first
    known = [layout for layout in candidates if layout in load.told]
    if len(load.told) == 1 and known:
        return readings[known[0]]
    shown = f"{', '.join(candidates[:-1])} or {candidates[-1]}"
    advice = "pymluops.torch.sparse.load_state_dict(network, state_dict, layout=...)"
    message = f"{name}: a filter of shape {list(weight.shape)} may be of {shown}; say which one: {advice}"
    if presumed not in candidates:
        errors.append(message)
    load.undecided.append(_Undecided(module, weight, candidates, message, home))
    likely = presumed if presumed in candidates else home if home in candidates else candidates[0]
    return readings[likely]


def _is_pointwise(module: Any) -> bool:
    """Tell whether a layer multiplies each row by one matrix."""
    return bool(getattr(module, "conv1x1", getattr(module, "pointwise", False)))


def _decide(load: _Load, errors: list[str]) -> None:
    """Convert filters that came before the first one whose shape tells the layout."""
    if len(load.told) != 1:
        return
    (layout,) = load.told
    for filter in [each for each in load.undecided if layout in each.candidates]:
        with torch.no_grad():
            found = _converted(filter.weight, layout, filter.home, _is_pointwise(filter.module))
            found = found.to(filter.module.weight)
            if filter.module.weight.data_ptr() == filter.weight.data_ptr():
                filter.module.weight.data = found.clone()  # the dict's own tensor stays as it is
            else:
                filter.module.weight.copy_(found)
        if filter.message in errors:
            errors.remove(filter.message)
        load.undecided.remove(filter)
