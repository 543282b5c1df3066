"""What `pymluops.functions` is made of: the role of every parameter of every function, found from types and names.

`signatures` writes pymluops/functions/_signatures.py, which the callables read, and `stubs` the
type stubs beside it. Both are checked in. A parameter is described by its role, name, type as it
stands in the header, a detail, and whether None may be given for it:

handle            the handle; a keyword descriptor        the descriptor of an array argument, whose
name is the detail input, output     an array: `const void *` or `void *`. The detail is empty if a
descriptor belongs to it, else
                  ``dtype:count`` with a number, the name of an array with as many elements, or
                  nothing
address           an array of which the function only computes with the address describe          a
tensor descriptor without data native            an object of the library; the detail is its type
scalar            a number; the detail is its kind numbers           `const T x[]`; the detail is
``kind:length`` with a number, the name of a parameter or an expression result            `T *x`
that receives a number; the detail is its kind result_numbers    `T x[]` that receives numbers; the
detail is ``kind:name`` with the result that counts them result_native     receives an object of the
library; the detail is its type workspace, workspace_size, plan_workspace, reservespace    memory
that the function asks for others            single parameters: text, queue, group, fill, attribute,
and results of the same kinds
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass

from header import Header
from python_enums import PYTHON_ENUMS

#: Kind of a number by its C type; enums have the name of their class.
KINDS = {
    "bool": "bool", "int": "int32", "int32_t": "int32", "int64_t": "int64", "size_t": "size", "float": "float32",
    "double": "float64",
}  # fmt: skip

#: The parameter that counts the values of an array, by the array's name; the exceptions come below.
LENGTHS = {
    "dimSize": "dimNb", "dimStride": "dimNb", "setDimSize": "setDimNb", "tensorIndex": "setDimNb",
    "seqLengthArray": "seqLengthArraySize", "n": "rank", "indice_num": "indice_pairs.shape[0]",
    "group_layout": "desc_num", "group_dtype": "desc_num", "group_dimNb": "desc_num",
    "group_dimSize": "sum(group_dimNb)", "pad": "dimNb-2", "stride": "dimNb-2", "dilation": "dimNb-2",
    "input_space": "dimNb-2", "filter_space": "dimNb-2", "output_space": "dimNb-2",
}  # fmt: skip
OTHER_LENGTHS = {("mluOpSetDCNDescriptor", "pad"): "dimNb"}

#: Arrays without a descriptor: element type and number of elements, where these are known.
BARE_ARRAYS = {
    ("mluOpNms", "output_size"): "int32:1",
    ("mluOpNmsRotated", "result_num"): "int32:1",
    ("mluOpPolyNms", "output_size"): "int32:1",
    ("mluOpGenerateProposalsV2", "rpn_rois_batch_size"): "int32:1",
    ("mluOpRoiPoolingForward", "argmax"): "int32:output",
    ("mluOpExecFFT", "input"): ":",
    ("mluOpExecFFT", "output"): ":",
}

#: Roles that neither type nor name tells.
ROLES = {
    ("mluOpGetTensorAndDataFromTensorSet", "data"): "address",
    ("mluOpGetTensorAndDataFromTensorSet", "dataAddrInDevice"): "result_address",
    ("mluOpSetSeqDataDescriptor_v2", "paddingFill"): "fill",
    ("mluOpGetSeqDataDescriptor_v2", "paddingFill"): "result_fill",
    ("mluOpSetAdamWDescAttr", "buf"): "attribute",
    ("mluOpSetAdamWDescAttr", "size_in_bytes"): "attribute_size",
    ("mluOpExecFFT", "workspace"): "plan_workspace",
    ("mluOpSetFFTReserveArea", "reservespace"): "reservespace",
    ("mluOpCreateGroupTensorDescriptors", "group_desc"): "result_group",
    ("mluOpGetGenCaseDirectory", "buffer"): "buffer",
    ("mluOpGetGenCaseDirectory", "bufferSize"): "buffer",
    ("mluOpGetGenCaseDirectory", "pathLen"): "buffer",
    ("mluOpGetGenCaseDirectory", "status"): "buffer",
}

#: Where None may be given: functions whose names begin like that, and arguments.
OPTIONAL = (
    ("mluOpFocalLossSigmoid", "weight"),
    ("mluOpDeformRoiPool", "offset grad_offset"),
    ("mluOpNms", "confidence"),
    ("mluOpGetNmsWorkspaceSize", "confidence"),
    ("mluOpMutualInformation", "opt_boundary"),
    ("mluOpGetMutualInformation", "opt_boundary"),
    ("mluOpRoiAlign", "argmax_x argmax_y"),
    ("mluOpSyncBatchNormElemt", "filter bias"),
    ("mluOpSyncBatchNormBackwardElemt", "filter"),
    ("mluOpSyncBatchNormBackwardReduce", "dfilter dbias sum_dy sum_dy_xmu"),
    ("mluOpSyncBatchnormBackwardReduce", "dfilter dbias sum_dy sum_dy_xmu"),
    ("mluOpSyncBatchNormGatherStatsWithCounts", "moving_mean moving_var"),
    ("mluOpDCN", "mask bias grad_mask grad_bias"),
    ("mluOpGetDCN", "mask bias grad_mask grad_bias"),
    ("mluOpSetSeqDataDescriptor_v2", "paddingFill"),
    ("mluOpSetQueue", "queue"),
)

#: Functions whose four-dimensional arrays are in layout NHWC, and in NCHW. Everywhere else it is
#: ARRAY.
NHWC = (
    "Psamask", "BorderAlign", "RoiAlign", "RoiCrop", "RoiPooling", "PsRoiPool", "DeformRoiPool", "RotatedFeatureAlign",
    "Carafe", "DCN",
)  # fmt: skip
NCHW = ("MaskedIm2col", "MaskedCol2im")
#: Functions whose channels come last, whatever the number of dims.
CHANNELS_LAST = ("SyncBatchNorm", "SyncBatchnorm")

#: The size function of a function where the names do not fit.
WORKSPACE_FUNCTIONS = {"mluOpDCNBackwardData": "mluOpGetDCNBakcwardDataWorkspaceSize"}


@dataclass(frozen=True)
class Argument:
    """One C parameter and its role."""

    role: str
    name: str
    type: str
    detail: str = ""
    optional: bool = False


@dataclass(frozen=True)
class Signature:
    """One function."""

    name: str
    returns: str
    text: str  # what the header says about it
    layout: str  # "ARRAY", "NHWC", "NCHW" or "channels last"
    workspace: tuple[str, ...]  # functions that may tell the size of its workspace, the best one first
    arguments: tuple[Argument, ...]


# ---- Reading -------------------------------------------------------------------------------------


def read_signatures(header: Header) -> list[Signature]:
    """Find the role of every parameter of the functions of mlu_op.h."""
    source = header.paths[0].read_text(encoding="utf-8")
    enums = {c_type: name for name, c_type, *_ in PYTHON_ENUMS}
    names = {function.name for function in header.functions}
    found = []
    pattern = r"(?:/\*((?:(?!\*/).)*)\*/\s*)?^(\w[\w ]*[ *])MLUOP_WIN_API (mluOp\w+)\(([^()]*)\);"
    for match in re.finditer(pattern, source, flags=re.DOTALL | re.MULTILINE):
        name = match[3]
        texts = [" ".join(text.split()) for text in match[4].split(",") if text.strip()]
        reader = _Reader(name, enums, set(header.opaque), [_split(text) for text in texts])
        comment = " ".join(line.strip(" *") for line in (match[1] or "").splitlines()).strip()
        arguments = reader.arguments()
        sizes = _workspaces(name, names) if any(argument.role == "workspace" for argument in arguments) else ()
        found.append(Signature(name, match[2].strip(), " ".join(comment.split()), _layout(name), sizes, arguments))
    if [signature.name for signature in found] != [f.name for f in header.functions if f.name.startswith("mluOp")]:
        raise SystemExit(f"{header.paths[0]}: not every prototype could be read")
    return found


def _split(text: str) -> tuple[str, str, bool]:
    """Return type, name, and whether it is written as an array."""
    match = re.fullmatch(r"(.*?[ *])(\w+) ?(\[\])?", text)
    if match is None:
        raise SystemExit(f"expected `type name`, got `{text}`")
    return match[1].strip(), match[2], match[3] is not None


def _layout(name: str) -> str:
    short = name.removeprefix("mluOp").removeprefix("Get")
    if short.startswith(CHANNELS_LAST):
        return "channels last"
    if short.startswith(NCHW):
        return "NCHW"
    return "NHWC" if short.startswith(NHWC) else "ARRAY"


def _workspaces(name: str, names: set[str]) -> tuple[str, ...]:
    stem = name.removeprefix("mluOp")
    bare = re.sub(r"_v\d$", "", stem)
    wanted = [f"mluOpGet{stem}WorkspaceSize_v2", f"mluOpGet{stem}WorkspaceSize", f"mluOpGet{bare}WorkspaceSize"]
    wanted += [f"{name}WorkspaceSize", WORKSPACE_FUNCTIONS.get(name, "")]
    return tuple(dict.fromkeys(function for function in wanted if function in names))


class _Reader:
    """Finds the roles of the parameters of one function."""

    def __init__(
        self, function: str, enums: dict[str, str], opaque: set[str], parameters: list[tuple[str, str, bool]]
    ) -> None:
        self.function, self.enums, self.opaque, self.parameters = function, enums, opaque, parameters
        self.missing = [words.split() for prefix, words in OPTIONAL if function.startswith(prefix)]

    def arguments(self) -> tuple[Argument, ...]:
        return tuple(self._argument(i, *parameter) for i, parameter in enumerate(self.parameters))

    def _argument(self, i: int, c_type: str, name: str, array: bool) -> Argument:
        bare = name.removesuffix("_desc").removeprefix("desc_")
        optional = any(name in words or bare in words for words in self.missing)
        shown = f"{c_type}[]" if array else c_type
        plain = c_type.removeprefix("const ")
        paired = self._paired(i) if plain == "mluOpTensorDescriptor_t" else None
        if paired is not None:
            optional = any(paired in words for words in self.missing)
            return Argument("descriptor", name, shown, paired, optional)
        role, detail = self._role(i, c_type, plain, name, array)
        return Argument(role, name, shown, detail, optional)

    def _paired(self, i: int) -> str | None:
        """Return the name of the data pointer that stands behind a descriptor, if one does."""
        if i + 1 == len(self.parameters):
            return None
        c_type, name, array = self.parameters[i + 1]
        is_data = c_type.removeprefix("const ") in ("void *", "int *") and not array and name != "workspace"
        named = self.parameters[i][1] != "desc" and (self.function, name) not in BARE_ARRAYS
        return name if is_data and named else None

    def _role(self, i: int, c_type: str, plain: str, name: str, array: bool) -> tuple[str, str]:
        known = ROLES.get((self.function, name))
        if known is not None:
            return known, ""
        if (self.function, name) in BARE_ARRAYS:
            return "input" if c_type.startswith("const") else "output", BARE_ARRAYS[self.function, name]
        if name in ("workspace", "workspace_size") and "size_t *" not in plain:
            return name, ""
        if "*" in c_type or array:
            return self._pointer(i, c_type, name, array)
        if plain == "mluOpHandle_t":
            return "handle", ""
        if plain == "cnrtQueue_t":
            return "queue", ""
        if plain == "mluOpTensorDescriptor_t" and name != "desc":
            return "describe", ""
        return ("native", plain) if plain in self.opaque else ("scalar", self._kind(plain))

    def _pointer(self, i: int, c_type: str, name: str, array: bool) -> tuple[str, str]:
        target = c_type.removeprefix("const ").removesuffix("*").strip()
        if c_type == "const char *":
            return "text", ""
        if target == "mluOpTensorDescriptor_t" and array:
            return "group", ""
        if (
            i > 0
            and self.parameters[i - 1][0].endswith("mluOpTensorDescriptor_t")
            and not array
            and (target in ("void", "int") and self._paired(i - 1) == name)
        ):
            return "input" if c_type.startswith("const") else "output", ""
        if c_type.startswith("const"):
            length = OTHER_LENGTHS.get((self.function, name), LENGTHS.get(name))
            if length is None:
                raise SystemExit(f"{self.function}: {name}: the length of this array is not known")
            return "numbers", f"{self._kind(target)}:{length}"
        if array:
            return "result_numbers", f"{self._kind(target)}:{LENGTHS[name]}"
        if target == "mluOpHandle_t":
            return "result_handle", ""
        if target == "cnrtQueue_t":
            return "result_queue", ""
        return ("result_native", target) if target in self.opaque else ("result", self._kind(target))

    def _kind(self, c_type: str) -> str:
        kind = KINDS.get(c_type) or self.enums.get(c_type)
        if kind is None:
            raise SystemExit(f"{self.function}: the role of a {c_type} is not known")
        return kind


# ---- Writing -------------------------------------------------------------------------------------


def signatures(header: Header) -> str:
    """Return pymluops/functions/_signatures.py."""
    rows = []
    for signature in read_signatures(header):
        fields = signature.name, signature.returns, signature.layout, " ".join(signature.workspace), signature.text
        arguments = "; ".join(_fields(argument) for argument in signature.arguments)
        rows.append(f"    ({', '.join(_quoted(text) for text in (*fields, arguments))}),\n")
    return f'''# {header.banner}
# ruff: noqa: E501
# fmt: off
"""Every function of mlu_op.h with the roles of its parameters, which native/abi/roles.py explains."""

#: Name, type returned, layout, functions for the workspace's size, the header's text, parameters:
#: role, type, name, detail and whether None may be given, separated by |.
ROWS = (
{"".join(rows)})
'''


def _fields(argument: Argument) -> str:
    return "|".join(
        [argument.role, argument.type, argument.name, argument.detail, "optional" if argument.optional else ""]
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


#: Python type of an argument, by role or kind.
_ARGUMENT_TYPES = {
    "bool": "bool", "int32": "SupportsIndex", "int64": "SupportsIndex", "size": "SupportsIndex", "float32": "Real",
    "float64": "Real", "input": "Array", "output": "Array", "address": "Array", "describe": "Described",
    "text": "str | PathLike[str]", "queue": "Queue | int", "group": "Sequence[NativeTensorDescriptor]",
    "fill": "Real | bytes", "attribute": "Real", "reservespace": "Array | None",
}  # fmt: skip
#: Python type of a result.
_RESULT_TYPES = {
    "bool": "bool", "int32": "int", "int64": "int", "size": "int", "float32": "float", "float64": "float",
    "result_handle": "Handle", "result_queue": "int | Queue | None", "result_address": "int",
    "result_fill": "complex | bytes", "result_group": "tuple[NativeTensorDescriptor, ...]",
}  # fmt: skip
#: Stands for a space where no line may end.
_KEPT = "\x1f"
#: Roles of parameters that the function gives itself.
HIDDEN = ("descriptor", "workspace_size", "attribute_size", "buffer", "handle", "workspace", "plan_workspace")


def native_class(c_type: str) -> str:
    """Return the name of the Python class of an object of the library."""
    name = c_type.removeprefix("mluOp").removesuffix("_t")
    return f"Native{name}" if name in ("TensorDescriptor", "SparseConvolutionDescriptor") else name


def _stub(signature: Signature) -> str:
    given, keywords, results = [], [], []
    for argument in signature.arguments:
        if argument.role in ("workspace", "plan_workspace"):
            keywords.append("workspace: Array | None = None")
        elif argument.role not in HIDDEN:
            kind = argument.detail.partition(":")[0]
            if argument.role.startswith("result"):
                results.append(_result_type(argument, kind))
            else:
                default = " = None" if argument.role == "reservespace" else ""
                given.append(f"{argument.name}: {_argument_type(argument, kind)}{default}")
    has_handle = any(argument.role == "handle" for argument in signature.arguments)
    keywords.append(
        "handle: Handle | None = None" if has_handle else "backend: Backend | str | PathLike[str] | None = None"
    )
    returned = {"size_t": ["int"], "const char *": ["str"]}.get(signature.returns, results)
    value = "None" if not returned else returned[0] if len(returned) == 1 else f"tuple[{', '.join(returned)}]"
    behind = f") -> {value}: ...".replace(" ", _KEPT)  # a line may end between parentheses only
    line = f"def {signature.name}({', '.join(word.replace(' ', _KEPT) for word in [*given, '*', *keywords])}{behind}"
    lines = textwrap.wrap(line, 120, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return "\n".join(lines).replace(_KEPT, " ") + "\n"


def _argument_type(argument: Argument, kind: str) -> str:
    if argument.role in ("scalar", "numbers"):
        plain = _ARGUMENT_TYPES.get(kind, f"enums.{kind} | int")
        return plain if argument.role == "scalar" else f"Sequence[{plain}]"
    if argument.role == "native":
        plain = native_class(argument.detail)
        plain += " | SparseConvolutionDescriptor" if "Sparse" in plain else ""
    else:
        plain = _ARGUMENT_TYPES[argument.role]
    return f"{plain} | None" if argument.optional else plain


def _result_type(argument: Argument, kind: str) -> str:
    if argument.role == "result_native":
        return native_class(argument.detail)
    plain = _RESULT_TYPES.get(argument.role) or _RESULT_TYPES.get(kind, f"enums.{kind}")
    return f"tuple[{plain}, ...]" if argument.role == "result_numbers" else plain


def stubs(header: Header) -> str:
    """Return pymluops/functions/__init__.pyi."""
    found = read_signatures(header)
    natives = sorted({native_class(a.detail) for signature in found for a in signature.arguments if "native" in a.role})
    imports = "".join(f"from pymluops.functions._classes import {name} as {name}\n" for name in natives)
    return f'''# {header.banner}
# fmt: off
"""Types of the functions of mlu_op.h; their documentation is in pymluops.functions itself."""

from collections.abc import Sequence
from os import PathLike
from typing import Any, SupportsFloat, SupportsIndex, TypeAlias

from pymluops import enums
from pymluops._core import Backend, Handle, Queue, SparseConvolutionDescriptor
from pymluops.descriptors import TensorDescriptor
{imports}
Array: TypeAlias = Any
Described: TypeAlias = NativeTensorDescriptor | TensorDescriptor | Array
Real: TypeAlias = SupportsFloat | SupportsIndex

{"".join(map(_stub, found))}'''
