"""A plugin for coverage.py: lines of kernels in its reports, beside those of Python.

In ``pyproject.toml``::

    [tool.coverage.run]
    plugins = ["pymluops.bang.coverage"]

Then ``coverage run -m pytest`` and ``coverage report``, or ``pytest --cov`` with pytest-cov, count
the lines of the files that `pymluops.bang.compile` reads, and of the headers that they include.
This needs GCC and its gcov; kernels are compiled without optimisation and are not kept for the next
run.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from coverage import Coverage
from coverage.plugin import CoveragePlugin, FileReporter

from pymluops.bang import _coverage
from pymluops.bang._headers import read_text

__all__ = ["KernelPlugin", "coverage_init"]


class KernelPlugin(CoveragePlugin):
    """Tells coverage.py about the sources of kernels."""

    def file_reporter(self, filename: str) -> FileReporter:
        """Return the counters of a source for reports."""
        return _Reporter(filename)


class _Reporter(FileReporter):
    def source(self) -> str:
        return read_text(Path(self.filename))

    def lines(self) -> set[int]:
        return _coverage.executable_lines(self.source())

    def relative_filename(self) -> str:
        return os.path.relpath(self.filename)


def coverage_init(registry: Any, options: Any) -> None:
    """Register the plugin; coverage.py calls this when it starts.

    Parameters
    ----------
    registry : coverage.plugin_support.Plugins
        Where plugins are added.
    options : mapping
        The configuration; there is nothing to configure.
    """
    plugin = KernelPlugin()
    registry.add_file_tracer(plugin)
    _coverage.start(lambda lines: _hand_over(plugin, lines))


def _hand_over(plugin: KernelPlugin, lines: dict[str, _coverage.Lines]) -> None:
    current = Coverage.current()
    if current is None:
        return
    data = current.get_data()
    if current.get_option("run:branch"):  # then coverage.py keeps pairs of lines
        arcs = {file: [(-1, line) for line in each.executed] for file, each in lines.items()}
        data.add_arcs(arcs)
    else:
        data.add_lines({file: each.executed for file, each in lines.items()})
    # As coverage.py names the plugin.
    name = f"{coverage_init.__module__}.{type(plugin).__name__}"
    data.add_file_tracers(dict.fromkeys(lines, name))
