"""Finds the kernels in files and folders, and the task of each."""

from __future__ import annotations

import importlib.util
import os
import re
import sys
import traceback
from collections.abc import Iterable, Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import cast

from pymluops._shown import path_text, shown
from pymluops.bang.judging.task import Task
from pymluops.errors import BadParamError

__all__ = ["kernels_in", "read_tasks", "refusal_of", "task_for"]

_SUFFIX = ".mlu"
#: What may follow the name of a task in the name of a file, so that conv2d and conv_2d are no conv.
_BEHIND = re.compile(r"(?:[-.]|__|_v?\d+(?![^-._])).*", re.DOTALL)


def read_tasks(path: Path) -> list[Task]:
    """Run a file with tasks, and return them: its list ``TASKS``, else all tasks that it defines.

    Parameters
    ----------
    path : Path
        A file in Python. What stands beside it can be imported.

    Raises
    ------
    BadParamError
        If it has no tasks, two of one name, or cannot be run.
    """
    spec = importlib.util.spec_from_file_location("pymluops_tasks", path)
    if spec is None or spec.loader is None:
        raise BadParamError(f"{path_text(path)}: expected a file in Python with tasks")
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        spec.loader.exec_module(module)
    except FileNotFoundError as error:
        raise BadParamError(f"{path_text(error.filename)}: {error.strerror}") from None
    except (Exception, SystemExit) as error:
        own = os.path.abspath(path)
        where = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == own]
        line = getattr(error, "lineno", None) or (where[-1] if where else 0)
        detail = error.detail if isinstance(error, BadParamError) else f"{type(error).__name__}: {error}"
        raise BadParamError(f"{path_text(path)}:{line}: {detail}") from None
    finally:
        sys.path.remove(str(path.parent.absolute()))
    listed: object = getattr(module, "TASKS", None)
    given = listed if listed is not None else [value for value in vars(module).values() if isinstance(value, Task)]
    tasks = list(cast("Iterable[object]", given)) if isinstance(given, Iterable) else [given]
    found = [task for task in tasks if isinstance(task, Task)]
    if not found or len(found) != len(tasks):
        raise BadParamError(f"{path_text(path)}: TASKS: expected a list of tasks, got {shown(listed)}")
    names = [task.name for task in found]
    for name in names:
        if names.count(name) > 1:
            raise BadParamError(f"{path_text(path)}: two tasks are called {shown(name)}")
    return found


def kernels_in(paths: Sequence[Path]) -> list[Path]:
    """Return files as they are, and all files ``.mlu`` in folders and below.

    Raises
    ------
    BadParamError
        If there is no such file or folder, or a folder has no kernels.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            inside = sorted(
                Path(folder, name) for folder, _, names in os.walk(path) for name in names if name.endswith(_SUFFIX)
            )
            if not inside:
                raise BadParamError(f"{path_text(path)}: there are no files {_SUFFIX}")
            found += inside
        elif path.exists():
            found.append(path)
        else:
            raise BadParamError(f"{path_text(path)}: there is no such file")
    return list(dict.fromkeys(found))


def refusal_of(file: Path, given: Sequence[Path]) -> str:
    """Return why a file that `kernels_in` found is no source; nothing if it is one.

    A link in a folder may lead to another file in it, but not to one outside: whoever wrote the
    kernels chose where it leads. Files that were given by their names may be anything.
    """
    real = Path(os.path.realpath(file))
    if file in given or any(real.is_relative_to(os.path.realpath(path)) for path in given):
        return ""
    return "a link that leads out of the folder that is judged, which makes it no source"


def task_for(path: Path, tasks: Sequence[Task]) -> Task | None:
    """Return the task of a kernel; None if none fits.

    The patterns of `Task.files` count first, then the name of the file, then the names of its
    folders, the nearest first. Of several tasks the one with the longest name is meant. All files
    belong to a task that is alone.
    """
    if len(tasks) == 1:
        return tasks[0]
    by_length = sorted(tasks, key=lambda task: len(task.name), reverse=True)
    text = path.as_posix()
    for task in by_length:
        if any(fnmatch(path.name, pattern) or fnmatch(text, pattern) for pattern in task.files):
            return task
    for task in by_length:
        rest = path.stem.removeprefix(task.name)
        if not rest or (rest != path.stem and _BEHIND.fullmatch(rest)):
            return task
    for folder in path.absolute().parents:
        for task in by_length:
            if folder.name == task.name:
                return task
    return None
