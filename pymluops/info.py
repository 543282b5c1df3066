"""``pymluops info``: which libraries can be used, on what CPU, with which versions."""

from __future__ import annotations

import argparse
import json
import os
import platform
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pymluops import _environment
from pymluops._shown import sentence
from pymluops.cli import CommandError
from pymluops.errors import NotInitializedError

if TYPE_CHECKING:
    from pymluops import Backend

#: The instruction sets that matter to the kernels, as Linux names them on x86-64 and on AArch64.
FEATURES = (
    "sse4_2", "avx", "f16c", "fma", "avx2", "avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512_fp16", "avx512_bf16",
    "asimd", "asimdhp", "sve", "sve2",
)  # fmt: skip


def register(subparsers: Any) -> None:
    """Add the ``info`` subcommand."""
    text = "show the libraries, their versions, the CPU and the number of threads"
    parser = subparsers.add_parser("info", help=text, description=sentence(text), allow_abbrev=False)
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument(
        "--functions",
        nargs="*",
        metavar="LIBRARY",
        help="print which functions of the C ABI each library implements; LIBRARY is cpu, sim, mlu or the path of a "
        "library, and all that can be used if none is given",
    )
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Print the information. A missing library is an error only if `--functions` names it."""
    if args.functions is not None:
        from pymluops import _functions_table

        table = _functions_table.collect(args.functions)
        print(json.dumps(table, indent=2) if args.json else _functions_table.render(table))
        return 0
    found = collect()
    print(json.dumps(found, indent=2) if args.json else render(found))
    return 0


def collect() -> dict[str, Any]:
    """Return what ``--json`` prints."""
    import numpy as np

    import pymluops

    default, default_problem = _default_backend()
    backends = {}
    for name, info in pymluops.backends().items():
        about = describe_backend(pymluops.load(name)) if info.available else None
        backends[name] = {"available": info.available, "reason": info.reason, **(about or _nothing_known())}
    return {
        "version": metadata.version("pymluops"),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": cpu(),
        "threads": backends["cpu"]["threads"],
        "environment_problem": _environment_problem(),
        "default_backend": default,
        "default_backend_problem": default_problem,
        "backends": backends,
    }


def describe_backend(backend: Backend) -> dict[str, Any]:
    """Return the properties of a loaded library; None where it does not report one."""
    import pymluops

    return {
        "name": backend.name,
        "kind": backend.kind,
        "path": backend.path,
        "abi_version": backend.version,
        "library_version": backend.library_version,
        "instruction_level": backend.instruction_level,
        "threads": pymluops.get_num_threads() if backend.kind == "cpu" else None,
        "streaming_bytes": _streaming_bytes(backend),
    }


def _streaming_bytes(backend: Backend) -> int | None:
    if backend.kind != "cpu" or not backend.exports("mluopsExtGetStreamingBytes"):
        return None
    return int(backend.lib.mluopsExtGetStreamingBytes())


def default_backend() -> Backend:
    """Return the backend that operators use; a `CommandError` if the environment names one that cannot be used."""
    backend, problem = _open_default()
    if backend is None:
        raise CommandError(problem)
    return backend


def _environment_problem() -> str | None:
    """Return what is wrong with the environment variables; a library is not loaded unless all of them are valid."""
    try:
        _environment.check()
    except NotInitializedError as error:
        return error.detail
    return None


def _default_backend() -> tuple[str, str | None]:
    backend, problem = _open_default()
    if backend is None:
        return _environment.text("PYMLUOPS_BACKEND") or "cpu", problem
    return backend.name, None


def _open_default() -> tuple[Backend | None, str]:
    import pymluops
    from pymluops import library

    try:
        return library.current(), ""
    except pymluops.MluOpError as error:
        return None, str(error)


def _nothing_known() -> dict[str, Any]:
    keys = ("name", "kind", "path", "abi_version", "library_version", "instruction_level", "threads", "streaming_bytes")
    return dict.fromkeys(keys)


def cpu() -> dict[str, Any]:
    """Return model, usable CPUs and instruction sets of this machine, as far as Linux reports them."""
    facts: dict[str, str] = {}
    try:
        for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
            key, _, value = line.partition(":")
            facts.setdefault(key.strip(), value.strip())
    except OSError:
        pass
    present = set((facts.get("flags") or facts.get("Features") or "").split())
    return {
        "model": facts.get("model name") or platform.machine(),
        "usable": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "features": [feature for feature in FEATURES if feature in present],
    }


def render(found: dict[str, Any]) -> str:
    """Return the readable text."""
    processor = found["cpu"]
    lines = [
        f"pymluops  {found['version']} (Python {found['python']}, NumPy {found['numpy']}, {found['platform']})",
        f"CPU       {processor['model']}, {processor['usable']} usable",
        f"          {' '.join(processor['features']) or 'instruction sets unknown'}",
        f"threads   {found['threads'] if found['threads'] is not None else 'unknown'}",
        f"default   {_reason(found, found['default_backend_problem']) or found['default_backend']}",
    ]
    if found["environment_problem"]:
        lines.append(f"problem   {found['environment_problem']}")
    lines.append("")
    for name, backend in found["backends"].items():
        if not backend["available"]:
            lines.append(f"{name:<8}  not available: {_reason(found, backend['reason'])}")
            continue
        details = [f"ABI {backend['abi_version']}"] if backend["abi_version"] else []
        details += [f"library {backend['library_version']}"] if backend["library_version"] else []
        details += [backend["instruction_level"]] if backend["instruction_level"] else []
        if backend["streaming_bytes"] is not None:
            details.append(f"non-temporal stores from {backend['streaming_bytes'] / 2**20:g} MiB")
        lines += [f"{name:<8}  available: {', '.join(details)}", f"          {backend['path']}"]
    return "\n".join(lines)


def _reason(found: dict[str, Any], reason: str | None) -> str | None:
    """Return the reason, or a reference to the line of the environment problem if that is the reason."""
    problem = found["environment_problem"]
    return "see the problem" if problem and reason and problem in reason else reason
