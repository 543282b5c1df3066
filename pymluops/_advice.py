"""Advice: a next step for findings of each rule."""

from __future__ import annotations

__all__ = ["advice"]

_ADVICE = {
    "memory/out-of-bounds": "compare address and size with the allocation or array that is named; limit the last piece",
    "memory/wrong-space": "pass an address in the memory that is named, or choose the copy's direction to match",
    "memory/constant-store": "declare the array __mlu_device__ if kernels change it, or write to a copy",
    "memory/null-pointer": "pass memory for the pointer, or test it before it is used",
    "memory/no-allocation": "look at where the address is computed: nothing was allocated there",
    "memory/use-after-free": "free the memory after the queue that uses it is done",
    "memory/other-device": "allocate on the device of the kernel's queue, or copy with cnrtMemcpyPeer",
    "memory/host-pointer": "copy the data to the device, and pass the address of the copy",
    "memory/device-pointer": "pass memory of the host there; cnrtMemcpy brings data back",
    "memory/double-free": "free it once",
    "memory/invalid-free": "free the address that cnrtMalloc returned",
    "memory/negative-count": "limit the count before the call: n - i is negative for tasks behind the end",
    "memory/bad-argument": "compare the argument with the intrinsic's description",
    "memory/unsupported-direction": "copy through another memory, or synchronously, or as one piece",
    "memory/table-index": "limit the indices to the size of the table",
    "memory/lane-overflow": "count offsets into the array within one lane: the bytes of the array divided by 64",
    "memory/memory-core-access": "return early with `if (__is_mpu()) return;`, if no barrier needs the memory core",
    "memory/memory-core-store": "return early with `if (__is_mpu()) return;`, if no barrier needs the memory core",
    "init/scalar-load": "write the bytes first: copy or set all of the buffer that is read",
    "init/partial-load": "write the other bytes too, if the code that loads them uses them",
    "init/copy": "set the buffer before it is filled in part, or copy only the computed part",
    "init/atomic": "set the memory before the first atomic, from the host or with __gdramset and a barrier",
    "init/operand": "write the operand first, as much of it as the instruction reads",
    "init/shared-copy": "copy only the computed part, or set the buffer first",
    "race/between-cores": "put a barrier between the accesses, use a lock or an atomic, or divide the data",
    "race/between-jobs": "let each job write its own part: nothing orders the jobs of a launch",
    "race/between-queues": "wait for the other queue with cnrtQueueSync, or let this one wait for a notifier in it",
    "race/copy-in-flight": "wait before the access: __sync_io() for copies from or to GDRAM, else __sync_move()",
    "race/unsynced-compute": "put __sync_compute() or __sync() between the computation and the asynchronous copy",
    "race/on-chip-order": "put a sync between the two, or say there: // mlusim: allow(race/on-chip-order)",
    "race/equal-stores": "let one core store the value, or divide the data",
    "race/implied-wait": "put a sync before the access, so that it does not rest on a synchronous copy",
    "sync/never-waited": "wait for the copy, or leave it out: nothing uses the copied bytes",
    "sync/drained-at-end": "wait for the copy before the kernel ends",
    "sync/deadlock": "let all cores that a barrier counts reach it, memory cores too: return behind the last one only",
    "sync/unlock-without-lock": "take the lock on the same core, with the same number",
    "align/address": "align the buffer, or its parts, as the message asks",
    "align/size": "round the size up as the message asks, and make the buffers as large",
    "align/stride": "choose a stride that the message allows, or copy in pieces",
    "align/segments": "divide the copy into several",
    "align/overlap": "use a buffer of its own for the target",
    "align/domain": "keep to the range in the reference of the intrinsics, or take a function without a table",
    "align/count": "leave the call out if there is nothing to do",
    "unused/output": "look at sizes, places and the number of tasks: some part of the array is nobody's",
    "unused/input": "look at sizes, places and the number of tasks: some part of the array is left out",
    "unused/copy": "copy less, or look at the size and the operand of the instruction that was to read all of it",
    "unused/result": "leave it out, or look for the instruction that was to read it: its operand may be wrong",
    "machine/crash": "look at the line with `pymluops kernel debug`",
    "machine/invalid-address": "look at where the address is computed; the memory checker names its neighbour",
    "machine/null-dereference": "pass memory for the pointer, or test it before it is used",
    "machine/division-by-zero": "test the divisor",
    "machine/illegal-instruction": "let every path of a function that gives a value end in a return",
    "machine/stack-overflow": "move large local arrays to __nram__ or device memory, and bound recursion",
    "machine/exception": "let the kernel write a status for the host: a card knows no exceptions and no processes",
    "machine/assert": "look at the values that the assertion names",
    "machine/array-memory": "declare smaller arrays, or let parts of the kernel share one at file scope",
    "machine/time-limit": "look who was to end the loop that is named; pymluops.sim.set_time_limit() gives more time",
    "machine/interrupted": "start it again; set a time limit to be told where a launch hangs",
}


def advice(rule: str) -> str:
    """Return the advice for findings of a rule; empty for a rule that this release does not know.

    Parameters
    ----------
    rule : str
        Checker and rule, such as ``race/between-cores``; `rules` lists them.
    """
    return _ADVICE.get(rule, "")
