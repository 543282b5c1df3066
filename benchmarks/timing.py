"""Timing contenders in turn, so that disturbances of the machine affect all of them alike.

A round times each contender once: a pause in which the threads of the one before fall asleep (those
of BLAS and OpenMP spin for up to 25 milliseconds), a call that is not counted, which brings the
contender's data into the cache as far as it fits, then a few counted calls one by one. Their median
is the round's time. The contenders go in another order each round. A slow contender takes part in
few rounds.
"""

from __future__ import annotations

import gc
import math
import random
import statistics
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial


@dataclass(frozen=True)
class Plan:
    """How long and how often to measure. Times are in seconds."""

    budget: float = 6.0
    rounds: tuple[int, int] = (7, 25)
    slow_rounds: int = 3
    turn: float = 0.02
    calls: tuple[int, int] = (1, 40)
    pause: float = 0.03


QUICK = Plan(budget=1.5, rounds=(5, 9), slow_rounds=2, turn=0.01, calls=(1, 15))


@dataclass
class Contender:
    """One way to compute a problem with a number of threads.

    `estimate` is a first guess of the seconds of a call. An `essential` contender never has fewer
    rounds than planned.
    """

    name: str
    variant: str
    threads: int
    run: Callable[[], object]
    prepare: Callable[[int], None]
    estimate: float = 0.0
    essential: bool = False
    times: dict[int, float] = field(default_factory=dict[int, float])
    calls: int = 0


def estimate(contender: Contender, limit: float = 0.2) -> float:
    """Return the shortest of up to five calls, fewer when they take long. A short first call only warms up."""
    contender.prepare(contender.threads)
    best, spent = math.inf, 0.0
    for number in range(6):
        seconds = _timed(contender.run)
        spent += seconds
        if number or seconds > limit / 2:
            best = min(best, seconds)
        if number and spent > limit:
            break
    return best


def measure(contenders: Sequence[Contender], plan: Plan, clock: Callable[[], int] = time.perf_counter_ns) -> int:
    """Fill in `times` of each contender, seconds by number of round, and return the number of rounds."""
    share = plan.budget / max(len(contenders), 1)
    wanted = [_rounds_for(contender, plan, share) for contender in contenders]
    rounds = max(wanted, default=0)
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        for number in range(rounds):
            order = list(range(len(contenders)))
            random.Random(number).shuffle(order)
            for index in order:
                if takes_part(number, wanted[index], rounds):
                    contender = contenders[index]
                    contender.times[number] = _turn(contender, plan, clock)
            gc.collect(0)
    finally:
        if was_enabled:
            gc.enable()
    return rounds


def times_in_turns(
    calls: Mapping[str, Callable[[], object]], plan: Plan, clock: Callable[[], int] = time.perf_counter_ns
) -> dict[str, list[float]]:
    """Return the seconds of a call by round, for calls that set up nothing and take part in as many rounds each."""
    contenders = [Contender(name, "", 0, run, _prepare_nothing, essential=True) for name, run in calls.items()]
    longest = max(map(estimate, contenders), default=0.0)
    for contender in contenders:
        contender.estimate = longest
    measure(contenders, plan, clock)
    return {contender.name: list(contender.times.values()) for contender in contenders}


def nanoseconds(timers: Mapping[str, timeit.Timer], calls: int, rounds: int) -> dict[str, list[float]]:
    """Return the nanoseconds of one of so many calls in a row, by round, for calls that take about a microsecond."""
    plan = Plan(rounds=(rounds, rounds), calls=(1, 1), pause=0.0)
    runs = {name: partial(timer.timeit, calls) for name, timer in timers.items()}
    return {name: [1e9 * value / calls for value in values] for name, values in times_in_turns(runs, plan).items()}


def takes_part(number: int, wanted: int, rounds: int) -> bool:
    """Whether a contender that wants fewer rounds than there are is in this one; its rounds are spread evenly."""
    return (number + 1) * wanted // rounds > number * wanted // rounds


def calls_per_turn(seconds: float, plan: Plan) -> int:
    """Return how many calls to count in a turn."""
    low, high = plan.calls
    return max(low, min(high, math.ceil(plan.turn / max(seconds, 1e-9))))


def _rounds_for(contender: Contender, plan: Plan, share: float) -> int:
    cost = contender.estimate * (1 + calls_per_turn(contender.estimate, plan)) + plan.pause
    low, high = plan.rounds
    fitting = int(share / cost)
    if fitting >= low or contender.essential:
        return max(low, min(high, fitting))
    return max(fitting, plan.slow_rounds)


def _turn(contender: Contender, plan: Plan, clock: Callable[[], int]) -> float:
    contender.prepare(contender.threads)
    time.sleep(plan.pause)
    run = contender.run
    _drop(run())
    taken: list[int] = []
    for _ in range(calls_per_turn(contender.estimate, plan)):
        start = clock()
        result = run()
        taken.append(clock() - start)
        del result  # outside the time: results that a call made are given back
    contender.calls += len(taken)
    return statistics.median(taken) / 1e9


def _prepare_nothing(_: int) -> None:
    """Leave threads as they are."""


def _drop(_: object) -> None:
    """Let the result of an uncounted call go at once."""


def _timed(run: Callable[[], object]) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start
