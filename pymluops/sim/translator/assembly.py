"""Assembly statements: the instructions that the simulator knows, as calls of its functions."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .macros import value_of
from .tokens import Kind, Token, UnbalancedError, closing, spelled


class AssemblyError(Exception):
    """An instruction that the simulator does not know, or operands that it cannot read."""


@dataclass(frozen=True, slots=True)
class Operand:
    """An operand of an instruction: a C++ expression, or a number as written."""

    text: str
    in_memory: bool  # in brackets
    literal: bool = False

    @property
    def value(self) -> str:
        """The expression, ready to be an argument."""
        return self.text if self.literal else f"({self.text})"

    @property
    def address(self) -> str:
        """The same, for pointers to memory."""
        return f"::mlusim::asm_address(({self.text}))"


SYNC = "::mlusim::asm_sync()"

#: Stages of `fuse`, by the text before the parenthesis.
STAGES = ("add", "sub", "mul", "and", "or", "xor", "eq", "ne", "lt", "le", "gt", "ge", "max", "min")
FUSE_TYPES = ("f16", "f32", "u32", "s32")
REAL_TYPES = ("f16", "f32")
#: Of barriers: a cluster, or all of a job.
SCOPES = ("local", "global")

#: In a template, a macro's replacement of `#name` stands between these marks.
MARK = "\x01"
NUMBER = re.compile(r"[-+]?(0[xX][0-9a-fA-F]+|\d+(\.\d*)?([eE][-+]?\d+)?|\.\d+([eE][-+]?\d+)?)[fFuU]?")


def calls_of(tokens: Sequence[Token]) -> list[str]:
    """Return the instructions of an assembly statement as C++ expressions; none for a barrier of the compiler.

    Parameters
    ----------
    tokens
        The text in the parentheses of the statement.

    Raises
    ------
    AssemblyError
        If an instruction is not known; the message names it.
    """
    template, *sections = sections_of(tokens)
    operands: dict[str, str] = {}
    for number, operand in enumerate(part for section in sections[:2] for part in split(section)):
        name, expression = operand_of(operand)
        operands[str(number)] = expression
        if name is not None:
            operands[f"[{name}]"] = expression
    calls: list[str] = []
    for instruction in instructions_of(template):
        call = translate(instruction, operands)
        # One wait is as good as two.
        if call != SYNC or calls[-1:] != [SYNC]:
            calls.append(call)
    return calls


def sections_of(tokens: Sequence[Token]) -> list[list[Token]]:
    """Divide at the colons: template, outputs, inputs, clobbers."""
    sections: list[list[Token]] = [[]]
    i = 0
    while i < len(tokens):
        token = tokens[i]
        end = closing(tokens, i) if token.text in ("(", "[") else i
        if token.text == ":":
            sections.append([])
        elif token.text == "::":
            sections += [[], []]
        else:
            sections[-1] += tokens[i : end + 1]
        i = end + 1
    return sections


def split(tokens: Sequence[Token]) -> list[list[Token]]:
    """Divide at the commas that stand outside of brackets."""
    parts: list[list[Token]] = [[]]
    i = 0
    while i < len(tokens):
        end = closing(tokens, i) if tokens[i].text in ("(", "[", "{") else i
        if tokens[i].text == ",":
            parts.append([])
        else:
            parts[-1] += tokens[i : end + 1]
        i = end + 1
    return [part for part in parts if part]


def operand_of(tokens: Sequence[Token]) -> tuple[str | None, str]:
    """Return the name and the expression of `[name] "r"(expression)`."""
    name = None
    if tokens[0].text == "[" and len(tokens) > 2:
        name = tokens[1].text
        tokens = tokens[3:]
    opening = next((i for i, token in enumerate(tokens) if token.text == "("), -1)
    if opening < 0:
        raise AssemblyError(f"the operand `{spelled(tokens)}` of an assembly statement has no expression")
    try:
        end = closing(tokens, opening)
    except UnbalancedError:
        raise AssemblyError(f"a bracket in the operand `{spelled(tokens)}` is not closed") from None
    return name, spelled(tokens[opening + 1 : end])


def instructions_of(template: Sequence[Token]) -> list[str]:
    """Cut the template into instructions. A macro between its strings is taken for a part of the text."""
    text = ""
    i = 0
    while i < len(template):
        token = template[i]
        if token.text == "#" and i + 1 < len(template) and template[i + 1].kind is Kind.WORD:
            text += f"{MARK}{template[i + 1].text}{MARK}"
            i += 1
        else:
            text += value_of(token.text) if token.kind is Kind.STRING else token.text
        i += 1
    return [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]


def translate(instruction: str, operands: dict[str, str]) -> str:
    """Return an instruction as a C++ expression."""
    mnemonic, _, rest = instruction.partition(" ")
    mnemonic = mnemonic.strip()
    shown = mnemonic.replace(MARK, "")
    arguments = [argument.strip() for argument in _at_commas(rest) if argument.strip()]
    for pattern, handler in HANDLERS.items():
        match = re.fullmatch(pattern, mnemonic)
        if match is None:
            continue
        suffix = match[1] if match.groups() else ""
        types = TYPES.get(pattern)
        if types is not None and MARK not in suffix and suffix not in types:
            raise AssemblyError(f"the assembly instruction `{shown}` is not known; its types are {', '.join(types)}")
        return handler(shown, pasted(suffix), arguments, operands)
    raise AssemblyError(f"the assembly instruction `{shown}` is not known; these are: {', '.join(KNOWN)}")


def _at_commas(text: str) -> list[str]:
    """Divide a text at the commas that stand outside of brackets."""
    parts: list[str] = []
    begin = depth = 0
    for mark in re.finditer(r"[,()\[\]]", text):
        if mark[0] == "," and depth == 0:
            parts.append(text[begin : mark.start()])
            begin = mark.end()
        elif mark[0] != ",":
            depth = depth + 1 if mark[0] in "([" else max(depth - 1, 0)
    return [*parts, text[begin:]]


def pasted(suffix: str) -> str:
    """The end of a C++ name; of a macro's parameter, pasted to it."""
    return "##" + suffix.strip(MARK) if MARK in suffix else suffix


