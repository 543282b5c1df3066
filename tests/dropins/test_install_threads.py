"""Installing and uninstalling beside imports in other threads, forks, and many times."""

from __future__ import annotations

import os

import pytest

from support.processes import python_output

pytest.importorskip("torch")

NAMES = '("spconv", "openpcdet", "pointnet2", "MultiScaleDeformableAttention", "transformers", "deformable_attention")'

#: Threads import modules of the drop-ins for the first time again and again, while others install
#: and uninstall.
CODE = f"""
import importlib, itertools, os, sys, threading, time
import torch, pymluops
sys.setswitchinterval(1e-5)
ALL = {NAMES}
MODULES = [
    "spconv", "spconv.pytorch", "spconv.pytorch.conv", "spconv.pytorch.modules", "spconv.utils", "spconv.core",
    "spconv.pytorch.ops", "cumm.tensorview", "MultiScaleDeformableAttention", "pointnet2_cuda", "mmcv._ext",
]
errors, done, stop = [], [0, 0], threading.Event()

def import_modules(first):
    for k in itertools.count(first):
        if stop.is_set():
            return
        try:
            importlib.import_module(MODULES[k % len(MODULES)])
            done[0] += 1
        except ModuleNotFoundError:
            pass  # it was uninstalled, or its package
        except BaseException as error:
            errors.append(repr(error))

def install_and_uninstall():
    while not stop.is_set():
        try:
            assert pymluops.install(*ALL) == ALL
            pymluops.uninstall()
            done[1] += 1
        except AssertionError:
            pass  # the other thread has taken one away in between
        except BaseException as error:
            errors.append(repr(error))

def run(seconds, between=lambda: None):
    threads = [threading.Thread(target=import_modules, args=(i,)) for i in range(5)]
    threads += [threading.Thread(target=install_and_uninstall) for _ in range(2)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(seconds / 8)
        between()
    stop.set()
    for thread in threads:
        thread.join(60)
    print(sum(thread.is_alive() for thread in threads), set(errors), min(done) > 0)
"""


@pytest.mark.thorough
def test_imports_end_in_a_module_or_in_that_there_is_none() -> None:
    assert python_output(f"{CODE}\nrun(6)").splitlines() == ["0 set() True"]


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
def test_the_child_of_a_fork_in_between_installs_and_uninstalls() -> None:
    code = """
import signal
# A process that is forked while a thread imports a module for the first time never can, in any
# Python.
pymluops.install(*ALL)
for name in MODULES[:-1]:
    importlib.import_module(name)
pymluops.uninstall()
def fork():
    child = os.fork()
    if not child:
        signal.alarm(60)
        sys.setswitchinterval(0.005)
        ours = pymluops.install("pointnet2") == ("pointnet2",)
        pymluops.uninstall()
        os._exit(0 if ours and "pointnet2_cuda" not in sys.modules else 1)
    if os.waitpid(child, 0)[1]:
        errors.append("child")
run(4, fork)
"""
    assert python_output(CODE + code).splitlines() == ["0 set() True"]


@pytest.mark.thorough
def test_first_imports_of_all_modules_in_threads_meet_in_no_order() -> None:
    code = """
import importlib, sys, threading, pymluops
sys.setswitchinterval(1e-5)
pymluops.install("spconv")
from pymluops.dropins._catalogue import DROP_INS
names = list(DROP_INS["spconv"].modules)
barrier, errors = threading.Barrier(len(names)), []
def load(name):
    barrier.wait()
    try:
        importlib.import_module(name)
    except BaseException as error:
        errors.append((name, repr(error)))
threads = [threading.Thread(target=load, args=(name,)) for name in names]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
print(errors, all(name in sys.modules for name in names))
"""
    for _ in range(3):
        assert python_output(code).splitlines() == ["[] True"]


def test_a_module_that_is_being_imported_is_waited_for() -> None:
    code = """
import sys, threading, time, pymluops
from pymluops.dropins import _extensions
real, begun, go = _extensions.contents, threading.Event(), threading.Event()
def slow(name):
    begun.set()
    go.wait(10)
    return real(name)
_extensions.contents = slow
pymluops.install("pointnet2")
found = []
def load():
    try:
        import pointnet2_cuda
        found.append(pointnet2_cuda.__name__)
    except BaseException as error:
        found.append(repr(error))
loader = threading.Thread(target=load)
loader.start()
begun.wait(10)
remover = threading.Thread(target=pymluops.uninstall)
remover.start()
time.sleep(0.1)
print(remover.is_alive())
go.set()
loader.join(10), remover.join(10)
print(found, "pointnet2_cuda" in sys.modules, remover.is_alive())
"""
    assert python_output(code).splitlines() == ["True", "['pointnet2_cuda'] False False"]


def test_a_thread_that_looks_for_a_module_misses_no_finder() -> None:
    code = """
import sys, pymluops
from pymluops._import_state import leave_meta_path
class Nothing:
    def find_spec(self, name, path=None, target=None):
        seen.append(self)
        leave_meta_path(first)
seen, first, second = [], Nothing(), Nothing()
sys.meta_path[:0] = [first, second]
try:
    import no_module_of_this_name
except ModuleNotFoundError:
    print(seen == [first, second], first in sys.meta_path, second in sys.meta_path)
"""
    assert python_output(code).splitlines() == ["True False True"]


@pytest.mark.thorough
def test_a_thousand_times() -> None:
    code = f"""
import sys, torch, pymluops
before, names = list(sys.meta_path), {NAMES}
for k in range(1000):
    assert pymluops.install(*names) == names and pymluops.install(*names) == names
    if k % 100 == 0:
        import spconv.pytorch, pointnet2_cuda
    pymluops.uninstall()
    assert sys.meta_path == before and not {{"spconv", "cumm", "pointnet2_cuda"}} & {{*sys.modules}}
import gc
from importlib.machinery import ModuleSpec
print(sum(type(one).__name__ == "_Loader" for one in gc.get_objects()) < 100)
"""
    assert python_output(code).splitlines() == ["True"]
