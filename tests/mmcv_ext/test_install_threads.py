"""`pymluops.mmcv.install` and `uninstall` beside imports of mmcv.ops in other threads."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.processes import python_output

from .stand_in import make

pytest.importorskip("torch")


@pytest.mark.thorough
def test_mmcv_is_imported_once_or_not_found(tmp_path: Path) -> None:
    """The stand-in, like mmcv's registries, does not bear to be run a second time."""
    make(tmp_path)
    code = f"""
import importlib, itertools, sys, threading, time
sys.path.insert(0, {str(tmp_path)!r})
import torch, pymluops
sys.setswitchinterval(1e-5)
errors, done, stop = set(), [0, 0], threading.Event()

def load(name):
    while not stop.is_set():
        try:
            importlib.import_module(name)
            done[0] += 1
        except ModuleNotFoundError:
            pass
        except BaseException as error:
            errors.add(repr(error))

def install():
    while not stop.is_set():
        try:
            pymluops.install("mmcv")
            time.sleep(0.005)
            pymluops.uninstall("mmcv")
            done[1] += 1
            time.sleep(0.002)
        except BaseException as error:
            errors.add(repr(error))

threads = [threading.Thread(target=load, args=(name,)) for name in ("mmcv.ops", "mmcv._ext") * 2]
threads += [threading.Thread(target=install) for _ in range(2)]
[thread.start() for thread in threads]
time.sleep(5)
stop.set()
[thread.join(60) for thread in threads]
print(errors, min(done) > 0, any(thread.is_alive() for thread in threads))
"""
    assert python_output(code).splitlines() == ["set() True False"]
