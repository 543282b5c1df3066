#!/usr/bin/env python3
"""Write what follows from the declarations of the intrinsics: their reference, and errors about what is lacking.

    python3 tools/intrinsics.py [--check]

The reference is the tables of docs/simulator-intrinsics.md: names and what they do from
native/sim/intrinsics.toml, architectures from the headers, rules from
native/sim/check/align_rules.inc. Prototypes, parameters and examples, from the headers and
intrinsic_details.toml and intrinsic_examples.toml beside the table, go to
docs/simulator-prototypes.md and, for programs, to pymluops/sim/intrinsics.json. The errors, about
what an architecture lacks and another one has, are native/sim/include/mlusim/lacking.h. With
``--check`` nothing is written, and the exit status is 1 if a file is not current. The headers are
read by a C++ compiler: the one that CXX names, else g++ or clang++.
"""

from __future__ import annotations

import argparse
import itertools
import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from written.details import as_data, as_pages, entries_of, read_details

ROOT = Path(__file__).resolve().parents[1]
SIM = ROOT / "native" / "sim"
TABLE = SIM / "intrinsics.toml"
RULES = SIM / "check" / "align_rules.inc"
LACKING = SIM / "include" / "mlusim" / "lacking.h"
DETAILS, EXAMPLES = SIM / "intrinsic_details.toml", SIM / "intrinsic_examples.toml"
DOCUMENT = ROOT / "docs" / "simulator-intrinsics.md"
PROTOTYPES = ROOT / "docs" / "simulator-prototypes.md"
DATA = ROOT / "pymluops" / "sim" / "intrinsics.json"
BEGIN, END = "<!-- intrinsics: written by tools/intrinsics.py -->", "<!-- end of intrinsics -->"
KNOWN = ("documented", "inferred", "guessed")

#: A declaration of the C API or a template is none of an intrinsic.
DECLARATION = re.compile(
    r'(?:__attribute__\(\(visibility\("default"\)\)\)|inline)\s+([\w:\s]+?)\s(__\w+)\s*\(((?:[^()]|\([^()]*\))*)\)'
)
RULE = re.compile(
    r'\{\s*"(?P<name>[^"]+)",\s*(?P<address>\d+),\s*Measure::k(?P<unit>\w+),\s*(?P<old>\d+),\s*(?P<middle>\d+),'
    r"\s*(?P<new>\d+),\s*Overlap::k(?P<overlap>\w+),\s*(?P<needs_count>\w+)\}"
)
OVERLAPS = {"Any": "", "Start": "in place", "None": "apart", "NoneOn2xx": "apart on 2xx"}


class TableError(Exception):
    """The table does not agree with the headers."""


@dataclass(frozen=True)
class Declaration:
    """One form of an intrinsic."""

    kind: str
    name: str
    parameters: str

    @property
    def types(self) -> tuple[str, ...]:
        """Types of the parameters, without names and defaults, but for the const of values."""
        words = (re.sub(r"\s*=.*", "", part) for part in self.parameters.split(","))
        return tuple(re.sub(r"\s*\w+$", "", word.strip()) for word in words)


@dataclass(frozen=True)
class Row:
    """Intrinsics that do the same."""

    patterns: tuple[str, ...]
    meaning: str
    known: str


@dataclass(frozen=True)
class Section:
    """A table of the reference, and what stands before it."""

    title: str
    text: str
    rows: tuple[Row, ...]


# ---- Sources -------------------------------------------------------------------------------------


def architectures() -> list[int]:
    """Return the architectures of all cards, oldest first."""
    cards = tomllib.loads((ROOT / "pymluops" / "sim" / "cards.toml").read_text(encoding="utf-8"))
    return sorted({int(card["arch"]) for card in cards["card"]})


def compiler() -> list[str]:
    """Return the command of the C++ compiler."""
    named = os.environ.get("CXX", "").split() or [found for name in ("g++", "clang++") if (found := shutil.which(name))]
    if not named:
        raise SystemExit("tools/intrinsics.py reads the headers with a C++ compiler; install g++ or set CXX")
    return named if os.environ.get("CXX") else named[:1]


