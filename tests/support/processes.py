"""Python code run in child processes."""

from __future__ import annotations

import os
import subprocess
import sys

from support.data_files import TESTS


def run_python(code: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs Python code in a process of its own, in which `support` and `oracle` can be imported too."""
    # -P: the checkout has a folder named like the package, which must not hide the installed one.
    command = [sys.executable, "-P", "-c", code, *arguments]
    env = {**os.environ, "PYTHONPATH": str(TESTS), **environment}
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300, check=False)


def python_output(code: str, *arguments: str, **environment: str) -> str:
    """Standard output of :func:`run_python`, which must succeed."""
    done = run_python(code, *arguments, **environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()