def read(mnemonic: str, text: str, operands: dict[str, str]) -> Operand:
    """Return an operand of an instruction."""
    in_memory = text.startswith("[") and text.endswith("]")
    inner = text[1:-1].strip() if in_memory else text
    if MARK in inner:
        return Operand(inner.replace(MARK, ""), in_memory)
    reference = re.fullmatch(r"%[a-zA-Z]?(\[\w+\]|\d+)", inner)
    if reference is not None and reference[1] in operands:
        return Operand(operands[reference[1]], in_memory)
    if NUMBER.fullmatch(inner):
        return Operand(inner, in_memory, literal=True)
    raise AssemblyError(f"the operand `{text}` of the assembly instruction `{mnemonic}` is no operand of the statement")


def readers(mnemonic: str, arguments: Sequence[str], operands: dict[str, str], form: str) -> list[Operand]:
    """Return the operands of an instruction that has just those of `form`: m in brackets, r not."""
    found = [read(mnemonic, argument, operands) for argument in arguments]
    if "".join("m" if operand.in_memory else "r" for operand in found) != form:
        written = ", ".join("[address]" if kind == "m" else "register" for kind in form) or "none"
        raise AssemblyError(f"the assembly instruction `{mnemonic}` has other operands than expected: {written}")
    return found