def declarations(arch: int | None) -> list[Declaration]:
    """Return what a source finds declared; for None, what the library has."""
    options = [] if arch is None else [f"-D__BANG_ARCH__={arch}"]
    command = [*compiler(), "-E", "-P", "-x", "c++", "-std=c++17", "-DMLUSIM_WITHOUT_LACKING", *options]
    command += [f"-I{SIM / 'include'}", f"-I{ROOT / 'native' / 'include'}", "-"]
    done = subprocess.run(command, input='#include "bang.h"\n', capture_output=True, text=True, check=True)
    # Before it come the headers of the C++ library, which have functions of such names too.
    own = done.stdout[done.stdout.index("FUSION_FSA") :].replace("mlusim_assert", "__assert")
    found = [Declaration(kind.strip(), name, " ".join(words.split())) for kind, name, words in DECLARATION.findall(own)]
    # A macro.
    return [*dict.fromkeys(found), Declaration("int", "__bang_printf", "...")]


def sections() -> list[Section]:
    """Return the table."""
    data = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    found: list[Section] = []
    for section in data["section"]:
        rows = tuple(Row(tuple(names.split()), meaning, known) for names, meaning, known in section["rows"])
        found.append(Section(section["title"], section.get("text", "").strip(), rows))
    return found


def rules() -> dict[str, str]:
    """Return the rules of the align checker by name, in words; with those of forms that have rules of their own."""
    found: dict[str, str] = {}
    for match in RULE.finditer(RULES.read_text(encoding="utf-8")):
        name, _, form = match["name"].partition(" ")
        text = rule_text(match)
        found[name] = "; ".join(part for part in (found.get(name, ""), f"{form}: {text}" if form else text) if part)
    return found


def rule_text(rule: re.Match[str]) -> str:
    """Return a rule in words; nothing where all is allowed."""
    unit = "B" if rule["unit"] == "Bytes" else "elements"
    sizes = [int(rule[key]) for key in ("old", "middle", "new")]
    address = f"addresses × {rule['address']} B" if int(rule["address"]) > 1 else ""
    size = f"sizes × {max(sizes)} {unit}" if max(sizes) > 1 else ""
    if min(sizes) == max(sizes):
        parts = [f"2xx: {address}" if address else "", size]
    elif sizes[1] > 1:
        parts = [f"2xx: {address}" if address else "", f"2xx, 3xx: {size}"]
    else:
        parts = ["2xx: " + ", ".join(word for word in (address, size) if word)]
    parts = [part for part in parts if part]
    parts += [
        word for word in (OVERLAPS[rule["overlap"]], "count ≥ 1" if rule["needs_count"] == "true" else "") if word
    ]
    return "; ".join(parts)


# ---- Names ---------------------------------------------------------------------------------------


def choices(pattern: str) -> list[list[str]]:
    """Return the alternatives of each part of a pattern: ``__bang_{add,sub}`` is two names."""
    parts = re.split(r"\{([^}]*)\}", pattern)
    return [part.split(",") if number % 2 else [part] for number, part in enumerate(parts)]


def expanded(pattern: str) -> list[str]:
    """Return the names that a pattern stands for."""
    return ["".join(parts) for parts in itertools.product(*choices(pattern))]


def patterns_of(pattern: str, names: set[str]) -> Iterator[str]:
    """Yield patterns for those names of a pattern that are in `names`."""
    chosen = [parts for parts in itertools.product(*choices(pattern)) if "".join(parts) in names]
    yield from _factored(chosen)


def _factored(chosen: Sequence[tuple[str, ...]]) -> Iterator[str]:
    if not chosen:
        return
    used = [list(dict.fromkeys(parts[place] for parts in chosen)) for place in range(len(chosen[0]))]
    size = 1
    for alternatives in used:
        size *= len(alternatives)
    if size == len(chosen):
        yield "".join(alt[0] if len(alt) == 1 else "{" + ",".join(alt) + "}" for alt in used)
        return
    # The last part that makes a difference: roundings stand at the end of names.
    place = max(place for place, alternatives in enumerate(used) if len(alternatives) > 1)
    by_rest: dict[frozenset[tuple[str, ...]], list[str]] = {}
    for alternative in used[place]:
        rest = frozenset(parts[:place] + parts[place + 1 :] for parts in chosen if parts[place] == alternative)
        by_rest.setdefault(rest, []).append(alternative)
    for group in by_rest.values():
        yield from _factored_group([parts for parts in chosen if parts[place] in group], len(by_rest) == 1)


