"""The generated pages of the documentation: every public name and every operator is on one."""

from __future__ import annotations

import importlib
import json
import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

from pymluops.dropins._extensions import extensions  # noqa: E402
from website import c_headers, docstrings, formulas, links, pages, reading  # noqa: E402

#: These are read only, since they import PyTorch, or what is not installed everywhere.
NOT_IMPORTED = ("pymluops.torch", "pymluops.torch.sparse", "pymluops.bang.testing", "pymluops.oracle")
#: A module gives these when it is asked, and ``import *`` does not.
ASKED_FOR = {"abs", *reading.exports("pymluops.functions"), "install", "uninstall"}


@pytest.fixture(scope="module")
def site() -> dict[str, str]:
    """All generated pages, with docstrings as they stand."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(docstrings, "as_fields", lambda document: document)
        return pages.all_pages()


def described(site: dict[str, str]) -> set[str]:
    """The names with a directive of their own."""
    pattern = re.compile(r"^\.\. py:(?:function|class|exception|data):: ([\w.]+)", re.MULTILINE)
    return {name for text in site.values() for name in pattern.findall(text)}


def test_every_public_name_is_on_a_page(site: dict[str, str]) -> None:
    names = reading.public_names()
    assert len(names) > 700
    known = described(site)
    for full, what in names.items():
        module = full.rpartition(".")[0]
        text = site[f"api/{module}.rst"]
        listed = re.search(rf"`{re.escape(what.name)} <([\w.]+)>`", text)
        assert full in known if listed is None else listed[1] in known, full


def test_no_name_is_described_twice(site: dict[str, str]) -> None:
    pattern = re.compile(r"^\.\. py:(?:function|class|exception|data):: ([\w.]+)", re.MULTILINE)
    every = [name for text in site.values() for name in pattern.findall(text)]
    assert {name for name in every if every.count(name) > 1} == set()


@pytest.mark.parametrize("module", [name for name in reading.PACKAGES if name not in NOT_IMPORTED])
def test_the_sources_tell_the_names_that_a_module_has(module: str) -> None:
    imported = importlib.import_module(module)
    told = set(reading.exports(module))
    assert told >= set(getattr(imported, "__all__", told))
    assert {name for name in told if not hasattr(imported, name)} == set()
    assert told - set(getattr(imported, "__all__", told)) <= ASKED_FOR


def test_names_have_their_docstrings(site: dict[str, str]) -> None:
    lacking = [
        full
        for full, what in reading.public_names().items()
        if not what.document and not full.startswith("pymluops.functions.mlu")
    ]
    assert lacking == []
    assert "One handle serves one thread at a time" in site["api/pymluops.rst"]


def test_every_family_has_a_page_with_its_c_functions(site: dict[str, str]) -> None:
    header = site["c/mlu_op.rst"] + site["c/mluops_ext.rst"]
    declared = set(re.findall(r"^\.\. c:function:: .*?(\w+)\(", header, re.MULTILINE))
    assert len(declared) > 250
    families = [path.stem for path in (ROOT / "pymluops" / "ops").glob("[!_]*.py")]
    for family in families:
        text = site[f"operators/{family}.rst"]
        functions = re.findall(r":c:func:`(\w+)`", text)
        assert functions, family
        assert set(functions) <= declared, family
        papers = re.findall(r"arXiv:[\d.]+\d", (ROOT / "pymluops" / "ops" / f"{family}.py").read_text(encoding="utf-8"))
        assert all(paper in text for paper in papers), family
    results = json.loads((ROOT / "benchmarks" / "results" / "epyc-2-cpus.json").read_text(encoding="utf-8"))
    assert all(case["id"] in site[f"operators/{case['family']}.rst"] for case in results["cases"])
    assert sum("pointnet2_batch_cuda" in site[f"operators/{family}.rst"] for family in families) >= 4
    assert sum(".. image::" in site[f"operators/{family}.rst"] for family in families) >= 6


def test_every_family_has_a_formula_or_numbered_steps(site: dict[str, str]) -> None:
    families = {path.stem for path in (ROOT / "pymluops" / "ops").glob("[!_]*.py")}
    written = {path.stem for path in formulas.FOLDER.glob("[!_]*.rst")}
    assert written == families
    for family in families:
        text = site[f"operators/{family}.rst"]
        said = text.partition("What it computes\n")[2].partition("\n---")[0]
        steps = re.findall(r"^(\d+)\. \S", said, re.MULTILINE)
        assert ".. math::\n\n   " in said or steps[:2] == ["1", "2"], family


def test_a_family_without_a_formula_is_refused() -> None:
    with pytest.raises(SystemExit, match=r"docs/formulas/no_family\.rst: is missing; write the formula of no_family"):
        formulas.formula("no_family")


def test_functions_of_the_header_are_on_the_pages_of_their_operators(site: dict[str, str]) -> None:
    header = site["c/mlu_op.rst"]
    declared = set(re.findall(r"^\.\. c:function:: .*?(\w+)\(", header, re.MULTILINE))
    assert len(declared) == 189
    pages_of = {name: text for name, text in site.items() if name.startswith("operators/")}
    named = {name for text in pages_of.values() for name in re.findall(r":c:func:`(\w+)`", text)}
    # Functions of the library itself, of its handles and its tensors, compute nothing.
    library = re.compile(
        r"mluOp(?:Create|Destroy|UpdateContextInformation|[GS]etQueue|[GS]etAtomicsMode|[GS]etQuantizeRoundMode"
        r"|GetErrorString|GetLibVersion|GetSizeOfDataType|GetTensorAndDataFromTensorSet|GetTensorElementNum"
        r"|[GS]etGenCase\w+|\w*(?:TensorDescriptor|TensorSet|SeqData)\w*|\w*GroupTensorDescriptors)"
    )
    assert {name for name in declared - named if not library.fullmatch(name)} == set()
    for family, names in {
        "aligned_regions": ("mluOpRoiAlignForward_v2", "mluOpSetRoiAlignForwardDescriptor_v2"),
        "carafe_upsample": ("mluOpCarafeForward", "mluOpCreateCarafeDescriptor"),
        "fourier_transforms": ("mluOpExecFFT", "mluOpMakeFFTPlanMany"),
        "optimizer_steps": ("mluOpAdamW", "mluOpSetAdamWDescAttr"),
        "ball_query": ("mluopsExtBallQueryDouble",),
    }.items():
        assert all(f":c:func:`{name}`" in pages_of[f"operators/{family}.rst"] for name in names), family


def test_pages_name_the_drop_ins_whose_tables_name_their_functions(site: dict[str, str]) -> None:
    on_page = {
        function: text
        for name, text in site.items()
        if name.startswith("operators/")
        for function in re.findall(r":c:func:`(\w+)`", text)
    }
    for extension in extensions():
        name = (extension.MODULES or extension.LAST_NAMES)[0]
        for function in re.findall(r"\bmlu(?:Op|opsExt)\w+", " ".join(row.library for row in extension.ROWS)):
            assert f"``{name}``" in on_page[function], (function, name)
    with_spconv = {name for name, text in site.items() if 'pymluops.install("spconv")' in text and "operators/" in name}
    assert with_spconv == {f"operators/{one}.rst" for one in ("get_indice_pairs", "indice_convolution", "voxelization")}


def test_every_example_is_in_the_gallery(site: dict[str, str]) -> None:
    for pattern in ("kernels/*.mlu", "puzzles/*.mlu", "programs/*.mlu", "c/*.c"):
        for path in (ROOT / "examples").glob(pattern):
            assert f"/../{path.relative_to(ROOT).as_posix()}" in site[f"gallery/{path.parent.name}.rst"]


def test_links_to_other_folders_lead_to_pages_or_name_the_file() -> None:
    from website.documents import with_links

    text = (
        "[a](../benchmarks/README.md#x) [b](../examples/c) [c](torch.md) [d](https://x.org/)\n```sh\n[e](../f)\n```\n"
        "[f](../benchmarks/results/x.json) [`tools/y.py`](../tools/y.py) `g[1](2)` [`h`](torch.md)\n"
    )
    found = with_links(text, "docs/x.md", "docs/x.md")
    assert found == (
        "[a](generated/documents/benchmarks.md#x) [b](generated/gallery/c.rst) [c](torch.md) [d](https://x.org/)\n"
        "```sh\n[e](../f)\n```\nf (`benchmarks/results/x.json`) `tools/y.py` `g[1](2)` [`h`](torch.md)\n"
    )


def test_every_page_says_first_for_whom_it_is(site: dict[str, str]) -> None:
    documents = {path.name: path.read_text(encoding="utf-8") for path in (ROOT / "docs").glob("*.md")}
    for name, text in (site | documents).items():
        body = re.sub(r"\A# .*\n+|\A.+\n=+\n+", "", text)
        assert body.startswith("For "), (name, body[:80])


def test_titles_of_modules_keep_their_names(site: dict[str, str]) -> None:
    assert site["api/pymluops.torch.rst"].startswith("pymluops.torch: PyTorch\n===")
    for name in ("errors", "enums", "mmcv"):
        assert site[f"api/pymluops.{name}.rst"].startswith(f"pymluops.{name}\n===")


def test_c_types_are_in_the_index(site: dict[str, str]) -> None:
    header = (ROOT / "native" / "include" / "mlu_op.h").read_text(encoding="utf-8")
    names = re.findall(r"^(?:typedef struct .*\*|\} )(\w+_t);", header, re.MULTILINE)
    assert len(names) > 30
    described = set(re.findall(r"^\.\. c:(?:type|enum):: .*?(\w+)$", site["c/mlu_op.rst"], re.MULTILINE))
    assert described == set(names)
    assert "   .. c:enumerator:: MLUOP_DTYPE_BFLOAT16 = 17\n" in site["c/mlu_op.rst"]


def test_parameters_of_c_functions_are_not_searched() -> None:
    class Domain:
        def get_objects(self) -> list[tuple[str, str, str]]:
            return [("f", "f", "function"), ("f.x", "x", "functionParam"), ("t", "t", "type")]

    found, connected = Domain(), {}
    app: Any = types.SimpleNamespace(
        connect=connected.__setitem__, env=types.SimpleNamespace(get_domain={"c": found}.__getitem__)
    )
    c_headers.connect(app)
    connected["builder-inited"](app)
    assert [name for name, *_ in found.get_objects()] == ["f", "t"]


def test_wrong_links_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<p id="here"><a href="b.html#there">x</a><a href="#here">y</a></p>')
    (tmp_path / "b.html").write_text('<a href="c.html">x</a><a href="https://host">y</a><a href="https://a.b/c">z</a>')
    wrong: Any = links.wrong_links(tmp_path)
    assert wrong == [
        "a.html: b.html#there: the page has no such anchor",
        "b.html: c.html: there is no such file",
        "b.html: https://host: this is no address",
    ]


def test_pages_that_are_not_wanted_any_more_go(tmp_path: Path, site: dict[str, str]) -> None:
    old = tmp_path / pages.FOLDER / "operators" / "gone.rst"
    old.parent.mkdir(parents=True)
    old.write_text("old")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "all_pages", lambda: {"operators/index.rst": "new"})
        pages.write(tmp_path)
    assert [path.name for path in (tmp_path / pages.FOLDER).rglob("*.rst")] == ["index.rst"]


def test_every_term_of_the_glossary_stands_over_its_meaning() -> None:
    text = (ROOT / "docs" / "glossary.md").read_text(encoding="utf-8")
    assert re.findall(r"^[^\s:|#`>-].* : .*", text, re.MULTILINE) == []
    terms = re.findall(r"^(.+)\n: ", text, re.MULTILINE)
    assert {"queue", "handle", "NRAM", "GDRAM", "cluster", "union type", "kernel map", "indice pairs"} <= set(terms)
    assert terms == sorted(terms, key=str.casefold)
