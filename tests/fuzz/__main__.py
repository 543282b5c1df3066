"""Runs the fuzz targets: ``python tests/fuzz --seconds 600``. README.md beside this file says more."""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from fuzz.build import REPOSITORY, TARGETS, Build, installed_library, sanitized_library  # noqa: E402

PYTHON_TARGETS = {"dlpack": "dlpack_lies", "scans": "scans", "images": "images"}
#: The libraries that a C++ target is for.
LIBRARIES = {"abi_any": ("cpu", "sim"), "abi_operators": ("cpu", "sim"), "cnrt": ("sim",)}
#: Those of them that the sanitizers can be built into.
SANITIZED = ("cpu", "sim")
MOST_FINDINGS = 10
RUNS = re.compile(r"^(?:runs|stat::number_of_executed_units:) (\d+)", re.MULTILINE)
TELLING = re.compile(r"^(finding: .*|.*runtime error: .*|SUMMARY: .*)$", re.MULTILINE)


def open_findings() -> list[str]:
    """Parts of messages of findings that are known and not mended yet: one a line, before its `#`."""
    lines = (HERE / "open_findings.txt").read_text(encoding="utf-8").splitlines()
    return [part for line in lines if (part := line.partition("#")[0].strip())]


OPEN = open_findings()


@dataclass
class Result:
    """The results of the runs of one target."""

    name: str
    seed: int
    runs: int = 0
    seconds: float = 0.0
    findings: dict[str, str] = field(default_factory=dict)

    def line(self) -> str:
        rate = self.runs / self.seconds if self.seconds else 0
        return (
            f"{self.name:26} {self.runs:9} runs {rate:9.0f} a second {len(self.findings):3} findings, seed {self.seed}"
        )


@dataclass
class Job:
    """One program to run: a target with a library, or a target in Python."""

    name: str
    command: list[str]
    environment: dict[str, str]
    libfuzzer: bool = False

    def _options(self, seed: int, seconds: float, keep: Path) -> list[str]:
        if self.libfuzzer:
            times = [f"-seed={seed}", f"-max_total_time={max(int(seconds), 1)}", "-timeout=30"]
            return [*times, f"-exact_artifact_path={keep}", "-print_final_stats=1", "-verbosity=0"]
        return ["--seed", str(seed), "--seconds", f"{seconds:.1f}", "--keep", str(keep)]

    def run(self, seed: int, seconds: float, output: Path) -> Result:
        """Run until the time is over; after a finding go on with another seed."""
        result = Result(self.name, seed)
        self._replay_corpus(result)
        start = time.monotonic()
        left = seconds
        while left > 0.2 and len(result.findings) < MOST_FINDINGS:
            keep = output / f"{self.name.replace('/', '-')}-{seed}"
            done = subprocess.run(
                [*self.command, *self._options(seed, left, keep)], capture_output=True, text=True, errors="replace",
                check=False, env={**os.environ, **self.environment}, timeout=seconds + 120,
            )  # fmt: skip
            if match := RUNS.search(done.stdout + done.stderr):
                result.runs += int(match[1])
            if done.returncode != 0:
                self._collect(result, done.stdout + done.stderr, keep)
            seed += 1000
            left = seconds - (time.monotonic() - start)
        result.seconds = time.monotonic() - start
        return result

    def _replay_corpus(self, result: Result) -> None:
        """Past findings first."""
        files = sorted((HERE / "corpus" / self.name.partition("/")[0]).glob("*"))
        if not files:
            return
        done = subprocess.run(
            [*self.command, *map(str, files)], capture_output=True, text=True, errors="replace", check=False,
            env={**os.environ, **self.environment},
        )  # fmt: skip
        if done.returncode != 0:
            self._collect(result, done.stdout + done.stderr, files[0].parent)

    def _collect(self, result: Result, text: str, keep: Path) -> None:
        messages = TELLING.findall(text) or [text.strip()[-300:] or "the process ended without a word"]
        # Of a process that died the first line tells; of a target in Python every line is a finding
        # of its own.
        several = [line for line in messages if line.startswith("finding: ")] or messages[:1]
        for message in several:
            kind = re.sub(r"0x[0-9a-f]+|\d+", "", message)[:90]
            # A process that died has not asked whether what it died of is known.
            if kind not in result.findings and not any(part in message for part in OPEN):
                result.findings[kind] = message
                print(
                    f"{result.name}: {message}{'' if '(' in message and str(keep) in message else f' ({keep})'}",
                    flush=True,
                )


