"""The device that C programs and libraries get from the environment, where no Python package reads it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from pymluops.bang.driver import main

SOURCE = """
#include <cstdio>
#include <cstdlib>
#include "mlusim.h"
__mlu_entry__ void fill(float *out) { out[taskId] = 3.f; }
extern "C" int run() {
  float *out = nullptr, host[4] = {};
  unsigned count = 0;
  cnrtGetDeviceCount(&count);
  const int allocated = cnrtMalloc((void **)&out, 16);
  if (allocated != cnrtSuccess) {
    std::printf("%s %s\\n", cnrtGetErrorName((cnrtRet_t)allocated), mlusimGetLastError());
    return 1;
  }
  if (std::getenv("TOUCH") != nullptr) out[0] = 1;
  cnrtDim3_t dim = {4, 1, 1};
  fill<<<dim, cnrtFuncTypeBlock, nullptr>>>(out);
  const int code = cnrtQueueSync(nullptr);
  cnrtMemcpy(host, out, 16, cnrtMemcpyDevToHost);
  mlusimDeviceModel model;
  mlusimGetDevice(&model);
  std::printf("%d %g %s %u %lld\\n", code, host[3], model.name, count, (long long)model.memory_mib);
  return code;
}
"""
#: Loads the library without the package.
LOAD = "import ctypes, sys; lib = ctypes.CDLL(sys.argv[1]); lib.run(); lib.run(); lib.run()"
NAMES = "expected MLU270, MLU290, MLU370-X8, MLU590, or the path of a .toml file, got"
SMALL = "base = \"MLU590\"  # a card\nname = 'small'\nmemory_mib = 1_024\nclusters = 2\n"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("environment")
    (folder / "fill.mlu").write_text(SOURCE, encoding="utf-8")
    (folder / "main.mlu").write_text('extern "C" int run();\nint main() { return run(); }\n', encoding="utf-8")
    (folder / "small.toml").write_text(SMALL, encoding="utf-8")
    before = Path.cwd()
    os.chdir(folder)
    try:
        assert main(["-shared", "-fPIC", "fill.mlu", "-o", "libfill.so"]) == 0
        assert main(["fill.mlu", "main.mlu", "-o", "program"]) == 0
    finally:
        os.chdir(before)
    return folder


def run(command: Sequence[object], **environment: str) -> subprocess.CompletedProcess[str]:
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYMLUOPS_SIM")}
    return subprocess.run(
        [str(word) for word in command],
        env={**clean, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def loaded(folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return run([sys.executable, "-c", LOAD, folder / "libfill.so"], **environment)


@pytest.mark.parametrize(
    ("variable", "value", "why"),
    [
        ("PYMLUOPS_SIM_DEVICE", "MLU999", f"{NAMES} 'MLU999'"),
        ("PYMLUOPS_SIM_DEVICE", "no.toml", "no.toml: No such file or directory"),
        ("PYMLUOPS_SIM_DEVICES", "99", "expected 1 to 16, got '99'"),
        ("PYMLUOPS_SIM_DEVICES", "abc", "expected 1 to 16, got 'abc'"),
        ("PYMLUOPS_SIM_DEVICES", "2 ", "expected 1 to 16, got '2 '"),
    ],
)
def test_a_device_that_does_not_exist_is_refused_aloud(folder: Path, variable: str, value: str, why: str) -> None:
    done = loaded(folder, **{variable: value})
    assert done.stdout.splitlines() == [f"cnrtErrorNoDevice cnrtMalloc: {variable}: {why}"] * 3
    assert done.stderr.splitlines() == [f"mlusim: {variable}: {why}; there is no device"]


def test_a_device_of_the_environment(folder: Path) -> None:
    done = loaded(folder, PYMLUOPS_SIM_DEVICE="mlu590", PYMLUOPS_SIM_DEVICES="3")
    assert (done.stdout.splitlines()[0], done.stderr) == ("0 3 MLU590 3 81920", "")
    done = loaded(folder, PYMLUOPS_SIM_DEVICE="", PYMLUOPS_SIM_DEVICES="")
    assert (done.stdout.splitlines()[0], done.stderr) == ("0 3 MLU590 8 81920", "")


@pytest.mark.parametrize("kind", ["library", "program"])
def test_a_device_file_needs_no_python(folder: Path, kind: str) -> None:
    card = str(folder / "small.toml")
    command = [sys.executable, "-c", LOAD, folder / "libfill.so"] if kind == "library" else [folder / "program"]
    done = run(command, PYMLUOPS_SIM_DEVICE=card)
    assert (done.stdout.splitlines()[0], done.stderr) == ("0 3 small 8 1024", "")


def test_a_small_card_fits_into_few_addresses(folder: Path) -> None:
    limit = (16 << 30, 16 << 30)
    done = subprocess.run(
        [folder / "program"],
        env={**os.environ, "PYMLUOPS_SIM_DEVICE": str(folder / "small.toml"), "PYMLUOPS_SIM_CHECK": "all"},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, limit),
    )
    assert (done.stdout, done.stderr) == ("0 3 small 8 1024\n", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('base = "MLU999"', "base: no model is called 'MLU999'"),
        ("base = MLU590", "base: expected the name of a model in quotes, got MLU590"),
        ('base = "MLU590"\nclusters = 17', "clusters: expected 1 to 16"),
        ('base = "MLU590"\nclusters = 2.5', "clusters: expected an integer from 0 to 2147483647, got 2.5"),
        ('base = "MLU590"\nclusters = 2\nclusters = 2', "clusters: given twice"),
        ('base = "MLU590"\ncores = 2', "cores: expected only base, name and the figures of a device"),
        ('base = "MLU590"\nname = ""', 'name: expected a text of 1 to 31 characters in quotes, got ""'),
        ("[card]", "expected KEY = VALUE, got '[card]'"),
        ("arch = 592", "name: expected 1 to 31 characters"),
    ],
)
def test_a_wrong_device_file_is_explained(folder: Path, tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "card.toml"
    path.write_text(text, encoding="utf-8")
    done = loaded(folder, PYMLUOPS_SIM_DEVICE=str(path))
    assert done.stderr == f"mlusim: PYMLUOPS_SIM_DEVICE: {path}: {why}; there is no device\n"


def test_the_host_touches_device_memory_before_the_first_launch(folder: Path) -> None:
    done = run([folder / "program"], PYMLUOPS_SIM_CHECK="memory", TOUCH="1")
    assert done.returncode == -11
    assert done.stderr.startswith("mlusim: host code touched device memory (GDRAM); ")
