"""The measured problems of get_indice_pairs: the limits that were set."""

from __future__ import annotations

from bench.small import limits


def test_limits_are_those_that_were_set() -> None:
    found = limits()
    assert found["get_indice_pairs/strided-149100/lidar"] == {"memcpy": 8, "peer": 0.3}
