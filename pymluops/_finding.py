"""A finding of the simulator, which errors carry."""

from __future__ import annotations

import dataclasses

from pymluops._advice import advice

__all__ = ["Finding"]

#: coreId of the memory core.
_MEMORY_CORE = 0x80


@dataclasses.dataclass(frozen=True)
class Finding:
    """One thing that a checker, or the machine itself, found in a kernel.

    Attributes
    ----------
    checker : str
        ``memory``, ``init``, ``race``, ``sync``, ``align``, or ``machine`` for what ends any
        launch.
    rule : str
        Which of its rules was broken, for example ``out-of-bounds``.
    kernel : str
        As written at the launch.
    file, line : str, int
        Place in the source; empty and 0 if unknown.
    other_file, other_line : str, int
        A second place: the other access of a race, for example; empty and 0 if there is none.
    task, cluster, core : int
        taskId, clusterId and coreId; the memory core is 0x80. -1 for what no single core did.
    space : str
        Kind of memory: GDRAM, NRAM, WRAM, SRAM, LDRAM or host; empty if no address is concerned.
    offset, size : int
        The bytes concerned, from the start of their allocation or array.
    allocation : str
        The allocation or array that the address belongs to or lies next to.
    message : str
        One sentence.
    count : int
        How often it happened at this place in this launch.
    severity : str
        Of the rule: ``error``; ``warning`` for what devices are known to bear although no guide
        promises it; ``remark`` for what is harmless.
    launch_failed : int
        1 if the launch failed, 0 if its findings were recorded only.
    cause : str
        The finding of the launch that this one follows from, such as ``memory/out-of-bounds at
        add.mlu:12``; empty if it stands for itself.
    step : int
        Orders causes: 0 for wrong accesses, 1 for syncs, 2 for races, 3 for undefined bytes, 4 for
        unused data.
    """

    checker: str
    rule: str
    kernel: str
    file: str
    line: int
    other_file: str
    other_line: int
    task: int
    cluster: int
    core: int
    space: str
    offset: int
    size: int
    allocation: str
    message: str
    count: int
    severity: str
    launch_failed: int
    cause: str = ""
    step: int = 0

    @property
    def next_step(self) -> str:
        """What to do about it."""
        return advice(f"{self.checker}/{self.rule}")

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}: " if self.file else ""
        text = f"{self.checker}/{self.rule}: {place}{self.message}"
        if not self.kernel:
            return text
        core = "memory core" if self.core == _MEMORY_CORE else f"core {self.core}"
        cores = "" if self.task < 0 else f", task {self.task}, cluster {self.cluster}, {core}"
        return f"{text} ({self.kernel}{cores})"
