"""Single faults of the operator functions, each with the status it must give, in the documented order of the checks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from abi.facts import BAD_PARAM, NOT_SUPPORTED
from abi.problems import Edits


class Fault(NamedTuple):
    name: str
    status: int
    edits: Edits


def bad(name: str, edits: Edits) -> Fault:
    return Fault(name, BAD_PARAM, edits)


def unsupported(name: str, edits: Edits) -> Fault:
    return Fault(name, NOT_SUPPORTED, edits)


def _set(field: str, **values: Any) -> dict[tuple[str, str], Any]:
    return {(tensor, field): value for tensor, value in values.items()}


def shapes(**values: tuple[int, ...]) -> dict[tuple[str, str], Any]:
    return _set("dims", **values)


def _missing_objects(*names: str) -> list[Fault]:
    """NULL, a handle in place of a descriptor, a destroyed descriptor."""
    faults = [bad("handle NULL", {("handle", "value"): "null"})]
    for name in names:
        faults += [bad(f"{name}_desc {state}", {(name, "desc"): state}) for state in ("null", "handle", "destroyed")]
    return faults


def _bad_pointers(*names: str) -> list[Fault]:
    return [bad(f"{name} {state}", {(name, "data"): state}) for name in names for state in ("null", "misaligned")]


def _overlaps(output: str, *inputs: str) -> list[Fault]:
    """An output that is, or begins inside, another tensor of the call; and an input that begins in the output."""
    faults = [bad(f"{output} is {name}", {(output, "data"): (name, 0)}) for name in inputs]
    faults += [bad(f"{output} inside {name}", {(output, "data"): (name, 4)}) for name in inputs]
    return faults + [bad(f"{name} inside {output}", {(name, "data"): (output, 4)}) for name in inputs]


def tin_shift(first: str, last: str) -> list[Fault]:
    def both(*dims: int) -> dict[tuple[str, str], Any]:
        return shapes(**{first: dims, last: dims})

    return [
        *_missing_objects(first, "shifts", last),
        bad("first of 3 dims", shapes(**{first: (2, 3, 4)})),
        bad("both of 5 dims", both(2, 3, 4, 5, 1)),
        bad("shifts of 1 dim", shapes(shifts=(2,))),
        bad("last of 3 dims", shapes(**{last: (2, 3, 4)})),
        bad("no channels", both(2, 3, 0, 5)),
        bad("no groups", shapes(shifts=(2, 0))),
        bad("groups do not divide channels", shapes(shifts=(2, 3))),
        bad("more groups than channels", shapes(shifts=(2, 8))),
        *(
            bad(f"last differs in dim {axis}", shapes(**{last: tuple(dims)}))
            for axis, dims in enumerate([(3, 3, 4, 5), (2, 4, 4, 5), (2, 3, 8, 5), (2, 3, 4, 6)])
        ),
        bad("shifts has another N", shapes(shifts=(3, 2))),
        unsupported("first strided", _set("strides", **{first: (61, 20, 5, 1)})),
        unsupported("shifts strided", _set("strides", shifts=(3, 1))),
        unsupported("last strided", _set("strides", **{last: (60, 20, 5, 2)})),
        bad("shifts not int32", _set("dtype", shifts="INT64")),
        bad("both int32", _set("dtype", **{first: "INT32", last: "INT32"})),
        bad("last of another dtype", _set("dtype", **{last: "HALF"})),
        bad("N is 0", {**both(0, 3, 4, 5), **shapes(shifts=(0, 2))}),
        bad("HW is 0", both(2, 3, 4, 0)),
        unsupported("big", both(2, 3, 4, 2**28)),
        unsupported("shifts big, T 0", {**both(2**30, 0, 4, 5), **shapes(shifts=(2**30, 2))}),
        *_bad_pointers(first, "shifts", last),
        *_overlaps(last, first, "shifts"),
    ]


def psamask(first: str, last: str) -> list[Fault]:
    mask, full = (first, last) if first == "x" else (last, first)
    return [
        *_missing_objects(first, last),
        bad("psa_type 2", {("psa_type", "value"): 2}),
        bad("psa_type -1", {("psa_type", "value"): -1}),
        bad("both mask sizes negative", {("h_mask", "value"): -3, ("w_mask", "value"): -5}),
        bad("h_mask 0", {("h_mask", "value"): 0, (mask, "dims"): (2, 3, 4, 0)}),
        bad("w_mask 0", {("w_mask", "value"): 0, (mask, "dims"): (2, 3, 4, 0)}),
        bad("mask side of 3 dims", shapes(**{mask: (2, 3, 4)})),
        bad("full side of 5 dims", shapes(**{full: (2, 3, 4, 12, 1)})),
        bad("mask side not NHWC", _set("layout", **{mask: "ARRAY"})),
        bad("full side not NHWC", _set("layout", **{full: "NCHW"})),
        bad("both half", _set("dtype", **{mask: "HALF", full: "HALF"})),
        bad("mask side half", _set("dtype", **{mask: "HALF"})),
        bad("full side int32", _set("dtype", **{full: "INT32"})),
        bad("another N", shapes(**{full: (3, 3, 4, 12)})),
        bad("another H", shapes(**{full: (2, 2, 4, 12)})),
        bad("another W", shapes(**{full: (2, 3, 3, 12)})),
        bad("mask sizes do not fit channels", {("h_mask", "value"): 5}),
        bad("mask product overflows to the channels", {("h_mask", "value"): 2**16, ("w_mask", "value"): 2**16}),
        bad("H*W does not fit channels", shapes(**{full: (2, 3, 4, 11)})),
        bad("mask side strided", _set("strides", **{mask: (181, 60, 15, 1)})),
        bad("full side strided", _set("strides", **{full: (144, 48, 12, 2)})),
        bad("big", shapes(**{mask: (2**24, 3, 4, 15), full: (2**24, 3, 4, 12)})),
        *_bad_pointers(mask, full),
        *_overlaps(last, first),
    ]


def border_align_forward() -> list[Fault]:
    return [
        *_missing_objects("input", "boxes", "output", "argmax_idx"),
        bad("input of 3 dims", shapes(input=(2, 3, 4))),
        bad("boxes of 2 dims", shapes(boxes=(2, 5))),
        bad("output of 5 dims", shapes(output=(2, 5, 4, 2, 1))),
        bad("argmax of 3 dims", shapes(argmax_idx=(2, 5, 4))),
        unsupported("input strided", _set("strides", input=(97, 32, 8, 1))),
        unsupported("boxes strided", _set("strides", boxes=(20, 5, 1))),
        unsupported("output strided", _set("strides", output=(40, 8, 2, 0))),
        unsupported("argmax strided", _set("strides", argmax_idx=(40, 8, -2, 1))),
        bad("boxes of another dtype", _set("dtype", boxes="HALF")),
        bad("input and boxes double", _set("dtype", input="DOUBLE", boxes="DOUBLE")),
        bad("output of another dtype", _set("dtype", output="HALF")),
        bad("argmax not int32", _set("dtype", argmax_idx="FLOAT")),
        bad("input not NHWC", _set("layout", input="ARRAY")),
        bad("output not NHWC", _set("layout", output="NCHW")),
        bad("argmax not NHWC", _set("layout", argmax_idx="ARRAY")),
        bad("channels not a multiple of 4", shapes(input=(2, 3, 4, 6))),
        bad("N 0", shapes(input=(0, 3, 4, 8), boxes=(0, 5, 4), output=(0, 5, 4, 2), argmax_idx=(0, 5, 4, 2))),
        bad("H 0", shapes(input=(2, 0, 4, 8))),
        bad("W 0", shapes(input=(2, 3, 0, 8))),
        bad("C 0", shapes(input=(2, 3, 4, 0), output=(2, 5, 4, 0), argmax_idx=(2, 5, 4, 0))),
        bad("K 0", shapes(boxes=(2, 0, 4), output=(2, 0, 4, 2), argmax_idx=(2, 0, 4, 2))),
        bad("boxes with 5 numbers", shapes(boxes=(2, 5, 5))),
        bad("boxes has another N", shapes(boxes=(3, 5, 4))),
        bad("pool_size 0", {("pool_size", "value"): 0}),
        bad("pool_size negative", {("pool_size", "value"): -2}),
        bad("output has another K", shapes(output=(2, 6, 4, 2))),
        bad("output has 3 borders", shapes(output=(2, 5, 3, 2))),
        bad("output in channel-first order", shapes(output=(2, 2, 5, 4))),
        bad("argmax has another C", shapes(argmax_idx=(2, 5, 4, 3))),
        unsupported("input big", shapes(input=(2, 2**14, 2**14, 8))),
        unsupported("boxes big", shapes(boxes=(2, 2**28, 4), output=(2, 2**28, 4, 2), argmax_idx=(2, 2**28, 4, 2))),
        unsupported("output big", shapes(boxes=(2, 2**27, 4), output=(2, 2**27, 4, 2), argmax_idx=(2, 2**27, 4, 2))),
        *_bad_pointers("input", "boxes", "output", "argmax_idx"),
        *_overlaps("output", "input", "boxes"),
        *_overlaps("argmax_idx", "input", "boxes", "output"),
    ]


def border_align_backward() -> list[Fault]:
    everything = ("grad_output", "boxes", "argmax_idx", "grad_input")
    return [
        *_missing_objects(*everything),
        bad("grad_output of 5 dims", shapes(grad_output=(2, 5, 4, 2, 1))),
        bad("boxes of 4 dims", shapes(boxes=(2, 5, 4, 1))),
        bad("argmax of 3 dims", shapes(argmax_idx=(2, 5, 4))),
        bad("grad_input of 3 dims", shapes(grad_input=(2, 3, 4))),
        unsupported("grad_output strided", _set("strides", grad_output=(40, 8, 2, 3))),
        unsupported("boxes strided", _set("strides", boxes=(21, 4, 1))),
        unsupported("argmax strided", _set("strides", argmax_idx=(0, 8, 2, 1))),
        unsupported("grad_input strided", _set("strides", grad_input=(96, 33, 8, 1))),
        bad("all real tensors int32", _set("dtype", grad_output="INT32", boxes="INT32", grad_input="INT32")),
        bad("argmax not int32", _set("dtype", argmax_idx="INT16")),
        bad("boxes of another dtype", _set("dtype", boxes="HALF")),
        bad("grad_input of another dtype", _set("dtype", grad_input="HALF")),
        bad("grad_output not NHWC", _set("layout", grad_output="ARRAY")),
        bad("argmax not NHWC", _set("layout", argmax_idx="NDHWC")),
        bad("grad_input not NHWC", _set("layout", grad_input="NCHW")),
        bad("channels not a multiple of 4", shapes(grad_input=(2, 3, 4, 9))),
        bad("N 0", shapes(grad_output=(0, 5, 4, 2), boxes=(0, 5, 4), argmax_idx=(0, 5, 4, 2), grad_input=(0, 3, 4, 8))),
        bad("H 0", shapes(grad_input=(2, 0, 4, 8))),
        bad("W 0", shapes(grad_input=(2, 3, 0, 8))),
        bad("C 0", shapes(grad_output=(2, 5, 4, 0), argmax_idx=(2, 5, 4, 0), grad_input=(2, 3, 4, 0))),
        bad("boxes with 3 numbers", shapes(boxes=(2, 5, 3))),
        bad("K 0", shapes(grad_output=(2, 0, 4, 2), boxes=(2, 0, 4), argmax_idx=(2, 0, 4, 2))),
        bad("pool_size 0", {("pool_size", "value"): 0}),
        bad("pool_size negative", {("pool_size", "value"): -(2**31)}),
        bad("grad_output has another K", shapes(grad_output=(2, 4, 4, 2))),
        bad("grad_output has another C", shapes(grad_output=(2, 5, 4, 1))),
        bad("boxes has another N", shapes(boxes=(1, 5, 4))),
        bad("argmax has another K", shapes(argmax_idx=(2, 6, 4, 2))),
        unsupported(
            "grad_output big",
            shapes(grad_output=(2, 2**27, 4, 2), boxes=(2, 2**27, 4), argmax_idx=(2, 2**27, 4, 2)),
        ),
        unsupported("grad_input big", shapes(grad_input=(2, 2**14, 2**14, 8))),
        *_bad_pointers(*everything),
        *_overlaps("grad_input", "grad_output", "boxes", "argmax_idx"),
    ]


def three_interpolate(first: str, last: str) -> list[Fault]:
    """`sources` is [B, C, M], `points` is [B, C, N]."""
    sources, points = (first, last) if first == "features" else (last, first)
    everything = (first, "indices", "weights", last)
    big_c = shapes(**{sources: (2, 2**28, 6), points: (2, 2**28, 5)})
    return [
        *_missing_objects(*everything),
        *(bad(f"{name} of 4 dims", shapes(**{name: (2, 3, 5, 1)})) for name in everything),
        *(bad(f"{name} not ARRAY", _set("layout", **{name: "NHWC"})) for name in everything),
        bad("first of another dtype", _set("dtype", **{first: "HALF"})),
        bad("indices int64", _set("dtype", indices="INT64")),
        bad("last of another dtype", _set("dtype", **{last: "HALF"})),
        bad("all real tensors double", _set("dtype", **{first: "DOUBLE", "weights": "DOUBLE", last: "DOUBLE"})),
        bad("first has another B", shapes(**{first: (3, 3, 6 if first == sources else 5)})),
        bad("weights has another N", shapes(weights=(2, 4, 3))),
        bad("weights has another B", shapes(weights=(1, 5, 3))),
        bad("indices and weights with 4 numbers", shapes(indices=(2, 5, 4), weights=(2, 5, 4))),
        bad("last has another C", shapes(**{last: (2, 4, 5 if last == points else 6)})),
        bad("last has another B", shapes(**{last: (1, 3, 5 if last == points else 6)})),
        bad("points has another N", shapes(**{points: (2, 3, 7)})),
        *(
            unsupported(f"{name} strided", _set("strides", **{name: strides}))
            for name, strides in {
                sources: (19, 6, 1),
                "indices": (15, 3, 2),
                "weights": (1, 3, 5),
                points: (15, 0, 1),
            }.items()
        ),
        unsupported("sources and points big", big_c),
        unsupported("sources big", shapes(**{sources: (2, 3, 2**29)})),
        unsupported("indices big", shapes(indices=(2, 2**29, 3), weights=(2, 2**29, 3), **{points: (2, 3, 2**29)})),
        bad("N 0", shapes(indices=(2, 0, 3), weights=(2, 0, 3), **{points: (2, 3, 0)})),
        bad("C 0", shapes(**{sources: (2, 0, 6), points: (2, 0, 5)})),
        bad("B 0", shapes(indices=(0, 5, 3), weights=(0, 5, 3), **{sources: (0, 3, 6), points: (0, 3, 5)})),
        bad("M 0", shapes(**{sources: (2, 3, 0)})),
        *_bad_pointers(*everything),
        *_overlaps(last, first, "indices", "weights"),
    ]


def _indice_pairs_shared() -> list[Fault]:
    """Faults of the shapes; they are the same for the operator and its workspace function."""
    long_rows = 2**26
    long = shapes(indices=(long_rows, 4), indice_pairs=(27, 2, long_rows), out_indices=(2**20, 4))
    space = (2**10, 2**10, 2**10)
    return [
        bad("indices of 3 dims", shapes(indices=(4, 4, 1))),
        bad("indice_pairs of 2 dims", shapes(indice_pairs=(27, 2))),
        bad("out_indices of 1 dim", shapes(out_indices=(100,))),
        bad("indice_num of 2 dims", shapes(indice_num=(27, 1))),
        bad("indices with 3 numbers", shapes(indices=(4, 3))),
        bad("out_indices with 5 numbers", shapes(out_indices=(100, 5))),
        bad("indice_pairs with 3 rows", shapes(indice_pairs=(27, 3, 4))),
        bad("indice_pairs has another L", shapes(indice_pairs=(27, 2, 5))),
        bad("indice_num has another K", shapes(indice_num=(26,))),
        bad("more rows than cells", {("sparse", "input_space"): (1, 1, 1)}),
        bad("stride and dilation on one axis", {("sparse", "stride"): (1, 2, 1), ("sparse", "dilation"): (1, 2, 1)}),
        bad("K of another filter", {("sparse", "filter_space"): (3, 3, 1)}),
        bad("more output rows than cells", shapes(out_indices=(241, 4))),
        unsupported("indices strided", _set("strides", indices=(5, 1))),
        unsupported("indice_pairs strided", _set("strides", indice_pairs=(8, 4, 2))),
        unsupported("out_indices strided", _set("strides", out_indices=(4, 0))),
        unsupported("indice_num strided", _set("strides", indice_num=(2,))),
        unsupported("indice_pairs big", {**long, ("sparse", "input_space"): space, ("sparse", "output_space"): space}),
        bad("indices int64", _set("dtype", indices="INT64")),
        bad("indice_pairs float", _set("dtype", indice_pairs="FLOAT")),
        bad("out_indices int31", _set("dtype", out_indices="INT31")),
        bad("indice_num uint32", _set("dtype", indice_num="UINT32")),
        bad("sub-manifold, other output space", {("sparse", "sub_m"): 1, ("sparse", "output_space"): (4, 5, 7)}),
        bad("sub-manifold, stride", {("sparse", "sub_m"): 1, ("sparse", "stride"): (1, 1, 2)}),
        bad("sub-manifold, dilation", {("sparse", "sub_m"): 7, ("sparse", "dilation"): (2, 1, 1)}),
    ]


_SPARSE_OBJECTS = [
    bad("sparse_conv_desc NULL", {("sparse", "desc"): "null"}),
    bad("sparse_conv_desc is a tensor descriptor", {("sparse", "desc"): "tensor"}),
]
_INDICE_TENSORS = ("indices", "indice_pairs", "out_indices", "indice_num")


def get_indice_pairs() -> list[Fault]:
    return [
        *_missing_objects(*_INDICE_TENSORS),
        *_SPARSE_OBJECTS,
        bad("sparse_conv_desc never set", {("sparse", "desc"): "unset"}),
        *_indice_pairs_shared(),
        *_bad_pointers(*_INDICE_TENSORS),
        bad("workspace NULL", {("workspace", "value"): "null"}),
        bad("workspace one byte short", {("workspace_size", "value"): ("need", -1)}),
        bad("no workspace", {("workspace", "value"): "null", ("workspace_size", "value"): 0}),
        *_overlaps("indice_pairs", "indices"),
        *_overlaps("out_indices", "indices", "indice_pairs"),
        *_overlaps("indice_num", "indices", "indice_pairs", "out_indices"),
    ]


def get_indice_pairs_workspace_size() -> list[Fault]:
    return [
        *_missing_objects(*_INDICE_TENSORS),
        *_SPARSE_OBJECTS,
        bad("workspace_size NULL", {("workspace_size", "value"): "null"}),
        bad("sparse_conv_desc never set", {("sparse", "desc"): "unset"}),
        *_indice_pairs_shared(),
    ]


FAULTS: dict[str, Callable[[], list[Fault]]] = {
    "mluOpTinShiftForward": lambda: tin_shift("input", "output"),
    "mluOpTinShiftBackward": lambda: tin_shift("grad_output", "grad_input"),
    "mluOpPsamaskForward": lambda: psamask("x", "y"),
    "mluOpPsamaskBackward": lambda: psamask("dy", "dx"),
    "mluOpBorderAlignForward": border_align_forward,
    "mluOpBorderAlignBackward": border_align_backward,
    "mluOpThreeInterpolateForward": lambda: three_interpolate("features", "output"),
    "mluOpThreeInterpolateBackward": lambda: three_interpolate("grad_output", "grad_features"),
    "mluOpGetIndicePairs": get_indice_pairs,
    "mluOpGetIndicePairsWorkspaceSize": get_indice_pairs_workspace_size,
}
