"""Compiles the functions that the overhead of a call is compared with."""

from __future__ import annotations

import ast
import importlib.machinery
import importlib.util
import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any, cast

from benchmarks.cases import FAMILIES
from benchmarks.families import tiny

_PEERS = Path(__file__).parent / "peers"
_NAMESPACE = "pymluops_bench"
_loaded: set[str] = set()


def _empty_source() -> str:
    """Return a function that takes what the tiny calls give and does nothing."""
    calls = [call for family in FAMILIES for call in tiny(family)]
    nodes = [cast("ast.Call", ast.parse(call.statement, mode="eval").body) for call in calls]
    positional = "".join(f"p{i}=None, " for i in range(max(len(node.args) for node in nodes)))
    keywords = sorted({str(keyword.arg) for node in nodes for keyword in node.keywords})
    arguments = "".join(f"{name}=None, " for name in keywords)
    return f"# cython: language_level=3\ndef empty({positional}*, {arguments}):\n    return out\n"


def _torch_source() -> str:
    """Return one source with the operators of all families: PyTorch's headers take longer to compile than these."""
    files = [_PEERS / family / "_torch.cpp" for family in FAMILIES]
    return "".join(f'#include "{file.relative_to(_PEERS).as_posix()}"\n' for file in files if file.exists())


def torch_operators(folder: Path, notes: list[str]) -> Any:
    """Return the namespace with our operators' counterparts in PyTorch, or None with a note why."""
    missing = [name for name in ("torch", "ninja") if importlib.util.find_spec(name) is None]
    if missing or shutil.which(_compiler()) is None:
        notes.append(f"no PyTorch operator to compare with: {' and '.join(missing) or 'a C++ compiler'} is missing")
        return None
    torch: Any = importlib.import_module("torch")
    if _NAMESPACE not in _loaded:
        source = folder / "operators.cpp"
        source.write_text(_torch_source())
        # ninja is a program of this environment, which need not be on the path.
        path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
        extension: Any = importlib.import_module("torch.utils.cpp_extension")
        before = os.environ.get("PATH")
        os.environ["PATH"] = path
        try:
            extension.load(_NAMESPACE, [str(source)], extra_cflags=["-O3"], extra_include_paths=[str(_PEERS)],
                           build_directory=str(folder), is_python_module=False)  # fmt: skip
            _loaded.add(_NAMESPACE)
        except (RuntimeError, OSError, subprocess.CalledProcessError) as error:
            notes.append(f"no PyTorch operator to compare with: {str(error).partition(chr(10))[0]}")
            return None
        finally:
            if before is not None:
                os.environ["PATH"] = before
    return getattr(torch.ops, _NAMESPACE)


def empty_function(folder: Path, notes: list[str]) -> Any:
    """Return a compiled function that does nothing, or None with a note why."""
    if importlib.util.find_spec("Cython") is None or shutil.which(_compiler()) is None:
        notes.append("no empty call to compare with: Cython or a C++ compiler is missing")
        return None
    name = "pymluops_bench_empty"
    source, code, binary = (folder / f"{name}{suffix}" for suffix in (".pyx", ".c", ".so"))
    source.write_text(_empty_source())
    include = sysconfig.get_paths()["include"]
    compile_c = [*shlex.split(sysconfig.get_config_var("CC") or "cc"), "-O2", "-shared", "-fPIC", f"-I{include}"]
    try:
        for command in ([sys.executable, "-m", "cython", str(source)], [*compile_c, str(code), "-o", str(binary)]):
            subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        notes.append(f"no empty call to compare with: {error}")
        return None
    loader = importlib.machinery.ExtensionFileLoader(name, str(binary))
    module: Any = importlib.util.module_from_spec(importlib.util.spec_from_loader(name, loader) or _no_spec(name))
    loader.exec_module(module)
    return module.empty


def _no_spec(name: str) -> Any:
    raise ImportError(name)


def _compiler() -> str:
    return os.environ.get("CXX", "c++").split()[0]
