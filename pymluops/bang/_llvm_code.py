"""Reads what Clang makes of a source, behind the pass that reports accesses to the checkers.

The text is LLVM's, and the object file is made of this very text. Memory is touched by few
instructions there: each must follow the call that reports it, or belong to a variable of the
function itself. Everything else is refused, so that instructions and intrinsic functions of later
versions of LLVM are, too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass, field
from typing import NamedTuple

from pymluops.bang._device_functions import COPIES, is_mathematics, reads_text
from pymluops.bang._final_code import OF_SIMULATOR, Contents, Unseen
from pymluops.bang._llvm_text import arguments_of, bytes_of, divided, first_type, plain_name, unescaped

__all__ = ["unseen_in"]

_VALUE = r'(?:%(?:[\w.$-]+|"[^"]*"))'
_GLOBAL = r'(?:@(?:[\w.$-]+|"[^"]*"))'
_DEFINE = re.compile(rf"define (.*?)({_GLOBAL})\(")
_GROUP = re.compile(r"attributes #(\d+) = \{(.*)\}")
_CONSTANT = re.compile(rf"({_GLOBAL}) = (?:(?!global )[\w()-]+ )*?constant ")
_LABEL = re.compile(r'(?:[\w.$-]+|"[^"]*"):')
_RESULT = re.compile(rf"(?:({_VALUE}) = )?(?:(?:tail|musttail|notail) )?([a-z_]+)\b ?(.*)", re.DOTALL)
_CALLEE = re.compile(rf" ({_GLOBAL}|{_VALUE})\(")
_ASSEMBLY = re.compile(r' asm (?:(?:sideeffect|alignstack|inteldialect|unwind) )*"([^"]*)", "([^"]*)"\(')
#: An operand of assembly that lies in memory and is not touched by an empty text is "*m" alone.
_STORED = re.compile(r"\*(?!m(?:,|$))")
_HOOK = re.compile(r"__tsan_(?:unaligned_)?(?:volatile_)?(read|write)(\d+)")
#: Some versions leave the load behind the call that does it.
_ATOMIC_LOAD = re.compile(r"__tsan_atomic(\d+)_load")
_LOCATION = re.compile(r"!dbg (!\d+)")
_NODE = re.compile(r"(!\d+) = (?:distinct )?!(DI\w+)\((.*)\)")
_FIELD = re.compile(r'(line|scope|inlinedAt|file|filename|directory): ("[^"]*"|[^,]+)')
_COPY_NAME = re.compile(rf"@({'|'.join(COPIES)})(?![\w.$-])")
_POINTER = re.compile(r"(?:<(?:vscale x )?\d+ x )?ptr\b")
_OPERAND = re.compile(rf"(?:getelementptr|inttoptr|select) .*|{_GLOBAL}|{_VALUE}|\b(?:null|undef|poison)\b")
_MASKS = re.compile(r"llvm\.(?:launder|strip)\.invariant\.group\.")
#: Intrinsic functions that take pointers and touch no memory.
_TOUCHES_NOTHING = re.compile(
    r"llvm\.(?:lifetime|dbg|experimental\.noalias|invariant|launder|strip|objectsize|eh|threadlocal\.address"
    r"|is\.constant|ptrmask|ptr\.annotation|var\.annotation|type\.test|va_end|fake\.use|returnaddress|frameaddress"
    r"|assume|stacksave|stackrestore)\b.*"
)
_REGISTER = re.compile(r"llvm\.(?:read|write)(?:_volatile)?_register\b.*")
_UNCHECKED = "has a function without checks (no_sanitize)"
_ATOMIC = "uses an atomic operation that no checker sees"


class _Instruction(NamedTuple):
    """One instruction: what it defines, and its words."""

    result: str
    name: str
    rest: str
    text: str


@dataclass
class _Module:
    """What is known of a source besides its functions."""

    is_defined: Callable[[str], bool]
    is_system: Callable[[str], bool]
    constants: set[str] = field(default_factory=set)
    checked: set[str] = field(default_factory=set)
    nodes: dict[str, dict[str, str]] = field(default_factory=dict)

    def place(self, node: str) -> str:
        """Return the innermost file and line of a location that is not the system's."""
        while node in self.nodes:
            location = self.nodes[node]
            scope = self.nodes.get(location.get("scope", ""), {})
            file = self.nodes.get(scope.get("file", ""), {}).get("filename", '""')
            name = unescaped(file.strip('"'))
            if name and not self.is_system(name) and location.get("line", "0") != "0":
                return f"{name}:{location['line']}"
            node = location.get("inlinedAt", "")
        return ""


