"""``pymluops cache``: what the cache of compiled kernels holds, and how to empty it."""

from __future__ import annotations

import argparse
import json
import math
import time
from typing import Any

from pymluops._cache.location import locate
from pymluops._cache.store import Store, Usage
from pymluops._shown import counted, sentence
from pymluops.cli import EXIT_FAILED, CommandError

_MIB = 1 << 20


def register(subparsers: Any) -> None:
    """Add the ``cache`` subcommand."""
    text = "show or empty the cache of compiled kernels"
    parser = subparsers.add_parser("cache", help=text, description=sentence(text), allow_abbrev=False)
    own = parser.add_subparsers(dest="cache_command", metavar="COMMAND", required=True)
    for name, help_text, run in (
        ("info", "show where the cache is, what it holds and its limit", _info),
        ("clear", "remove what it holds; it is compiled again when it is needed", _clear),
    ):
        subparser = own.add_parser(name, help=help_text, description=sentence(help_text), allow_abbrev=False)
        subparser.set_defaults(run=run, program=subparser.prog)
        if name == "info":
            subparser.add_argument("--json", action="store_true", help="print one JSON document")


def _store() -> Store:
    found = locate()
    if found.folder is None or found.problem:
        raise CommandError(found.sentence)
    return Store(found.folder)


def _info(args: argparse.Namespace) -> int:
    store = _store()
    usage = store.usage()
    if args.json:
        print(json.dumps({"folder": str(store.folder), "limit": store.limit, **usage._asdict()}, indent=2))
        return 0
    print(f"folder     {store.folder}")
    print(f"entries    {usage.entries}, {usage.size / _MIB:.1f} of {store.limit / _MIB:.0f} MiB{_oldest(usage)}")
    print(f"toolkits   {usage.toolkits} for NEUWARE_HOME")
    print(f"temporary  {usage.temporary}, of processes that run")
    return 0


def _oldest(usage: Usage) -> str:
    if usage.last_used is None:
        return ""
    days = math.ceil(max(time.time() - usage.last_used, 0) / 86400)
    return "; all were used within a day" if days <= 1 else f"; all were used within {days} days"


def _clear(args: argparse.Namespace) -> int:
    del args
    store = _store()
    removed, left = store.clear()
    if left:
        raise CommandError(f"{store.folder}: {counted(left, 'file')} cannot be removed", EXIT_FAILED)
    print(f"{store.folder}: removed {counted(removed.entries, 'entry', 'entries')}, {removed.size / _MIB:.1f} MiB")
    return 0
