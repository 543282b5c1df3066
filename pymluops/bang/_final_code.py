"""Reads what GCC makes of a source, behind the pass that reports accesses to the checkers.

The text is that of ``-fdump-tree-optimized-asmname-lineno``: each function with its calls, which
include everything that the compiler expands by itself. An access that the instrumentation does not
know stands there as a call of a builtin function, as assembly, or in a function without
instrumentation.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from typing import NamedTuple

from pymluops.bang._device_functions import COPIES, is_mathematics, reads_text

__all__ = ["DUMP", "OF_SIMULATOR", "Contents", "Unseen", "unseen_in"]

#: The option of GCC that writes the text into a file.
DUMP = "-fdump-tree-optimized-asmname-lineno="
_FUNCTION = re.compile(r"^;; Function .*\(\*?([^\s()]+), funcdef_no=", re.MULTILINE)
_PLACE = r"\[([^\[\]\n]+):(\d+):\d+(?: discrim \d+)?\] ?"
_PLACES = re.compile(_PLACE)
#: A call, at the start of a statement or behind what its result is stored in.
_CALL = re.compile(r'(?:([^"]*?) = )?(\*?[A-Za-z_.$][\w.$]*) \((.*)\)(?: \[[\w -]+\])*;?', re.DOTALL)
_KEYWORDS = frozenset({"if", "switch", "return", "goto", "while"})
_ASSEMBLY = re.compile(r'__asm__ (?:__\w+__ ?|goto ?)*\("((?:[^"\\]|\\.)*)"')
#: A variable that holds the address of a function: `_3`, `f_12`, `D.123_4`.
_VALUE = re.compile(r"[\w.]*_\d+")
_COMPILER = re.compile(r"__builtin_|__atomic_|__sync_")
_DECLARED = re.compile(r"^  (?!static |extern )[^=(;]*?([A-Za-z_][\w.]*|[A-Z]\.\d+)(?:\[[^;]*)?;", re.MULTILINE)
_PARAMETER = re.compile(r"([A-Za-z_]\w*)\s*(?=[,)])")
_ADDRESS = re.compile(rf"(?:{_PLACE})*&(?:{_PLACE})*([A-Za-z_][\w.]*|[A-Z]\.\d+)\b.*", re.DOTALL)
_BASE = re.compile(r"[A-Za-z_][\w.]*|[A-Z]\.\d+")
_LITERAL = re.compile(rf'(?:{_PLACE})*&?"(?:[^"\\]|\\.)*"(?:\[0\])?')
_TEXT = re.compile(r'"(?:[^"\\]|\\.)*"')
#: A copy, a fill or a comparison that is not called.
_POINTER = re.compile(rf"(?<![\w.$])({'|'.join(COPIES)})\b(?! \()")
_REGISTER = re.compile(r"^  register .*__asm__ \(", re.MULTILINE)
_UNCHECKED = re.compile(r"no_sanitize \(([^)]*)\)")
#: Functions around each kernel, which mlusim/exception.h compiles without checks on purpose.
OF_SIMULATOR = re.compile(
    r"_ZN6mlusim(?:14call_and_catchIZ+NS_\w+|11take_nested\w+|6Thrown(?:4take|6append)EPKc)(?:\.\w+)*"
)
#: Builtin functions that neither read nor write memory, or only what belongs to the compiler.
_PURE_NAMES = """
    expect expect_with_probability unreachable trap return_address extract_return_addr frame_address eh_pointer
    eh_filter eh_copy_values unwind_resume cxa_end_cleanup stack_save alloca alloca_with_align
    alloca_with_align_and_max assume_aligned object_size dynamic_object_size constant_p is_constant_evaluated
    va_end next_arg add_overflow sub_overflow mul_overflow complex shuffle convertvector dwarf_cfa
    speculation_safe_value
