"""Measuring one case: our operator, memory copies and the peers, each at every number of threads."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from benchmarks.cases import Case
from benchmarks.families import build
from benchmarks.machine import OtherWork
from benchmarks.memcpy import Memcpy
from benchmarks.peers import Peer
from benchmarks.problem import Arrays, Problem, WrongResultError, spoil
from benchmarks.summary import ratio, spread
from benchmarks.threads import close_teams, set_all_threads
from benchmarks.timing import Contender, Plan, estimate, measure

OURS, MEMCPY = "pymluops", "memcpy"

#: Ours on the same numbers as float32, which a float16 case is compared with.
SINGLE = "float32"

#: A variant that takes longer than this many times the fastest one's first calls is not measured.
_WORTH_MEASURING = 1.4

#: A variant whose first call takes this many times the fastest one's, and so many seconds, is not
#: called again.
_HOPELESS, _LONG = 8.0, 0.5


def run_case(case: Case, peers: Sequence[Peer], threads: Sequence[int], plan: Plan) -> dict[str, Any]:
    """Measure a case and return the results, ready for JSON."""
    try:
        return _run(build(case), [peer for peer in peers if case.family in peer.families], threads, plan)
    finally:
        close_teams()
        gc.collect()  # the arrays of a case can fill much of the memory


def _run(problem: Problem, peers: Sequence[Peer], threads: Sequence[int], plan: Plan) -> dict[str, Any]:
    expected = problem.run(problem.buffers())
    wrong: list[dict[str, str]] = []
    contenders: list[Contender] = []
    copier, single = Memcpy(problem.bytes_moved), _in_float32(problem.case)
    outputs = problem.buffers()  # of all, since copies hang on where arrays lie
    hopeless: set[tuple[str, str]] = set()
    for count in threads:
        contenders += _tried(OURS, {"": lambda: problem.run(outputs)}, count)
        contenders += _tried(SINGLE, single, count)
        contenders += _tried(MEMCPY, copier.variants(count), count)
        for peer in peers:
            right = _right_variants(peer, problem, expected, outputs, count, wrong, hopeless)
            contenders += _tried(peer.name, right, count)
    with OtherWork() as others:
        rounds = measure(contenders, plan)
    return {
        **_about(problem, expected),
        "rounds": rounds,
        "other_cpus": others.cpus,
        "wrong": wrong,
        "contenders": [_contender(contender) for contender in _fastest(contenders)],
        "ratios": _ratios(_fastest(contenders)),
    }


def _in_float32(case: Case) -> dict[str, Callable[[], object]]:
    """Return our call for a float16 case on arrays of float32, as a contender's only variant."""
    if case.dtype != "float16":
        return {}
    problem = build(replace(case, dtype="float32"))
    buffers = problem.buffers()
    return {"": lambda: problem.run(buffers)}


def _tried(name: str, variants: Mapping[str, Callable[[], object]], threads: int) -> list[Contender]:
    """Try the variants and return those that may turn out to be the fastest."""
    tried = [Contender(name, variant, threads, run, set_all_threads) for variant, run in variants.items()]
    for contender in tried:
        contender.estimate = estimate(contender)
        contender.essential = name in (OURS, MEMCPY, SINGLE)
    if name == MEMCPY:  # which is the fastest depends on how busy the machine is
        return tried
    least = min((contender.estimate for contender in tried), default=0.0)
    return [contender for contender in tried if contender.estimate <= _WORTH_MEASURING * least]


def _fastest(contenders: Sequence[Contender]) -> list[Contender]:
    """Return of each name and number of threads the variant with the least median; the others only cost time."""
    best: dict[tuple[str, int], Contender] = {}
    for contender in contenders:
        key = contender.name, contender.threads
        if key not in best or statistics.median(contender.times.values()) < statistics.median(best[key].times.values()):
            best[key] = contender
    return list(best.values())


def _right_variants(
    peer: Peer,
    problem: Problem,
    expected: Arrays,
    outputs: Arrays,
    threads: int,
    wrong: list[dict[str, str]],
    hopeless: set[tuple[str, str]],
) -> dict[str, Callable[[], Arrays]]:
    """Return the peer's variants whose result is right. The others are noted and not timed, nor are hopeless ones."""
    set_all_threads(threads)
    right, seconds = {}, {}
    for name, run in peer.variants(problem, outputs, threads).items():
        if (peer.name, name) in hopeless:
            continue
        spoil(outputs)
        try:
            start = time.perf_counter()
            result = run()
            seconds[name] = time.perf_counter() - start
            problem.check(expected, result)
        except WrongResultError as error:
            wrong.append({"peer": peer.name, "variant": name, "threads": str(threads), "error": str(error)})
        else:
            right[name] = run
    least = min((seconds[name] for name in right), default=0.0)
    hopeless.update((peer.name, name) for name in right if seconds[name] > max(_HOPELESS * least, _LONG))
    return {name: run for name, run in right.items() if (peer.name, name) not in hopeless}


def _about(problem: Problem, expected: Arrays) -> dict[str, Any]:
    case = problem.case
    return {
        "id": case.id,
        "family": case.family,
        "operator": case.operator,
        "group": case.group,
        "dtype": case.dtype,
        "parameters": dict(case.parameters),
        "limits": dict(case.limits),
        "bytes_read": problem.bytes_read,
        "bytes_written": problem.bytes_written,
        "elements": sum(array.size for array in (*problem.inputs.values(), *expected.values())),
    }


def _contender(contender: Contender) -> dict[str, Any]:
    return {
        "name": contender.name,
        "variant": contender.variant,
        "threads": contender.threads,
        "seconds": spread(list(contender.times.values())),
        "calls": contender.calls,
    }


def _ratios(contenders: Sequence[Contender]) -> list[dict[str, Any]]:
    """Compare ours with memcpy, every peer, ours in float32 and ours on one thread, at each number of threads."""
    ours = {contender.threads: contender for contender in contenders if contender.name == OURS}
    found: list[dict[str, Any]] = []
    for contender in contenders:
        mine = ours[contender.threads]
        if contender is not mine:
            found.append({"to": contender.name, "threads": contender.threads, **ratio(mine.times, contender.times)})
    for count, mine in ours.items():
        if count != 1 and 1 in ours:
            found.append({"to": "one thread", "threads": count, **ratio(mine.times, ours[1].times)})
    return found