def _factored_group(chosen: Sequence[tuple[str, ...]], stuck: bool) -> Iterator[str]:
    if stuck:
        yield from ("".join(parts) for parts in chosen)
    else:
        yield from _factored(chosen)


# ---- The reference -------------------------------------------------------------------------------


def arch_text(archs: Sequence[int], every: Sequence[int]) -> str:
    """Return architectures in words."""
    if list(archs) == list(every):
        return "all"
    if list(archs) == list(every)[-len(archs) :]:
        return f"{archs[0]} and newer" if len(archs) > 1 else str(archs[0])
    return ", ".join(map(str, archs))


def reference() -> str:
    """Return the tables of the document."""
    every = architectures()
    has = {arch: {declaration.name for declaration in declarations(arch)} for arch in every}
    library = {declaration.name for declaration in declarations(None)}
    archs = {name: [arch for arch in every if name in has[arch]] for name in library}
    known_rules = rules()
    described: list[str] = []
    lines: list[str] = []
    for section in sections():
        lines += [f"## {section.title}", "", *([section.text, ""] if section.text else [])]
        lines += [
            "| intrinsic | what it does | known from | architectures | rules |",
            "| --- | --- | --- | --- | --- |",
        ]
        for row in section.rows:
            names = [name for pattern in row.patterns for name in expanded(pattern)]
            if row.known not in KNOWN or not row.meaning:
                raise TableError(f"{names[0]}: {row.known!r} is none of {', '.join(KNOWN)}, or it does nothing")
            if absent := [name for name in names if name not in library]:
                raise TableError(f"described, but not declared: {', '.join(absent)}")
            described += names
            groups: dict[tuple[str, str], set[str]] = {}
            for name in names:
                key = (arch_text(archs[name], every), known_rules.get(name, ""))
                groups.setdefault(key, set()).add(name)
            for (where, rule), group in groups.items():
                cells = " ".join(f"`{part}`" for pattern in row.patterns for part in patterns_of(pattern, group))
                lines.append(f"| {cells} | {row.meaning} | {row.known} | {where} | {rule} |")
        lines.append("")
    if missing := library - set(described):
        raise TableError(f"declared, but not described in {TABLE.name}: {', '.join(sorted(missing))}")
    if twice := sorted({name for name in described if described.count(name) > 1}):
        raise TableError(f"described twice: {', '.join(twice)}")
    return "\n".join(lines)


# ---- What an architecture lacks ------------------------------------------------------------------

HEADER = """\
// Written by tools/intrinsics.py: clear errors for intrinsics that this architecture lacks and another one has.
//
// A name that the architecture lacks completely is declared with any operands and the lowest rank in overload
// resolution, so that a function of that name in a source is preferred. Lacking forms of an existing name are
// templates, so that a function with the same operands is preferred.
#ifndef MLUSIM_LACKING_H_
#define MLUSIM_LACKING_H_

#include "mlusim/types.h"

// clang-format off
#if defined(__BANG_ARCH__)

namespace mlusim {
// What a missing intrinsic returns: anything.
struct Lacking {
  template <typename T>
  operator T() const;
};
}  // namespace mlusim

#define MLUSIM_LACKS_TEXT(number) #number
#define MLUSIM_LACKS_AT(number) MLUSIM_LACKS_TEXT(number)
#define MLUSIM_LACKS(what, archs) \\
  __attribute__((unavailable( \\
      what " needs architecture " archs "; this is compiled for " MLUSIM_LACKS_AT(__BANG_ARCH__))))
#define MLUSIM_LACKS_NAME(archs, name) mlusim::Lacking name(...) MLUSIM_LACKS("`" #name "`", archs)
#define MLUSIM_LACKS_FORM(archs, kind, name, parameters) \\
  template <int = 0> kind name parameters MLUSIM_LACKS("this form of `" #name "`", archs)

"""
FOOTER = """\
#undef MLUSIM_LACKS_FORM
#undef MLUSIM_LACKS_NAME
#undef MLUSIM_LACKS
#undef MLUSIM_LACKS_AT
#undef MLUSIM_LACKS_TEXT

#endif  // defined(__BANG_ARCH__)
// clang-format on

#endif  // MLUSIM_LACKING_H_
"""

#: The forms of all intrinsics by name and types.
Forms = dict[tuple[str, tuple[str, ...]], Declaration]