class _Function:
    def __init__(self, head: str, name: str, lines: list[str], module: _Module) -> None:
        self._module = module
        self.name = plain_name(name)
        self._instructions = list(_instructions(lines))
        self._by_result = {each.result: each for each in self._instructions if each.result}
        # Copies that belong to the function: its caller made them.
        self._parameters = {
            parameter.split()[-1] for parameter in arguments_of(head[head.index(f"{name}(") :]) if "byval(" in parameter
        }
        self._checked = any(number in module.checked for number in re.findall(r"#(\d+)", head))
        self._pending: set[tuple[str, int, str]] = set()

    def unseen(self) -> Iterator[Unseen]:
        """Yield what no checker sees."""
        if not self._checked and OF_SIMULATOR.fullmatch(self.name):
            return
        place = ""
        for each in self._instructions:
            if not each.name:  # another block begins
                self._pending.clear()
                continue
            location = _LOCATION.search(each.text)
            place = (self._module.place(location[1]) if location else "") or place
            for what, of_access in self._of_instruction(each):
                yield Unseen(_UNCHECKED if of_access and not self._checked else what, place)

    def _of_instruction(self, each: _Instruction) -> Iterator[tuple[str, bool]]:
        """Yield what no checker sees, and whether the instrumentation would have made it seen."""
        callee = ""
        if each.name in ("load", "store"):
            yield from self._of_access(each)
        elif each.name in ("atomicrmw", "cmpxchg"):
            if not self._is_local(_pointers(divided(each.rest))[0]):
                yield _ATOMIC, True
        elif each.name == "va_arg":
            if not self._is_local(_pointers(divided(each.rest))[0]):
                yield "uses va_arg, whose accesses no checker sees", False
        elif each.name in ("call", "invoke", "callbr"):
            found = _CALLEE.search(f" {each.rest}")
            callee = found[1] if found else ""
            yield from self._of_call(each, found)
        operands = each.text.replace(f"{callee}(", "(", 1) if callee else each.text
        for name in _COPY_NAME.findall(operands):
            yield f"takes the address of {name}, whose accesses no checker sees", False

    def _of_access(self, each: _Instruction) -> Iterator[tuple[str, bool]]:
        parts = divided(each.rest)
        typed = re.sub(r"^(?:atomic |volatile )+", "", parts[0])
        size = bytes_of(first_type(typed))
        pointers = _pointers(parts[1:])
        kind = "read" if each.name == "load" else "write"
        if not pointers:  # of another address space
            yield f"{kind}s in an address space of the host, which no checker sees", False
            return
        hook = (kind, size, pointers[0])
        if hook in self._pending:
            self._pending.discard(hook)
        elif not self._is_local(pointers[0]) and not (kind == "read" and self._is_constant(pointers[0])):
            yield f"{kind}s {size or 'several'} bytes at once ({first_type(typed)}), which no checker sees", True

    def _of_call(self, each: _Instruction, found: re.Match[str] | None) -> Iterator[tuple[str, bool]]:
        if " asm " in f" {each.rest}" and (assembly := _ASSEMBLY.search(f" {each.rest}")):
            if assembly[1].strip() or _STORED.search(assembly[2]):
                yield "has assembly of the host", False
            return
        if found is None:
            yield "calls an address of the host", False
            return
        arguments = arguments_of(f" {each.rest}"[found.start(1) :])
        for argument in arguments:
            if "byval(" in argument and not self._is_local(argument.split()[-1]):
                yield "passes a structure by value, whose copy no checker sees", False
        if found[1].startswith("%"):
            return
        name = plain_name(found[1])
        hook = _HOOK.fullmatch(name)
        if hook:
            self._pending.add((hook[1], int(hook[2]), _pointers(arguments)[0]))
        elif atomic := _ATOMIC_LOAD.fullmatch(name):
            self._pending.add(("read", int(atomic[1]) // 8, _pointers(arguments)[0]))
        elif not self._is_covered(name, arguments):
            shown = name.partition(".p0")[0]
            by_itself = ", or what the compiler makes it of" if name in COPIES else ""
            is_copy = name.startswith(("llvm.memcpy.p", "llvm.memmove.p", "llvm.memset.p"))
            yield f"uses {shown}{by_itself}, whose accesses no checker sees", is_copy

    def _is_covered(self, name: str, arguments: list[str]) -> bool:
        pointers = _pointers(arguments)
        if name.startswith("llvm."):
            if name.startswith("llvm.stackrestore"):
                return self._is_saved_stack(pointers[0])
            if _TOUCHES_NOTHING.fullmatch(name):
                return True
            return not _REGISTER.fullmatch(name) and self._are_local(arguments)
        if name in COPIES:
            return self._are_local(arguments)
        if reads_text(name):
            return self._is_local(pointers[-1]) or self._is_constant(pointers[-1])
        return self._module.is_defined(name) or is_mathematics(name)

    def _is_saved_stack(self, pointer: str) -> bool:
        """Whether a pointer is what the stack was before; without optimisation it lies in a variable."""
        saved = self._by_result.get(pointer)
        if saved is None or saved.name != "load":
            return saved is not None and "@llvm.stacksave" in saved.rest
        variable = _pointers(divided(saved.rest)[1:])[0]
        word = re.compile(rf"{re.escape(variable)}(?![\w.$-])")
        uses = [each for each in self._instructions if word.search(f"{each.name} {each.rest}")]
        stores = [_pointers(divided(each.rest)[:1]) for each in uses if each.name == "store"]
        return all(each.name in ("load", "store") for each in uses) and all(
            len(values) == 1 and values[0] != variable and self._is_saved_stack(values[0]) for values in stores
        )

    # -- Where pointers lead --

    def _are_local(self, arguments: list[str]) -> bool:
        """Whether all pointers among arguments lead to variables of the function; vectors of pointers never do."""
        mine = [argument for argument in arguments if _POINTER.match(argument)]
        return all(argument.startswith("ptr") and self._is_local(_pointers([argument])[0]) for argument in mine)

    def _is_local(self, pointer: str, known: tuple[str, ...] = ()) -> bool:
        """Whether a pointer leads to a variable of the function itself, whichever way."""
        if pointer in self._parameters or pointer in known:
            return True
        defined = self._by_result.get(pointer)
        if defined is None:
            return False
        known = (*known, pointer)
        if defined.name == "alloca":
            return True
        if defined.name == "getelementptr":
            bases = _pointers(divided(defined.rest)[1:2])
        elif defined.name == "phi" and defined.rest.startswith("ptr "):
            bases = [way.split(",")[0].strip() for way in re.findall(r"\[ (.*?) \]", defined.rest)]
        elif defined.name == "select":
            bases = [word for word in _pointers(divided(defined.rest)[1:]) if word]
        elif defined.name == "call" and (found := _CALLEE.search(f" {defined.rest}")) and _MASKS.match(found[1][1:]):
            bases = _pointers(arguments_of(f" {defined.rest}"[found.start(1) :]))
        else:
            return False
        return bool(bases) and all(self._is_local(base, known) for base in bases)

    def _is_constant(self, pointer: str) -> bool:
        """Whether a pointer leads to a constant of the source, which nothing writes."""
        while (defined := self._by_result.get(pointer)) is not None and defined.name == "getelementptr":
            pointer = _pointers(divided(defined.rest)[1:2])[0]
        found = re.fullmatch(rf"getelementptr [^(]*\(.*?ptr ({_GLOBAL}).*|({_GLOBAL})", pointer)
        return found is not None and (found[1] or found[2]) in self._module.constants


def _pointers(parts: list[str]) -> list[str]:
    """Return the operands of arguments that are pointers into ordinary memory."""
    found: list[str] = []
    for part in parts:
        typed = re.sub(r"^(?:[a-z]+ )*?(?=ptr )", "", part) if part.startswith(("weak", "volatile", "ptr")) else part
        typed = re.sub(r"^(?:volatile |weak |\w+ )*?(?=ptr )", "", typed)
        if not typed.startswith("ptr ") or typed.startswith("ptr addrspace"):
            continue
        operand = re.search(
            rf"(?:getelementptr|inttoptr|select) .*|{_GLOBAL}|{_VALUE}|\b(?:null|undef|poison)\b", typed
        )
        if operand:
            found.append(re.sub(r"\)(?: [a-z_]+)*$", ")", operand[0]))
    return found


def _instructions(lines: list[str]) -> Iterator[_Instruction]:
    """Yield instructions; one without a name where a block begins."""
    joined: list[str] = []
    for line in lines:
        if line.startswith("    #dbg_"):
            continue
        if line.startswith("   ") and joined:
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
    for line in joined:
        if _LABEL.match(line):
            yield _Instruction("", "", "", line)
        elif found := _RESULT.fullmatch(line.strip()):
            yield _Instruction(found[1] or "", found[2], found[3], line)


def unseen_in(text: str, symbols: Set[str], is_system: Callable[[str], bool]) -> tuple[Contents, set[str]]:
    """Return what no checker sees in the functions of a source.

    Parameters
    ----------
    text : str
        The text of LLVM that the object file is made of.
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
    module = _Module(symbols.__contains__, is_system)
    bodies: list[tuple[str, str, list[str]]] = []
    body: list[str] | None = None
    for line in text.splitlines():
        if body is not None:
            if line == "}":
                body = None
            elif line:
                body.append(line)
        elif found := _DEFINE.match(line):
            body = []
            if "available_externally" not in found[1]:
                bodies.append((line, found[2], body))
        elif found := _GROUP.fullmatch(line):
            words = found[2].split()
            if "sanitize_thread" in words and "disable_sanitizer_instrumentation" not in words:
                module.checked.add(found[1])
        elif found := _NODE.match(line):
            module.nodes[found[1]] = dict(_FIELD.findall(found[3]))
        elif found := _CONSTANT.match(line):
            module.constants.add(found[1])
    contents: Contents = {}
    for head, name, lines in bodies:
        function = _Function(head, name, lines, module)
        unseen = list(dict.fromkeys(function.unseen()))
        if unseen:
            contents[function.name] = unseen
    return contents, {plain_name(name) for _, name, _ in bodies}
