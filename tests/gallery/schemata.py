"""All mutants of a kernel in one source, which is compiled once: a number that the host sets says which one runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from gallery.mutation import Edit, Mutant
from gallery.syntax import Span

#: In front of the source. Which mutant runs is nothing that kernels would see on a device, so no
#: checker sees it read.
_SELECTION = (
    "static int gallery_chosen = 0; "
    'extern "C" void gallery_choose(int number) { gallery_chosen = number; } '
    '__attribute__((noinline, no_sanitize("thread"))) bool gallery_mutant(int number) '
    "{ return gallery_chosen == number; } "
)


@dataclass
class _Place:
    """A part of the source with the mutants that change it, and the places inside it."""

    span: Span
    is_statement: bool
    choices: list[tuple[int, str]] = field(default_factory=list)
    inside: list[_Place] = field(default_factory=list)


def source_of_all(source: str, mutants: Sequence[Mutant]) -> str:
    """A source that behaves like mutant number `i` of `mutants` after ``gallery_choose(i + 1)``, unchanged after 0."""
    places: dict[tuple[int, int, bool], _Place] = {}
    for number, mutant in enumerate(mutants, 1):
        for edit in mutant.edits:
            place = places.setdefault(_key(edit), _Place(edit.span, edit.is_statement))
            place.choices.append((number, " ".join(edit.text.split())))
    # Outer places first; of two with the same span, the statement.
    ordered = sorted(places.values(), key=lambda place: (place.span.start, -place.span.end, not place.is_statement))
    whole = _Place(Span(0, len(source)), True)
    open_places = [whole]
    for place in ordered:
        while not _contains(open_places[-1].span, place.span):
            open_places.pop()
        open_places[-1].inside.append(place)
        if place.span.start < place.span.end:
            open_places.append(place)
    return f"#include <bang.h>\n{_SELECTION}\n#line 1\n{_inner(source, whole)}"


def _key(edit: Edit) -> tuple[int, int, bool]:
    return edit.span.start, edit.span.end, edit.is_statement


def _contains(outer: Span, inner: Span) -> bool:
    # What is put in front of a statement, or behind it, stands outside.
    if inner.start == inner.end:
        return outer.start < inner.start < outer.end
    return outer.start <= inner.start and inner.end <= outer.end


def _inner(source: str, place: _Place) -> str:
    parts, at = [], place.span.start
    for inside in sorted(place.inside, key=lambda inside: (inside.span.start, inside.span.end)):
        parts += [source[at : inside.span.start], _rendered(source, inside)]
        at = inside.span.end
    return "".join([*parts, source[at : place.span.end]])


def _rendered(source: str, place: _Place) -> str:
    original = _inner(source, place)
    if not place.is_statement:
        chosen = "".join(f"gallery_mutant({number}) ? ({text}) : " for number, text in place.choices)
        return f"({chosen}({original}))"
    chosen = " else ".join(f"if (gallery_mutant({number})) {{ {text} }}" for number, text in place.choices)
    return f"{{ {chosen} else {{ {original} }} }}" if place.span.start < place.span.end else f" {chosen} "
