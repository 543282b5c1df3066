"""Progress on a terminal, for runs of more than a second."""

from __future__ import annotations

import sys
import threading

DELAY = 1.0


class Progress:
    """A line on stderr that says which step runs. It stays silent when stderr is no terminal, and in the first second.

    A timer shows the line, so that it also comes up in the middle of a long step.
    """

    def __init__(self, total: int, label: str) -> None:
        self._total = total
        self._label = label
        self._started = 0
        self._text = ""
        self._width = 0
        self._shown = False
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None
        if sys.stderr is not None and sys.stderr.isatty():
            self._timer = threading.Timer(DELAY, self._show)
            self._timer.daemon = True
            self._timer.start()

    def step(self, name: str) -> None:
        """Show the current step."""
        with self._lock:
            self._started += 1
            self._text = f"{self._label} [{self._started}/{self._total}] {name}"
            if self._shown:
                self._write(self._text)

    def close(self) -> None:
        """Take the line off the terminal."""
        if self._timer is not None:
            self._timer.cancel()
        with self._lock:
            if self._shown:
                self._write("")
                self._write("")
            self._shown = False
            self._timer = None

    def _show(self) -> None:
        with self._lock:
            if self._timer is not None:
                self._shown = True
                self._write(self._text)

    def _write(self, text: str) -> None:
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
