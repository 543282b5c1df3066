"""Races between queues: what the host and notifiers order, and what nothing orders."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kernels.host_functions import SUCCESS, Device
from pymluops.sim.toolchain import Toolchain

SOURCE = """
#include "bang.h"
#include "host.h"
#include <atomic>
__mlu_entry__ void write(float *out, int count) {
  for (int i = 0; i < count; ++i) out[i] = 1;  // line 6
}
__mlu_entry__ void read(const float *in, float *out, int count) {
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += in[i];  // line 10
  out[0] = sum;
}

#define WRITE write<<<kOneTask, cnrtFuncTypeBlock, two.a>>>(two.data.data, 64)
#define READ(queue) read<<<kOneTask, cnrtFuncTypeBlock, queue>>>(two.data.data, two.sum.data, 64)

struct Flag {
  std::atomic<int> value{0};
  void set_behind(cnrtQueue_t queue) {
    cnrtInvokeHostFunc(queue, [](void *flag) { static_cast<Flag *>(flag)->value = 1; }, this);
  }
  void wait() { while (value == 0) {} }
};

struct Two {
  Two() {
    for (cnrtQueue_t *queue : {&a, &b}) cnrtQueueCreate(queue);
    cnrtNotifierCreate(&notifier);
    cnrtMemset(data.data, 0, 64 * sizeof(float));
  }
  ~Two() {
    cnrtNotifierDestroy(notifier);
    for (cnrtQueue_t queue : {a, b}) cnrtQueueDestroy(queue);
  }
  int finish() {
    const int first = cnrtQueueSync(a), second = cnrtQueueSync(b), third = cnrtQueueSync(nullptr);
    return first != 0 ? first : second != 0 ? second : third;
  }
  int copy() { return cnrtMemcpy(host, data.data, sizeof(host), cnrtMemcpyDevToHost); }
  Buffer<float> data{64}, sum{1}, other_sum{1};
  cnrtQueue_t a, b;
  cnrtNotifier_t notifier;
  float host[64];
};
%s
"""

#: Statements with ``two``: two queues ``a`` and ``b``, a notifier and an array of 64 floats.
ORDERED = {
    "sync of the queue": "WRITE; cnrtQueueSync(two.a); two.copy();",
    "sync of the device": "WRITE; cnrtSyncDevice(); two.copy();",
    "one queue": "WRITE;READ(two.a);",
    "notifier": "WRITE; cnrtPlaceNotifier(two.notifier, two.a);"
    "cnrtQueueWaitNotifier(two.notifier, two.b, 0);"
    "READ(two.b);",
    "notifier that was reached": "WRITE;"
    "cnrtPlaceNotifier(two.notifier, two.a); while (cnrtQueueQuery(two.a) != cnrtSuccess) {}"
    "cnrtQueueWaitNotifier(two.notifier, two.b, 0);"
    "READ(two.b);",
    "notifier and the host": "WRITE;"
    "cnrtPlaceNotifier(two.notifier, two.a); cnrtWaitNotifier(two.notifier); two.copy();",
    "notifier over a third queue": "WRITE;"
    "cnrtPlaceNotifier(two.notifier, two.a); cnrtQueueWaitNotifier(two.notifier, two.b, 0); cnrtQueueSync(two.b);"
    "two.copy();",
    "question": "WRITE;while (cnrtQueueQuery(two.a) != cnrtSuccess) {} two.copy();",
    "question to the notifier": "WRITE;"
    "cnrtPlaceNotifier(two.notifier, two.a); while (cnrtQueryNotifier(two.notifier) != cnrtSuccess) {} two.copy();",
    "function of the host": "WRITE; Flag flag; flag.set_behind(two.a); flag.wait(); two.copy();",
    "function of the host and a third queue": "WRITE; cnrtPlaceNotifier(two.notifier, two.a);"
    "cnrtQueueWaitNotifier(two.notifier, two.b, 0); Flag flag; flag.set_behind(two.b); flag.wait(); two.copy();",
    "both read": "READ(two.a);"
    "read<<<kOneTask, cnrtFuncTypeBlock, two.b>>>(two.data.data, two.other_sum.data, 64); two.copy();",
    "other bytes": "write<<<kOneTask, cnrtFuncTypeBlock, two.a>>>(two.data.data, 31);"
    "write<<<kOneTask, cnrtFuncTypeBlock, two.b>>>(two.data.data + 31, 33);",
    "memory that was given back": "void *first = nullptr, *second = nullptr; cnrtMalloc(&first, 64);"
    "write<<<kOneTask, cnrtFuncTypeBlock, two.a>>>(static_cast<float *>(first), 16); cnrtFree(first);"
    "cnrtMalloc(&second, 64); cnrtMemsetAsync(second, 0, 64, two.b); cnrtQueueSync(two.b); cnrtFree(second);",
    "a queue that ended": "cnrtQueue_t queue; cnrtQueueCreate(&queue);"
    "write<<<kOneTask, cnrtFuncTypeBlock, queue>>>(two.data.data, 64); cnrtQueueDestroy(queue); two.copy();",
}

#: The same; and the lines of both accesses, 0 for functions of the host. Either may come second.
UNORDERED = {
    "copy": ("WRITE; two.copy();", {6, 0}),
    "fill": (
        "WRITE;cnrtMemsetAsync(two.data.data + 63, 0, 4, two.b);",
        {6, 0},
    ),
    "launches": (
        "WRITE;read<<<kOneTask, cnrtFuncTypeBlock, two.b>>>(two.data.data + 63, two.sum.data, 1);",
        {6, 10},
    ),
    "sync of another queue": (
        "WRITE; cnrtQueueSync(two.b); two.copy();",
        {6, 0},
    ),
    "function of the host before the launch": (
        "Flag flag; flag.set_behind(two.a); WRITE; flag.wait(); two.copy();",
        {6, 0},
    ),
    "notifier before the launch": (
        "cnrtPlaceNotifier(two.notifier, two.a); WRITE;cnrtQueueWaitNotifier(two.notifier, two.b, 0);READ(two.b);",
        {6, 10},
    ),
    "notifier that nobody waits for": (
        "WRITE; cnrtPlaceNotifier(two.notifier, two.a);READ(two.b);",
        {6, 10},
    ),
}


@pytest.fixture(scope="module")
def library(toolchain: Toolchain) -> Path:
    statements = [*ORDERED.values(), *(statement for statement, _ in UNORDERED.values())]
    functions = (
        f'extern "C" int case_{number}() {{ Two two; {statement} return two.finish(); }}'
        for number, statement in enumerate(statements)
    )
    return toolchain.compile(SOURCE % "\n".join(functions))


@pytest.mark.parametrize("name", ORDERED)
def test_what_is_ordered_is_no_finding(name: str, library: Path, device: Callable[[int], Device]) -> None:
    outcome = device(592).call(library, f"case_{list(ORDERED).index(name)}", rules="")
    assert (outcome.code, outcome.findings) == (SUCCESS, []), outcome.report


@pytest.mark.parametrize("name", UNORDERED)
def test_what_nothing_orders_is_a_race(name: str, library: Path, device: Callable[[int], Device]) -> None:
    number = len(ORDERED) + list(UNORDERED).index(name)
    recorded = device(592).call(library, f"case_{number}", rules="race=record")
    assert recorded.code == SUCCESS
    assert [f"{finding.checker}/{finding.rule}" for finding in recorded.findings] == ["race/between-queues"]
    assert {recorded.findings[0].line, recorded.findings[0].other_line} == UNORDERED[name][1]
    assert recorded.findings[0].launch_failed == 0
    assert "nothing" not in recorded.findings[0].allocation
    assert device(592).call(library, f"case_{number}", checks="memory").findings == []
