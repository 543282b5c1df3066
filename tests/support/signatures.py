"""Signatures that callers rely on."""

from __future__ import annotations

import inspect

import pymluops


def assert_signature(name: str, contract: str) -> None:
    """Names, order and defaults of parameters; keyword-only ones may come in any order, and more may be added."""
    promised = inspect.signature(eval(f"lambda {contract[1:-1]}: 0", {"Layout": pymluops.Layout}))
    found = inspect.signature(getattr(pymluops, name))
    positional = [p for p in found.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    wanted = [p for p in promised.parameters.values() if p.kind is not p.KEYWORD_ONLY]
    assert [(p.name, p.default) for p in positional] == [(p.name, p.default) for p in wanted]
    keywords = {p.name: p.default for p in found.parameters.values() if p.kind is p.KEYWORD_ONLY}
    for parameter in promised.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY:
            assert keywords[parameter.name] == parameter.default
