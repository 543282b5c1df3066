"""Reports as text, JSON or SARIF."""

from __future__ import annotations

import hashlib
import json
import math
import os
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops._colours import coloured
from pymluops._shown import counted
from pymluops.bang.command.launches import summary

if TYPE_CHECKING:
    from pymluops.bang import CheckReport, Difference, Found

__all__ = ["as_json", "as_sarif", "show"]

_SARIF = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://pypi.org/project/pymluops/"
_LEVELS = {"error": "error", "warning": "warning", "remark": "note"}
_DIFFERS = "schedule/output-differs"
_DIFFERS_MEANING = "an output depends on the schedule"
_DIFFERS_STEP = "look for a missing sync, barrier or initialisation; repeat the run with its schedule and seed"


def show(report: CheckReport, form: str) -> None:
    """Print a report as ``text``, ``json`` or ``sarif``."""
    if form == "json":
        print(json.dumps(as_json(report), indent=2))
    elif form == "sarif":
        print(json.dumps(as_sarif(report), indent=2))
    else:
        print(coloured(str(report), sys.stdout))
        for name, array in report.outputs.items():
            print(f"  {summary(name, array)}")


def as_json(report: CheckReport) -> dict[str, Any]:
    """Return the text of ``--format json``."""
    return {
        "kernel": report.launch,
        "ok": report.ok,
        "findings": [_finding(found) for found in report.findings],
        "differences": [
            {
                "output": difference.output,
                "index": list(difference.index),
                "expected": str(difference.expected),
                "got": str(difference.got),
                "count": difference.count,
                "schedule": str(difference.schedule),
                "error": difference.error if math.isfinite(difference.error) else None,
                "next_step": difference.next_step,
            }
            for difference in report.differences
        ],
        "runs": [{"schedule": str(run.schedule), "error": run.error} for run in report.runs],
        "outputs": [
            {"name": name, "dtype": array.dtype.name, "shape": list(array.shape), "summary": summary(name, array)}
            for name, array in report.outputs.items()
        ],
    }


def _finding(found: Found) -> dict[str, Any]:
    finding = found.finding
    return {
        "rule": found.rule,
        "severity": found.severity,
        "fails": found.fails,
        "file": found.file,
        "line": found.line,
        "message": found.message,
        "next_step": found.next_step,
        "other_file": finding.other_file,
        "other_line": finding.other_line,
        "task": finding.task,
        "cluster": finding.cluster,
        "core": finding.core,
        "space": finding.space,
        "allocation": finding.allocation,
        "offset": finding.offset,
        "size": finding.size,
        "cause": found.cause,
        "count": finding.count,
        "schedules": [str(schedule) for schedule in found.schedules],
    }


# ---- SARIF ---------------------------------------------------------------------------------------


def as_sarif(report: CheckReport) -> dict[str, Any]:
    """Return the report as a SARIF 2.1.0 log."""
    results = [*map(_result, report.findings), *(_difference(report, each) for each in report.differences)]
    _add_fingerprints(report, results)
    rules = list(_rules(report))
    numbers = {rule["id"]: number for number, rule in enumerate(rules)}
    for result in results:
        result["ruleIndex"] = numbers[result["ruleId"]]
    driver = {
        "name": "pymluops kernel",
        "version": metadata.version("pymluops"),
        "informationUri": _HOME,
        "rules": rules,
    }
    invocation = {"executionSuccessful": not report.failed}
    return {
        "$schema": _SARIF,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "invocations": [invocation], "results": results}],
    }


def _rules(report: CheckReport) -> Iterator[dict[str, Any]]:
    from pymluops import sim

    meanings = {rule.name: rule.meaning for rule in sim.rules()}
    seen: set[str] = set()
    for found in report.findings:
        if found.rule in seen:
            continue
        seen.add(found.rule)
        yield _rule(found.rule, meanings.get(found.rule, found.rule), found.next_step, _LEVELS[found.severity])
    if report.differences:
        yield _rule(_DIFFERS, _DIFFERS_MEANING, _DIFFERS_STEP, "error")


def _rule(name: str, meaning: str, step: str, level: str) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": name,
        "shortDescription": {"text": meaning},
        "defaultConfiguration": {"level": level},
    }
    if step:
        rule["help"] = {"text": step}
    return rule


def _location(file: str, line: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": _uri(file)}}
    if line > 0:
        place["region"] = {"startLine": line}
    return {"physicalLocation": place}


def _uri(file: str) -> str:
    from urllib.parse import quote

    path = Path(file)
    return path.as_uri() if path.is_absolute() else quote(os.fsencode(path.as_posix()))


def _result(found: Found) -> dict[str, Any]:
    cause = f"this follows from {found.cause}" if found.cause else ""
    text = _sentences(found.message, cause, f"next: {found.next_step}" if found.next_step else "")
    result: dict[str, Any] = {
        "ruleId": found.rule,
        "level": _LEVELS[found.severity],
        "message": {"text": text},
        "locations": [_location(found.file, found.line)] if found.file else [],
    }
    if found.finding.other_file:
        other = _location(found.finding.other_file, found.finding.other_line)
        result["relatedLocations"] = [{"id": 1, **other, "message": {"text": "the other access"}}]
    return result


def _sentences(*texts: str) -> str:
    """Return sentences, each with a capital letter and a full stop."""
    kept = [text.strip() for text in texts if text.strip()]
    return " ".join(f"{text[0].upper()}{text[1:]}" + ("" if text[-1] in ".!?" else ".") for text in kept)


def _difference(report: CheckReport, difference: Difference) -> dict[str, Any]:
    at = ", ".join(map(str, difference.index))
    differ = f"{counted(difference.count, 'element')} {'differs' if difference.count == 1 else 'differ'}"
    text = _sentences(
        f"`{difference.output}[{at}]` is {difference.got} under {difference.schedule}, and {difference.expected} under "
        f"{report.schedules[0]}; {differ}",
        f"next: {difference.next_step}",
    )
    return {
        "ruleId": _DIFFERS,
        "level": "error",
        "message": {"text": text},
        "locations": [_location(report.signature.file, report.signature.line)] if report.signature.file else [],
    }


def _add_fingerprints(report: CheckReport, results: list[dict[str, Any]]) -> None:
    """Give each result a fingerprint, which stays while lines above its own change."""
    subjects = [
        *((found.file, found.line, found.message if not found.line else "") for found in report.findings),
        *((report.signature.file, 0, f"{each.output} {each.schedule}") for each in report.differences),
    ]
    seen: dict[tuple[str, ...], int] = {}
    for result, (file, line, text) in zip(results, subjects, strict=True):
        parts = (str(result["ruleId"]), report.signature.name, Path(file).name, text or _line_of(file, line))
        seen[parts] = seen.get(parts, 0) + 1
        made = hashlib.sha256("\0".join([*parts, str(seen[parts])]).encode("utf-8", "surrogateescape"))
        result["partialFingerprints"] = {"kernelLine/v1": made.hexdigest()[:32]}


def _line_of(file: str, line: int) -> str:
    """Return a line of a source without its indentation; its number if the source cannot be read."""
    try:
        lines = Path(file).read_text(encoding="utf-8", errors="replace").splitlines()
    except (OSError, ValueError):
        return str(line)
    return lines[line - 1].strip() if 0 < line <= len(lines) else str(line)
