"""What includes what in the simulator and in core: includes run one way."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NATIVE = Path(__file__).resolve().parents[2] / "native"
SIM = NATIVE / "sim"

#: From the bottom to the top: a folder includes itself and those before it.
LAYERS = ("include", "base", "machine", "check", "profile", "intrinsics", "runtime")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def includes(path: Path) -> list[str]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def sources(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".h", ".cpp", ".inc"))


def layer_of(name: str) -> str | None:
    """The folder of an included file: public headers are named without theirs. None if it is not the simulator's."""
    first = name.partition("/")[0]
    if first in LAYERS:
        return first
    return "include" if (SIM / "include" / name).is_file() else None


@pytest.mark.parametrize("layer", LAYERS)
def test_includes_of_the_simulator_run_one_way(layer: str) -> None:
    allowed = LAYERS[: LAYERS.index(layer) + 1]
    files = sources(SIM / layer)
    assert files
    wrong = [
        f"{path.name}: {name}" for path in files for name in includes(path) if layer_of(name) not in (*allowed, None)
    ]
    assert wrong == []


def test_every_folder_of_the_simulator_is_a_layer() -> None:
    folders = {path.name for path in SIM.iterdir() if path.is_dir()}
    assert folders == set(LAYERS)


def test_the_simulator_uses_little_of_the_rest() -> None:
    found = {
        name
        for layer in LAYERS
        for path in sources(SIM / layer)
        for name in includes(path)
        if layer_of(name) is None and (NATIVE / name).is_file()
    }
    assert found == {"cpu/level.h", "cpu/vector.h"}


def test_core_includes_no_operator() -> None:
    for path in sources(NATIVE / "core"):
        assert [name for name in includes(path) if name.startswith(("ops/", "cpu/", "bang/", "sim/"))] == [], path


def test_code_for_a_card_includes_nothing_of_the_simulator() -> None:
    folders = [NATIVE / "bang", NATIVE / "ops"]
    files = [path for folder in folders for path in (*sources(folder), *sorted(folder.rglob("*.mlu")))]
    found = {name for path in files for name in includes(path) if layer_of(name) or name.startswith("sim/")}
    assert found == {"cnrt.h"}  # which the vendor has too


def test_the_target_says_nothing_of_one_operator() -> None:
    text = (NATIVE / "core" / "target.h").read_text(encoding="utf-8").lower()
    families = [path.name for path in (NATIVE / "ops").iterdir() if path.is_dir()]
    assert [word for word in (*families, "sparse") if word in text] == []
