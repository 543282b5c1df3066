"""The drop-ins and what works: the table of ``python -m pymluops.dropins``."""

from __future__ import annotations

import importlib.util
import textwrap
from types import ModuleType

from pymluops.dropins import _attention
from pymluops.dropins._catalogue import DROP_INS, DropIn
from pymluops.dropins._extensions import extensions, last_names
from pymluops.dropins._install import ATTENTION, MMCV, others_module

__all__ = ["render"]


def _state(drop_in: DropIn) -> str:
    """Return in a few words what `install` would do."""
    other = others_module(drop_in)
    if other:
        return f"another one is there, {other}: it stays in use unless install({drop_in.name!r}, force=True)"
    call = "install()" if drop_in.always else f"install({drop_in.name!r})"
    missing = [root.partition(".")[0] for root in drop_in.roots if "." in root]
    if missing and all(importlib.util.find_spec(name) is None for name in dict.fromkeys(missing)):
        return f"{call} provides it to {' or '.join(dict.fromkeys(missing))}, which is not installed"
    return f"{call} provides it"


def _section(drop_in: DropIn, width: int) -> list[str]:
    lines = [f"{drop_in.name}: {drop_in.about}", *_wrapped(_state(drop_in), width)]
    own = [one for one in extensions() if drop_in.name == one.DROP_IN]
    if drop_in.modules and not own:
        lines += _wrapped(f"modules: {', '.join(drop_in.modules)}", width)
    for one in own:
        lines += _extension(one, width)
    for note in drop_in.notes:
        lines += _wrapped(f"- {note}", width)
    return lines


def _extension(one: ModuleType, width: int) -> list[str]:
    """Return the lines of an extension: its names, its functions, what computes them, what to change."""
    lines = _wrapped(" = ".join(one.MODULES or _advice(one)), width)
    for row in one.ROWS:
        note = f"; {row.note}" if row.note else ""
        lines += _wrapped(f"  {', '.join(row.functions.split())}: {row.library}{note}", width)
    for change in one.CHANGES:
        lines += _wrapped(f"  to be changed: {change}", width)
    return lines


def _advice(one: ModuleType) -> list[str]:
    """Return the calls that install an extension of no known place."""
    return [f'install("{name}", at="the.full.name.{name}")' for name in one.LAST_NAMES]


def _elsewhere(width: int) -> list[str]:
    """Return the lines about extensions under names of their own."""
    lines = ["extensions of packages that have them under names of their own: the last name tells which it is"]
    names = ", ".join(sorted(last_names()))
    lines += _wrapped(f'install("iou3d_nms_cuda", at="my_package.ops.iou3d_nms_cuda"); names: {names}', width)
    for one in extensions():
        if not one.DROP_IN:
            lines += _extension(one, width)
    return lines


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(
        text, width, initial_indent="  ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )


def _attention_section(width: int) -> list[str]:
    name, alias = ATTENTION
    lines = [f"{name}, or {alias}: {_attention.ABOUT}"]
    there = [package for package in _attention.PACKAGES if importlib.util.find_spec(package) is not None]
    lines.append(f"  install({name!r}) provides it to {' and '.join(there) or 'none of them: not installed'}")
    for note in _attention.NOTES:
        lines += _wrapped(f"- {note}", width)
    return lines


def render(width: int = 120) -> str:
    """Return the text."""
    from pymluops.mmcv._table import state

    parts = [[f"{MMCV}: the compiled module mmcv._ext; python -m pymluops.mmcv prints its operators", f"  {state()}"]]
    parts.append(_attention_section(width))
    parts += [_section(drop_in, width) for drop_in in tuple(DROP_INS.values()) if not drop_in.place]
    parts.append(_elsewhere(width))
    return "\n\n".join("\n".join(part) for part in parts)