def python_job(name: str) -> Job:
    command = [sys.executable, "-m", "fuzz.case_runner", PYTHON_TARGETS[name]]
    return Job(name, command, {"PYTHONPATH": str(HERE.parent), "MLUOPS_FUZZ_OPEN": ";".join(OPEN)})


def native_job(name: str, kind: str, program: Path, library: Path, sanitized: bool = False) -> Job:
    environment = {"MLUOPS_FUZZ_LIBRARY": str(library), "MLUOPS_FUZZ_OPEN": ";".join(OPEN)}
    environment["MLUOPS_FUZZ_PROBLEMS"] = str(program.parent / "varied")
    if sanitized:  # sizes that cannot be had are part of the test
        environment["ASAN_OPTIONS"] = "allocator_may_return_null=1"
    return Job(f"{name}/{kind}{'-sanitized' if sanitized else ''}", [str(program)], environment)


def make_jobs(options: argparse.Namespace) -> list[Job]:
    """The jobs that the options ask for, everything compiled."""
    native = [name for name in options.target if name in TARGETS]
    jobs = []
    if options.libfuzzer:
        build = Build(options.build / "libfuzzer", options.libfuzzer, libfuzzer=True)
    else:
        build = Build(options.build / "plain")
    programs = build.targets(native) if native else {}
    for name in native:
        jobs += [native_job(name, kind, programs[name], installed_library(kind)) for kind in LIBRARIES[name]]
    for job in jobs:
        job.libfuzzer = options.libfuzzer is not None
    if options.sanitize and native:
        programs = Build(options.build / "sanitized", sanitize=True).targets(native)
        for kind in SANITIZED:
            library = sanitized_library(options.sanitized_build or options.build / "library", kind)
            jobs += [
                native_job(name, kind, programs[name], library, sanitized=True)
                for name in native
                if kind in LIBRARIES[name]
            ]
    return jobs + [python_job(name) for name in options.target if name in PYTHON_TARGETS]


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    every = [*TARGETS, *PYTHON_TARGETS]
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description="Fuzz the libraries and readers.")
    parser.add_argument("--seconds", type=float, default=60.0, help="for all targets together, after the compiler")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="targets that run at the same time (1)")
    parser.add_argument("--seed", type=int, default=int(time.time()), help="by default another one in each run")
    parser.add_argument("--target", action="append", choices=every, help="only this one; may be repeated")
    parser.add_argument("--sanitize", action="store_true", help="spend half of the time on a library with sanitizers")
    parser.add_argument("--libfuzzer", metavar="CLANG++", help="let libFuzzer of this compiler drive the C++ targets")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build" / "fuzz", metavar="FOLDER")
    parser.add_argument("--sanitized-build", type=Path, metavar="FOLDER", help="a CMake folder with MLUOPS_SANITIZE=ON")
    parser.add_argument("--output", type=Path, metavar="FOLDER", help="for the inputs of findings")
    parser.add_argument("--replay", type=Path, nargs="+", metavar="FILE", help="run these inputs of one --target")
    options = parser.parse_args(arguments)
    if options.replay and len(options.target or ()) != 1:
        parser.error("--replay needs one --target")
    options.target = options.target or every
    options.output = options.output or options.build / "findings"
    return options


def replay(jobs: list[Job], files: list[Path]) -> int:
    """Run the inputs on each library of the target, with what the calls are."""
    result = 0
    for job in jobs:
        print(f"---- {job.name}", flush=True)
        environment = {**os.environ, **job.environment, "MLUOPS_FUZZ_EXPLAIN": "1", "MLUOPS_FUZZ_OPEN": ""}
        result |= subprocess.run([*job.command, *map(str, files)], check=False, env=environment).returncode != 0
    return result


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 if there was a finding."""
    options = parse(arguments)
    jobs = make_jobs(options)
    if options.replay:
        return replay(jobs, options.replay)
    options.output.mkdir(parents=True, exist_ok=True)
    # The sanitized jobs together get as much as all others.
    sanitized = sum(job.name.endswith("-sanitized") for job in jobs)
    shares = {True: 0.5 / max(sanitized, 1), False: (0.5 if sanitized else 1.0) / (len(jobs) - sanitized)}

    def run(job: Job) -> int:
        result = job.run(options.seed, options.seconds * shares[job.name.endswith("-sanitized")], options.output)
        print(result.line(), flush=True)
        return len(result.findings)

    with ThreadPoolExecutor(options.jobs) as pool:  # each of them waits for a process
        found = sum(pool.map(run, jobs))
    print(f"{found} findings" + (f" in {options.output}" if found else ""))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
