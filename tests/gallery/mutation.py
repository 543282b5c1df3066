"""Mutants of a kernel: each is the source with one thing changed that someone could get wrong."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from gallery.syntax import (
    CallOf,
    Span,
    Statement,
    call_of,
    each_block,
    function_bodies,
    line_of,
    split,
    without_text,
)  # fmt: skip


@dataclass(frozen=True)
class Edit:
    """A part of the source and what stands there instead; an empty part is a place where something is put."""

    span: Span
    text: str
    is_statement: bool = False


@dataclass(frozen=True)
class Mutant:
    """One change of one kernel; `operator` is the kind of change."""

    kernel: str
    operator: str
    line: int
    edits: tuple[Edit, ...]
    what: str

    @property
    def name(self) -> str:
        return f"{self.kernel}:{self.line}: {self.operator}: {self.what}"


@dataclass(frozen=True)
class Site:
    """A statement that may be changed, the block it stands in, and its place there."""

    source: str
    text: str
    block: list[Statement]
    index: int

    @property
    def statement(self) -> Statement:
        return self.block[self.index]

    def remove(self) -> Edit:
        return Edit(self.statement.span, "", True)

    def replace(self, text: str) -> Edit:
        return Edit(self.statement.span, text, True)


Found = Iterator[tuple[str, tuple[Edit, ...], str]]  # operator, edits, description

_ARRAY = re.compile(r"__nram__\s+(\w+(?:\s+\w+)?)\s+((?:\w+\s*(?:\[[^;,]*\])+\s*,?\s*)+);")
_WEAKER = {
    "__sync": ("__sync_compute()", "__sync_io()"),
    "__sync_io_move_compute": ("__sync_compute()", "__sync_io()"),
    "__sync_io": ("__sync_compute()",),
    "__sync_move": ("__sync_compute()",),
    "__sync_compute": ("__sync_copy_dram_to_nram()",),
    "__sync_cluster": ('__asm__ volatile("sync;")',),
    "__sync_all": ("__sync_cluster()",),
}
_COPIES = ("__memcpy", "__memcpy_async")
#: Instructions whose last arguments are sizes, by how many.
_SIZES = {"__bang_transpose": 2, "__bang_mirror": 2, "__bang_rotate180": 2, "__bang_sumpool": 7, "__bang_maxpool": 7}
#: Of all that have the type, so that a kernel with many arrays has not mutants of this operator
#: alone.
_OTHER_BUFFERS = 2
_BACK = {"GDRAM2NRAM": "NRAM2GDRAM", "NRAM2GDRAM": "GDRAM2NRAM", "SRAM2NRAM": "NRAM2SRAM", "NRAM2SRAM": "SRAM2NRAM"}


def arrays_of(text: str) -> dict[str, str]:
    """The arrays in NRAM with their types."""
    found: dict[str, str] = {}
    for match in _ARRAY.finditer(text):
        for name in re.findall(r"(\w+)\s*(?:\[)", match[2]):
            if match[2].count(f"{name}[") and "[" in match[2]:
                found[name] = match[1]
    return found


# ---- Syncs and barriers --------------------------------------------------------------------------


def syncs(site: Site) -> Found:
    text = site.statement.span.of(site.source)
    call = call_of(site.text, site.statement)
    is_assembly = text.startswith("__asm__")
    if not is_assembly and not (call and call.name.startswith("__sync")):
        return
    yield "sync removed", (site.remove(),), text
    for weaker in _WEAKER.get(call.name if call else "", ()):
        yield "sync weakened", (site.replace(weaker + ";"),), f"{text} {weaker}"
    if site.index + 1 < len(site.block):
        end = site.block[site.index + 1].span.end
        if site.block[site.index + 1].kind != "simple" or is_plain(site, site.index + 1):
            yield "sync moved", (site.remove(), Edit(Span(end, end), text, True)), f"{text} one statement later"
    if site.index > 0 and is_plain(site, site.index - 1):
        start = site.block[site.index - 1].span.start
        yield "sync moved", (site.remove(), Edit(Span(start, start), text, True)), f"{text} one statement earlier"


def is_plain(site: Site, index: int) -> bool:
    """Whether a statement is a call or a block, so that another may change places with it."""
    return site.block[index].kind != "simple" or call_of(site.text, site.block[index]) is not None


# ---- Copies --------------------------------------------------------------------------------------


def copies(site: Site) -> Found:
    call = call_of(site.text, site.statement)
    if call is None or call.name not in _COPIES or len(call.arguments) < 4:
        return
    words = [argument.of(site.source) for argument in call.arguments]
    text = site.statement.span.of(site.source)
    yield "copy removed", (site.remove(),), text
    if call.name == "__memcpy" and len(words) in (4, 7):
        yield "copy not waited for", (site.replace(text.replace("__memcpy", "__memcpy_async", 1)),), text
    element = f"(int)sizeof(({words[0]})[0])"
    for sign in "+-":
        size = f"(int)({words[2]}) {sign} {element}"
        yield "size off by one", (Edit(call.arguments[2], size),), f"{words[2]} {sign} 1"
    for end in (0, 1):
        yield "offset off by one", (Edit(call.arguments[end], f"({words[end]}) + 1"),), f"{words[end]} + 1"
    if words[3] in _BACK:
        yield "wrong direction", (Edit(call.arguments[3], _BACK[words[3]]),), words[3]
    if len(words) == 7:
        for end in (4, 5):
            yield "wrong stride", (Edit(call.arguments[end], f"(int)({words[end]}) + {element}"),), f"{words[end]} + 1"
        for sign in "+-":
            yield "size off by one", (Edit(call.arguments[6], f"({words[6]}) {sign} 1"),), f"{words[6]} {sign} 1"


# ---- Computation ---------------------------------------------------------------------------------


def instructions(site: Site) -> Found:
    call = call_of(site.text, site.statement)
    if call is None or not re.match(r"__bang_|__cn_vector_|__gather|__scatter", call.name):
        return
    for argument in sizes_of(call):
        word = argument.of(site.source)
        for sign in "+-":
            yield "size off by one", (Edit(argument, f"({word}) {sign} 1"),), f"{call.name}: {word} {sign} 1"
    yield from other_buffers(site, call)


def sizes_of(call: CallOf) -> Sequence[Span]:
    if call.name.startswith("__cn_vector_"):
        return call.arguments[:1]
    if len(call.arguments) < 3 or call.name.startswith("__bang_atomic"):
        return ()
    if call.name == "__bang_write_value" and len(call.arguments) >= 3:
        return call.arguments[1:2]
    return call.arguments[-min(_SIZES.get(call.name, 1), len(call.arguments) - 2) :]


def other_buffers(site: Site, call: CallOf) -> Found:
    arrays = arrays_of(site.text)
    places = [(argument, base_of(argument.of(site.text))) for argument in call.arguments]
    known = [(argument, base) for argument, base in places if base in arrays]
    for argument, base in known:
        word = argument.of(site.source)
        others = [other for other in arrays if other != base and arrays[other] == arrays[base]]
        for other in others[:_OTHER_BUFFERS]:
            changed = re.sub(rf"\b{base}\b", other, word, count=1)
            yield "buffer swapped", (Edit(argument, changed),), f"{call.name}: {other} for {word}"
    for first, second in itertools.pairwise(known):
        words = first[0].of(site.source), second[0].of(site.source)
        if words[0] != words[1] and arrays[first[1]] == arrays[second[1]]:
            edits = Edit(first[0], words[1]), Edit(second[0], words[0])
            yield "buffer swapped", edits, f"{call.name}: {words[0]} and {words[1]}"


def base_of(word: str) -> str:
    match = re.match(r"\w+", word)
    return match[0] if match else ""


# ---- Conditions, loops, numbers of tasks ---------------------------------------------------------


def early_returns(site: Site) -> Found:
    statement = site.statement
    if statement.kind != "if" or statement.head is None:
        return
    text = statement.span.of(site.source)
    if re.search(r"\breturn\s*;\s*$", text) and len(statement.blocks) == 1 and len(statement.blocks[0]) == 1:
        yield "early return removed", (site.remove(),), text


def loops(site: Site) -> Found:
    statement = site.statement
    if statement.kind != "for" or statement.head is None:
        return
    first, test, _ = split(site.text, statement.head.start, statement.head.end, ";")
    begin = re.match(r"int \w+ = (.*)$", first.of(site.text), re.DOTALL)
    if begin:
        span = Span(first.start + begin.start(1), first.start + begin.end(1))
        word = span.of(site.source)
        yield "loop off by one", (Edit(span, f"({word}) + 1"),), f"from {word} + 1"
    bound = re.match(r"\w+ (?:<|<=) ([^&|]*)$", test.of(site.text), re.DOTALL)
    if bound:
        span = Span(test.start + bound.start(1), test.start + bound.end(1))
        word = span.of(site.source)
        for sign in "+-":
            yield "loop off by one", (Edit(span, f"(({word}) {sign} 1)"),), f"to {word} {sign} 1"


_TASKS = {
    "taskId": ("(taskId + 1)", "coreId"), "taskDim": ("(taskDim + 1)", "(taskDim - 1)"), "coreId": ("(coreId + 1)",),
    "taskIdX": ("(taskIdX + 1)",), "taskIdY": ("taskIdX",), "taskDimX": ("taskDimY + 1",),
    "clusterId": ("(clusterId + 1)",), "coreDim": ("(coreDim - 1)",),
}  # fmt: skip


def tokens(site: Site) -> Found:
    """Of a simple statement, or of the head of another one."""
    statement = site.statement
    part = statement.span if statement.kind == "simple" else statement.head
    if part is None or re.match(r"(static|constexpr|using|struct)\b", part.of(site.text)):
        return
    for match in re.finditer(r"\b(taskId[XY]?|taskDimX?|coreId|coreDim|clusterId)\b", part.of(site.text)):
        span = Span(part.start + match.start(), part.start + match.end())
        for other in _TASKS.get(match[0], ()):
            yield "task arithmetic", (Edit(span, other),), f"{other} for {match[0]}"
    for match in re.finditer(r"\b(\w+) % ([23])\b", part.of(site.text)):
        span = Span(part.start + match.start(), part.start + match.end())
        yield "pipeline buffer", (Edit(span, "0"),), f"always the first for {match[0]}"
        yield "pipeline buffer", (Edit(span, f"(({match[1]} + 1) % {match[2]})"),), f"the next for {match[0]}"


OPERATORS: tuple[Callable[[Site], Found], ...] = (syncs, copies, instructions, early_returns, loops, tokens)


# ---- All of a kernel -----------------------------------------------------------------------------


def mutants_of(kernel: str, source: str) -> list[Mutant]:
    """All mutants of a source, in the order of its lines."""
    text = without_text(source)
    found = []
    for body in function_bodies(text):
        for block in each_block(body):
            for index in range(len(block)):
                site = Site(source, text, block, index)
                for operator in OPERATORS:
                    for name, edits, what in operator(site):
                        shown = " ".join(what.split())
                        found.append(Mutant(kernel, name, line_of(source, edits[0].span.start), edits, shown))
    return sorted(found, key=lambda mutant: mutant.line)


def sample(mutants: Sequence[Mutant], count: int, seed: int) -> list[Mutant]:
    """Some of the mutants, of all operators alike as far as there are any; the same for the same seed."""
    rng = Random(seed)
    left: dict[str, list[Mutant]] = {}
    for mutant in mutants:
        left.setdefault(mutant.operator, []).append(mutant)
    for group in left.values():
        rng.shuffle(group)
    chosen: list[Mutant] = []
    while len(chosen) < min(count, len(mutants)):
        for operator in sorted(left):
            if left[operator] and len(chosen) < count:
                chosen.append(left[operator].pop())
    return chosen


def mutated(source: str, mutant: Mutant) -> str:
    """The source of one mutant; lines keep their numbers."""
    for edit in sorted(mutant.edits, key=lambda edit: edit.span.start, reverse=True):
        lines = edit.span.of(source).count("\n")
        text = " ".join(edit.text.split()) + "\n" * lines if edit.span.start < edit.span.end else f" {edit.text} "
        source = source[: edit.span.start] + text + source[edit.span.end :]
    return source
