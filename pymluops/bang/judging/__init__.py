"""Judge kernels by the hundred: each in a process of its own, against a reference.

`pymluops.bang.judge` judges one kernel, `Judge` many, and ``pymluops kernel judge`` those in files.
docs/judge.md tells how.
"""

from pymluops.bang.judging.arguments import Changed, Output, Random, changed, output, random
from pymluops.bang.judging.isolation import held
from pymluops.bang.judging.judges import Judge, Work, judge
from pymluops.bang.judging.limits import Limits
from pymluops.bang.judging.task import SCHEDULES, Task, TaskError, with_torch
from pymluops.bang.judging.tolerance import Tolerance
from pymluops.bang.judging.verdict import Cost, JudgedFinding, Kind, Verdict, WrittenOutput

__all__ = [
    "SCHEDULES",
    "Changed",
    "Cost",
    "Judge",
    "JudgedFinding",
    "Kind",
    "Limits",
    "Output",
    "Random",
    "Task",
    "TaskError",
    "Tolerance",
    "Verdict",
    "Work",
    "WrittenOutput",
    "changed",
    "held",
    "judge",
    "output",
    "random",
    "with_torch",
]
