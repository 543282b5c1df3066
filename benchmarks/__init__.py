"""``python3 -m benchmarks``: the operators compared with memcpy and with other implementations.

``cases`` reads the problem lists in ``problems/``. ``families`` makes a problem of a case: arrays,
the bytes that must move, our call and a check. ``peers`` holds the other ways. ``timing`` measures
them all in turn, ``verdicts`` compares, ``report``, ``plots`` and ``compare`` show. ``overhead``,
``memory`` and ``sizes`` are modes of their own.
"""

from pathlib import Path

#: The folder of the clone.
ROOT = Path(__file__).resolve().parents[1]
