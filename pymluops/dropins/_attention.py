"""Deformable attention that packages write with PyTorch for tensors on the CPU, computed by the kernel.

`install` replaces these functions and methods in the modules of transformers, GroundingDINO and
detrex, where they have one of the forms below. Tensors elsewhere, and what the kernel has no form
for, go to the package's own code.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from pymluops._replacements import Replacement, Replacements

__all__ = ["ABOUT", "NOTES", "PACKAGES", "activate", "deactivate"]

ABOUT = "deformable attention of transformers, GroundingDINO and detrex on the CPU"
NOTES = (
    "transformers: every model with a class MultiScaleDeformableAttention or a function "
    "multi_scale_deformable_attention; RT-DETRv2, D-FINE and DEIMv2 keep the function that they found when they were "
    "built, so build them after install()",
    "method='discrete' of these three stays with PyTorch",
    "a gradient of the gradient needs uninstall(): the kernel has none",
)

_GROUNDING_DINO, _DETREX = "groundingdino.models.GroundingDINO.ms_deform_attn", "detrex.layers.multi_scale_deform_attn"
PACKAGES = ("transformers", "groundingdino", "detrex")
#: The functions, and the class with a method, by name.
_NAMES = (
    "multi_scale_deformable_attention",
    "multi_scale_deformable_attention_v2",
    "multi_scale_deformable_attn_pytorch",
    "MultiScaleDeformableAttention.forward",
)
_SHAPES = ("value", "value_spatial_shapes", "sampling_locations", "attention_weights")
_POINTS = (*_SHAPES, "num_points_list", "method")
_METHOD = (
    "self",
    "value",
    "value_spatial_shapes",
    "value_spatial_shapes_list",
    "level_start_index",
    "sampling_locations",
    "attention_weights",
    "im2col_step",
)


def _fits(*tensors: Any) -> bool:
    """Whether the kernel takes these tensors: on the CPU, of one floating type."""
    kinds = {(tensor.device.type, tensor.dtype) for tensor in tensors}
    return len(kinds) == 1 and tensors[0].device.type == "cpu" and tensors[0].is_floating_point()


def _compute(*arguments: Any, **options: Any) -> Any:
    from pymluops.torch.ms_deform_attn import attention_of_maps

    return attention_of_maps(*arguments, **options)


def _with_shapes(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def attention(value: Any, value_spatial_shapes: Any, sampling_locations: Any, attention_weights: Any) -> Any:
        own = (value, value_spatial_shapes, sampling_locations, attention_weights)
        return (_compute if _fits(value, sampling_locations, attention_weights) else original)(*own)

    return attention


def _with_points(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def attention(
        value: Any,
        value_spatial_shapes: Any,
        sampling_locations: Any,
        attention_weights: Any,
        num_points_list: Sequence[int],
        method: str = "default",
    ) -> Any:
        own = (value, value_spatial_shapes, sampling_locations, attention_weights)
        if method != "default" or not _fits(value, sampling_locations, attention_weights):
            return original(*own, num_points_list, method)
        return _compute(*own, num_points=num_points_list)

    return attention


def _as_method(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def forward(
        self: Any,
        value: Any,
        value_spatial_shapes: Any,
        value_spatial_shapes_list: Any,
        level_start_index: Any,
        sampling_locations: Any,
        attention_weights: Any,
        im2col_step: int,
    ) -> Any:
        if _fits(value, sampling_locations, attention_weights):
            return _compute(value, value_spatial_shapes, sampling_locations, attention_weights, level_start_index)
        shapes = (value_spatial_shapes, value_spatial_shapes_list, level_start_index)
        return original(self, value, *shapes, sampling_locations, attention_weights, im2col_step)

    return forward


_FORMS: Mapping[tuple[str, ...], Callable[[Callable[..., Any]], Callable[..., Any]]] = {
    _SHAPES: _with_shapes,
    _POINTS: _with_points,
    _METHOD: _as_method,
}


def _concerns(name: str) -> bool:
    if name in (_GROUNDING_DINO, _DETREX):
        return True
    return name.startswith("transformers.models.") and name.rpartition(".")[2].startswith("modeling_")


def _find(module: ModuleType) -> list[Replacement]:
    """Return the replacements of what a module has in a form that is known."""
    found: list[Replacement] = []
    for name in _NAMES:
        function: Any = module
        for part in name.split("."):
            function = getattr(function, part, None)
        if inspect.isfunction(function) and function.__module__ == module.__name__:
            around = _FORMS.get(tuple(inspect.signature(function).parameters))
            if around is not None:
                found.append(Replacement(name, around))
    return found


_replacements = Replacements(_concerns, _find)
activate, deactivate = _replacements.activate, _replacements.deactivate