"""
_PURE = frozenset(_PURE_NAMES.split())
#: Builtin functions that write or read behind their first pointers, which may be those of automatic
#: variables.
_LOCAL = {**COPIES, "va_start": 1, "va_copy": 2}
#: The place that the stack is set back to behind an array of variable size.
_SAVED_STACK = re.compile(r"saved_stack\.\w+")
_PURE_OF_BITS = re.compile(r"(?:clz|ctz|clrsb|ffs|parity|popcount)(?:l|ll|imax|g)?|bswap(?:16|32|64|128)|bitreverse\d+")
#: Internal operations of GCC that touch memory: the vectoriser makes them.
_TOUCHING = re.compile(r"\.(?:MASK_|LEN_|GATHER|SCATTER|LOAD_|STORE_|MASK_LEN_|DEFERRED_INIT_)\w*")


class Unseen(NamedTuple):
    """Something in a function that no checker sees."""

    what: str
    place: str


#: Accesses that no checker sees, by the name of their function in the object file.
Contents = dict[str, list[Unseen]]


class _Function:
    def __init__(self, body: str, is_defined: Callable[[str], bool], is_system: Callable[[str], bool]) -> None:
        self._body = body
        self._is_defined = is_defined
        self._is_system = is_system
        self._place = ""

    def unseen(self, name: str) -> Iterator[Unseen]:
        """Yield what no checker sees."""
        head, brace, rest = self._body.partition("\n{\n")
        if not brace:
            return
        unchecked = _UNCHECKED.search(head)
        if unchecked and "thread" in unchecked[1].split(" | ") and not OF_SIMULATOR.fullmatch(name):
            yield Unseen("has a function without checks (no_sanitize)", self._first_place(rest))
        declared, _, code = f"\n{rest}".partition("\n  <bb ")
        if _REGISTER.search(declared):
            yield Unseen("has a variable in a register of the host", self._first_place(rest))
        for line in code.splitlines():
            yield from self._of_statement(line.strip(), head, rest)

    def _first_place(self, rest: str) -> str:
        places = [f"{file}:{line}" for file, line in _PLACES.findall(rest) if not self._is_system(file)]
        return next(iter(places), "")

    def _of_statement(self, line: str, head: str, rest: str) -> Iterator[Unseen]:
        while found := _PLACES.match(line):
            if not self._is_system(found[1]):
                self._place = f"{found[1]}:{found[2]}"
            line = line[found.end() :]
        if line.startswith("__asm__"):
            assembly = _ASSEMBLY.match(line)
            if assembly is None or assembly[1].strip():
                yield Unseen("has assembly of the host", self._here(rest))
            return
        pointer = _POINTER.search(_TEXT.sub("", line))
        if pointer is not None:
            yield Unseen(f"takes the address of {pointer[1]}, whose accesses no checker sees", self._here(rest))
        call = None if line.startswith("#") else _CALL.fullmatch(line)
        if call is None or call[2] in _KEYWORDS:
            return
        if call[1] and _is_in_memory(call[1], head, rest):
            yield Unseen("stores the structure that a call returns, which no checker sees", self._here(rest))
        name, arguments = call[2].removeprefix("*"), _arguments(call[3])
        if self._is_covered(name, arguments, head, rest):
            return
        by_itself = ", or what the compiler makes it of" if name in COPIES else ""
        yield Unseen(f"uses {name}{by_itself}, whose accesses no checker sees", self._here(rest))

    def _here(self, rest: str) -> str:
        return self._place or self._first_place(rest)

    def _is_covered(self, name: str, arguments: list[str], head: str, rest: str) -> bool:
        plain = name.removeprefix("__builtin_")
        if plain in _LOCAL:
            return all(_is_local(argument, head, rest) for argument in arguments[: _LOCAL[plain]])
        if plain == "stack_restore":
            return _SAVED_STACK.match(arguments[0]) is not None
        if name.startswith("."):
            return _TOUCHING.fullmatch(name) is None
        if reads_text(name):
            return bool(_LITERAL.fullmatch(arguments[-1])) or _is_local(arguments[-1], head, rest)
        if self._is_defined(name) or is_mathematics(name):
            return True
        if _COMPILER.match(name) or name == "alloca":
            return plain in _PURE or _PURE_OF_BITS.fullmatch(plain) is not None
        return _VALUE.fullmatch(name) is not None


def _is_in_memory(result: str, head: str, rest: str) -> bool:
    """Whether the place of a call's result is neither a value, nor an automatic variable, nor the caller's."""
    result = _PLACES.sub("", result).removesuffix(" ={v}").strip()
    if "->" in result or result.startswith(("*", "MEM")):
        return not result.startswith("*<retval>")
    base = _BASE.match(result)
    return base is not None and not _VALUE.fullmatch(base[0]) and not _is_local(f"&{base[0]}", head, rest)


def _is_local(argument: str, head: str, rest: str) -> bool:
    """Whether an argument is the address of an automatic variable."""
    found = _ADDRESS.fullmatch(argument)
    if found is None:
        return False
    declared = f"\n{rest}".partition("\n  <bb ")[0]
    return found[5] in _DECLARED.findall(declared) or found[5] in _PARAMETER.findall(head)


def _arguments(text: str) -> list[str]:
    """Return the arguments of a call."""
    found, depth, begin, quoted, escaped = list[str](), 0, 0, False, False
    for i, letter in enumerate(text):
        if escaped:
            escaped = False
        elif quoted:
            quoted, escaped = letter != '"', letter == "\\"
        elif letter == '"':
            quoted = True
        elif letter in "([{<":
            depth += 1
        elif letter in ")]}>":
            depth -= 1
        elif letter == "," and depth <= 0:
            found.append(text[begin:i].strip())
            begin = i + 1
    return [*found, text[begin:].strip()]


def unseen_in(dump: str, symbols: Set[str], is_system: Callable[[str], bool]) -> tuple[Contents, set[str]]:
    """Return what no checker sees in the functions of a source.

    Parameters
    ----------
    dump : str
        What GCC wrote for `DUMP`.
    symbols : set of str
        The symbols of the object file.
    is_system : callable
        Whether a file is a header of the system.

    Returns
    -------
    contents : dict of str to list of Unseen
        By the name of the function in the object file; functions without such things are left out.
    known : set of str
        All functions that the text has.
    """
    heads = list(_FUNCTION.finditer(dump))
    ends = [head.start() for head in heads[1:]] + [len(dump)]
    contents: Contents = {}
    for head, end in zip(heads, ends, strict=True):
        function = _Function(dump[head.end() : end], symbols.__contains__, is_system)
        found = list(dict.fromkeys(function.unseen(head[1])))
        if found:
            contents[head[1]] = found
    return contents, {head[1] for head in heads}