def need_text(archs: Sequence[int], every: Sequence[int]) -> str:
    """Return which architectures something needs."""
    if list(archs) == list(every)[-len(archs) :]:
        return f"{archs[0]} or newer"
    return " or ".join(map(str, archs))


def lacking_lines(arch: int, forms: dict[int, Forms]) -> Iterator[str]:
    """Yield the declarations of what one architecture lacks."""
    own = {name for name, _ in forms[arch]}
    seen: set[tuple[object, ...]] = set()
    for key, declaration in itertools.chain.from_iterable(forms[other].items() for other in forms):
        name, types = key
        wanted = key if name in own else (name,)
        if key in forms[arch] or wanted in seen:
            continue
        seen.add(wanted)
        archs = [one for one in forms if any(form[: len(wanted)] == wanted for form in forms[one])]
        need = need_text(archs, list(forms))
        if name in own:
            yield f'MLUSIM_LACKS_FORM("{need}", {declaration.kind}, {name}, ({", ".join(types)}));'
        else:
            yield f'MLUSIM_LACKS_NAME("{need}", {name});'


def lacking() -> str:
    """Return the header."""
    forms: dict[int, Forms] = {}
    for arch in architectures():
        found = declarations(arch)
        forms[arch] = {(one.name, one.types): one for one in found if one.parameters != "..."}
    blocks: dict[str, list[int]] = {}
    for arch in forms:
        blocks.setdefault("\n".join(lacking_lines(arch, forms)), []).append(arch)
    conditions = {text: " || ".join(f"__BANG_ARCH__ == {arch}" for arch in archs) for text, archs in blocks.items()}
    written = [f"#if {condition}\n{text}\n#endif\n\n" for text, condition in conditions.items() if text]
    return HEADER + "".join(written) + FOOTER


# ---- Files ---------------------------------------------------------------------------------------


def documented(document: Path, written: str) -> str:
    """Return a document with what is written into it made anew."""
    before, begin, rest = document.read_text(encoding="utf-8").partition(BEGIN)
    _, end, behind = rest.partition(END)
    if not (begin and end):
        raise TableError(f"{document.name} has no place for what is written, between {BEGIN} and {END}")
    return f"{before}{begin}\n\n{written}\n{end}{behind}"


def prototypes() -> tuple[str, str]:
    """Return prototypes, parameters and examples: the text of the document, and the data."""
    every = architectures()

    def where(archs: Sequence[int]) -> str:
        return arch_text(archs, every)

    def patterns(names: Sequence[str]) -> list[str]:
        found = [pattern for row in table for pattern in row.patterns if set(expanded(pattern)) & set(names)]
        return [part for pattern in found for part in patterns_of(pattern, set(names))]

    table = [row for section in sections() for row in section.rows]
    rows = [
        (section.title, row.meaning, row.known, [name for pattern in row.patterns for name in expanded(pattern)])
        for section in sections()
        for row in section.rows
    ]
    try:
        details = read_details(DETAILS, EXAMPLES, expanded)
        entries = entries_of(rows, {arch: declarations(arch) for arch in every}, details, rules(), where)
    except ValueError as error:
        raise TableError(f"{DETAILS.name}, {EXAMPLES.name}: {error}") from None
    return as_pages(entries, details, patterns, where), as_data(entries, details, where)


def contents() -> dict[Path, str]:
    """Return what the files should hold."""
    pages, data = prototypes()
    return {
        DOCUMENT: documented(DOCUMENT, reference()),
        PROTOTYPES: documented(PROTOTYPES, pages),
        DATA: data,
        LACKING: lacking(),
    }


def stale(files: dict[Path, str]) -> Iterable[Path]:
    """Yield the files that hold something else."""
    for path, text in files.items():
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            yield path


def main() -> int:
    """Write the files, or check them."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a file is not current")
    check = parser.parse_args().check
    try:
        files = contents()
    except TableError as error:
        print(f"tools/intrinsics.py: {error}", file=sys.stderr)
        return 1
    old = list(stale(files))
    for path in old:
        if check:
            print(f"{path.relative_to(ROOT)} is not current: run python3 tools/intrinsics.py", file=sys.stderr)
        else:
            path.write_text(files[path], encoding="utf-8")
            print(f"wrote {path.relative_to(ROOT)}")
    return 1 if check and old else 0


if __name__ == "__main__":
    sys.exit(main())