def plain(function: str) -> Callable[[str, str, Sequence[str], dict[str, str]], str]:
    """Return the handler of an instruction without operands."""

    def handle(mnemonic: str, _: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
        readers(mnemonic, arguments, operands, "")
        return f"::mlusim::{function}()"

    return handle


def barrier(mnemonic: str, scope: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`barrier.sync.local id, count`: the cores of a cluster, or of a job, and its memory cores if they are counted."""
    _, count = readers(mnemonic, arguments, operands, "rr")
    return f"::mlusim::asm_barrier_{scope}({count.value})"


def fuse(mnemonic: str, suffix: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`fuse.nram.f32 [dst], n, [src], .mul(a), .add([v])`."""
    dst, count, src = readers(mnemonic, arguments[:3], operands, "mrm")
    stages = ", ".join(stage(mnemonic, argument, operands) for argument in arguments[3:])
    return f"::mlusim::asm_fuse_{suffix}({dst.address}, {count.value}, {src.address}, {{{stages}}})"


def stage(mnemonic: str, argument: str, operands: dict[str, str]) -> str:
    """`.mul(a)`, or `.mul([v])` with a vector."""
    match = re.fullmatch(rf"\.({MARK}?\w+{MARK}?)\s*\((.*)\)", argument, re.DOTALL)
    if match is None:
        raise AssemblyError(f"the stage `{argument}` of the assembly instruction `{mnemonic}` is not known")
    if MARK not in match[1] and match[1] not in STAGES:
        raise AssemblyError(
            f"the stage `.{match[1]}` of the assembly instruction `{mnemonic}` is not known; these are: "
            f"{', '.join(STAGES)}"
        )
    operation = f"::mlusim::FuseStep::fuse_{pasted(match[1])}"
    operand = read(mnemonic, match[2].strip(), operands)
    if operand.in_memory:
        return f"::mlusim::fuse_vector({operation}, {operand.address})"
    kind = "fuse_literal" if operand.literal and not operand.text.lower().startswith("0x") else "fuse_register"
    return f"::mlusim::{kind}({operation}, {operand.value})"


def find_last(mnemonic: str, _: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`findlast1.gpr.b32 dst, src`."""
    dst, src = readers(mnemonic, arguments, operands, "rr")
    return f"{dst.value} = ::mlusim::asm_find_last_1({src.value})"


def index(mnemonic: str, _: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`index.vvr.f32 register, base, step`."""
    dst, base, step = readers(mnemonic, arguments, operands, "rrr")
    return f"::__vv_index({dst.value}, static_cast<float>({base.value}), static_cast<float>({step.value}))"


def divide(mnemonic: str, suffix: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`div.scalar.nram.f32 [dst], [src], divisor, n`."""
    dst, src, divisor, count = readers(mnemonic, arguments, operands, "mmrr")
    return f"::mlusim::asm_div_scalar_{suffix}({dst.address}, {src.address}, {divisor.value}, {count.value})"


def gather(mnemonic: str, _: str, arguments: Sequence[str], operands: dict[str, str]) -> str:
    """`gather.vector.nram.nram.nram.u32 [dst], [src], [offsets], size, n, stride`."""
    dst, src, offsets, size, count, stride = readers(mnemonic, arguments, operands, "mmmrrr")
    return (
        f"::__gather({dst.address}, {src.address}, static_cast<unsigned int *>({offsets.address}), {size.value}, "
        f"NRAM2NRAM, {stride.value}, {count.value})"
    )


HANDLERS: dict[str, Callable[[str, str, Sequence[str], dict[str, str]], str]] = {
    "sync": plain("asm_sync"),
    "nop": plain("asm_nop"),
    r"barrier\.sync\.(.+)": barrier,
    r"fuse\.nram\.(.+)": fuse,
    r"findlast1\.gpr\.b32": find_last,
    r"index\.vvr\.f32": index,
    r"div\.scalar\.nram\.(.+)": divide,
    r"gather\.vector\.nram\.nram\.nram\.u32": gather,
}
TYPES = {r"barrier\.sync\.(.+)": SCOPES, r"fuse\.nram\.(.+)": FUSE_TYPES, r"div\.scalar\.nram\.(.+)": REAL_TYPES}
KNOWN = (
    "sync",
    "nop",
    *(f"barrier.sync.{scope}" for scope in SCOPES),
    *(f"fuse.nram.{kind}" for kind in FUSE_TYPES),
    "findlast1.gpr.b32",
    "index.vvr.f32",
    *(f"div.scalar.nram.{kind}" for kind in REAL_TYPES),
    "gather.vector.nram.nram.nram.u32",
)
