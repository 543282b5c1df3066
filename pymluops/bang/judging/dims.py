"""How a kernel is launched if its task does not say so: a guess from what its source reads."""

from __future__ import annotations

import re
from typing import NamedTuple

__all__ = ["LaunchDims", "guessed"]

_COMMENTS = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"", re.DOTALL)
_CLUSTERS = re.compile(r"\b(?:clusterId|clusterDim|__sync_all\w*)\b")
_SHARED = re.compile(
    r"\b(?:coreId|coreDim|__mlu_shared__|__sync_cluster|__is_mpu|SRAM2\w+|\w+2SRAM|__bang_lock|__is_ipu)\b"
)
_TASKS = re.compile(r"\b(?:taskId\w?|taskDim\w?)\b")
_UNION_CLUSTERS = (16, 8, 4, 2, 1)


class LaunchDims(NamedTuple):
    """Tasks in x, y and z, and the kind of a launch."""

    dim: tuple[int, int, int]
    kind: str


def guessed(source: str, clusters: int, cores: int) -> LaunchDims:
    """Guess a launch that fills what the kernel seems to be written for.

    A kernel that reads of clusters, or has barriers of all of them, gets four clusters for one job;
    one that reads of cores or uses shared memory gets one cluster at a time, in four jobs if it
    also reads ``taskId`` or ``taskDim``; one that reads only these gets 16 tasks of a Block launch;
    others get one task. Cards with fewer clusters or cores give what they have.

    Parameters
    ----------
    source : str
        Its text.
    clusters, cores : int
        Of the card: its clusters, and the cores of one.
    """
    code = _COMMENTS.sub(" ", source)
    reads_tasks = _TASKS.search(code) is not None
    if _CLUSTERS.search(code):
        most = min(clusters, 4)
        union = next(number for number in _UNION_CLUSTERS if number <= most)
        return LaunchDims((union * cores, 1, 1), f"union{union}")
    if _SHARED.search(code):
        return LaunchDims((cores * (min(clusters, 4) if reads_tasks else 1), 1, 1), "union1")
    return LaunchDims((min(16, clusters * cores) if reads_tasks else 1, 1, 1), "block")
