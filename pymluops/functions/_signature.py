"""Signatures of the functions, read from the generated description, and their documentation."""

from __future__ import annotations

import inspect
from typing import NamedTuple

from pymluops.functions._signatures import ROWS

__all__ = ["SIGNATURES", "Argument", "Signature"]

#: Roles of C parameters that the caller does not give in their place.
_HIDDEN = frozenset(
    ("descriptor", "workspace_size", "attribute_size", "buffer", "handle", "workspace", "plan_workspace")
)
_WORKSPACES = ("workspace", "plan_workspace")
_KINDS = {
    "bool": "bool",
    "int32": "int of 32 bits",
    "int64": "int of 64 bits",
    "size": "int from 0 on, of 64 bits",
    "float32": "float in the range of 32 bits",
}
_TEXTS = {
    "input": "array, read",
    "output": "array, written",
    "address": "array",
    "describe": "array, TensorDescriptor or NativeTensorDescriptor",
    "text": "str or os.PathLike",
    "queue": "Queue, address or None",
    "group": "sequence of NativeTensorDescriptor",
    "fill": "number of type `dtype`, or its bytes",
    "attribute": "float or bool, as the attribute is",
    "reservespace": "array, None: as large as the plan asks for",
    "result_handle": "Handle",
    "result_queue": "queue of the handle",
    "result_address": "int, an address",
    "result_fill": "number of type `dtype`, or its bytes",
    "result_group": "tuple of NativeTensorDescriptor",
}


class Argument(NamedTuple):
    """One C parameter and its role, which native/abi/roles.py explains."""

    role: str
    type: str
    name: str
    detail: str
    optional: bool

    @property
    def kind(self) -> str:
        """The part of the detail before the colon."""
        return self.detail.partition(":")[0]

    @property
    def rule(self) -> str:
        """The part of the detail behind the colon."""
        return self.detail.partition(":")[2]

    @property
    def given(self) -> bool:
        """Whether the caller gives it in its place."""
        return self.role not in _HIDDEN and not self.role.startswith("result")


class Signature(NamedTuple):
    """One C function."""

    name: str
    returns: str
    layout: str
    workspace: tuple[str, ...]
    text: str
    arguments: tuple[Argument, ...]

    @property
    def given(self) -> tuple[Argument, ...]:
        """The arguments that the caller gives, in order."""
        return tuple(argument for argument in self.arguments if argument.given)

    @property
    def results(self) -> tuple[Argument, ...]:
        """What comes back, in order."""
        return tuple(argument for argument in self.arguments if argument.role.startswith("result"))

    @property
    def keywords(self) -> tuple[str, ...]:
        """The arguments that are given by keyword only."""
        roles = [argument.role for argument in self.arguments]
        workspace = ("workspace",) if any(role in _WORKSPACES for role in roles) else ()
        return (*workspace, "handle" if "handle" in roles else "backend")

    @property
    def python(self) -> inspect.Signature:
        """The signature of the callable."""
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        parameters = [
            inspect.Parameter(a.name, kind, default=None if a.role == "reservespace" else inspect.Parameter.empty)
            for a in self.given
        ]
        parameters += [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None) for name in self.keywords]
        return inspect.Signature(parameters)

    @property
    def prototype(self) -> str:
        """The C prototype."""
        parameters = ", ".join(_declared(argument) for argument in self.arguments)
        return f"{self.returns}{'' if self.returns.endswith('*') else ' '}{self.name}({parameters})"

    @property
    def documentation(self) -> str:
        """The docstring of the callable."""
        lines = [f"{self.name}{self.python}", "", self.text, "", f"C: ``{self.prototype}``"]
        sections = [
            ("Parameters", [(a.name, _described(a)) for a in self.given] + [_keyword(name) for name in self.keywords]),
            ("Returns", self._returned()),
        ]
        for title, rows in sections:
            if rows:
                lines += ["", title, "-" * len(title), *(f"{name} : {text}" for name, text in rows)]
        return "\n".join(lines)

    def _returned(self) -> list[tuple[str, str]]:
        if self.returns == "size_t":
            return [("number", "int")]
        if self.returns == "const char *":
            return [("text", "str")]
        return [(argument.name, _described(argument)) for argument in self.results]


def _declared(argument: Argument) -> str:
    plain = argument.type.removesuffix("[]")
    return f"{plain}{'' if plain.endswith('*') else ' '}{argument.name}{argument.type[len(plain) :]}"


def _keyword(name: str) -> tuple[str, str]:
    texts = {
        "workspace": "array instead of the memory that the function asks for, optional",
        "handle": "Handle, optional; this thread's handle for the default backend if not given",
        "backend": "Backend or what `pymluops.load` takes, optional; the default backend, or that of the objects given",
    }
    return name, texts[name]


def _described(argument: Argument) -> str:
    if argument.role in ("scalar", "result"):
        text = _KINDS.get(argument.kind, f"enums.{argument.kind}")
    elif argument.role in ("numbers", "result_numbers"):
        text = f"sequence of {_KINDS.get(argument.kind, f'enums.{argument.kind}')}, as many as {argument.rule}"
    elif argument.role in ("native", "result_native"):
        text = f"object made of a {argument.detail}"
    else:
        text = _TEXTS[argument.role]
        text += f", {argument.kind}" if argument.kind else ""
    return f"{text}, or None" if argument.optional and argument.role != "queue" else text


def _read(row: tuple[str, str, str, str, str, str]) -> Signature:
    name, returns, layout, workspace, text, listed = row
    arguments: list[Argument] = []
    for one in listed.split("; ") if listed else []:
        role, c_type, argument, detail, optional = one.split("|")
        arguments.append(Argument(role, c_type, argument, detail, bool(optional)))
    return Signature(name, returns, layout, tuple(workspace.split()), text, tuple(arguments))


#: Every function of mlu_op.h, in its order.
SIGNATURES = {row[0]: _read(row) for row in ROWS}
