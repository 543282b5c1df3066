"""Tests of kernels: a plugin for pytest, the vendor's accuracy metrics, random shapes.

Switch the plugin on in ``conftest.py``::

    pytest_plugins = ["pymluops.bang.testing"]

A test that takes the fixture `mlu` runs on a simulated card, under all checkers, and fails if they
find anything::

    from pymluops.bang.testing import assert_close, random_shape

    def test_add(mlu, mlu_rng):
        (n,) = random_shape(mlu_rng, (1, 5000))
        x, y = mlu_rng.standard_normal((2, n), dtype="float32")
        out = numpy.empty_like(x)
        mlu.compile("add.mlu").kernel("add")[8, "union1"](x, y, out, n)
        assert_close(out, x + y, diff3_2=0)

``--mlu-cards`` runs these tests on several cards, ``--mlu-seed`` repeats the random numbers of a
run. `pymluops.bang.coverage` adds the lines of kernels to the reports of coverage.py.
"""

from pymluops.bang._accuracy import assert_close, diff1, diff2, diff3, diff3_2, diff4
from pymluops.bang.testing._plugin import (
    Device,
    mlu,
    mlu_rng,
    pytest_addoption,
    pytest_configure,
    pytest_configure_node,
    pytest_generate_tests,
    pytest_report_header,
    pytest_runtest_call,
    pytest_runtestloop,
)
from pymluops.bang.testing._shapes import random_shape

__all__ = [
    "Device",
    "assert_close",
    "diff1",
    "diff2",
    "diff3",
    "diff3_2",
    "diff4",
    "mlu",
    "mlu_rng",
    "pytest_addoption",
    "pytest_configure",
    "pytest_configure_node",
    "pytest_generate_tests",
    "pytest_report_header",
    "pytest_runtest_call",
    "pytest_runtestloop",
    "random_shape",
]
