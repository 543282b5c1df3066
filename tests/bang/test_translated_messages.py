"""What a compiler says about arrays on chip, kernels and launches, in words of the source."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pymluops import bang
from pymluops.bang._compilers import find_compiler
from pymluops.bang._translated_messages import in_words_of_bang
from pymluops.bang.driver import main

HEAD = """__nram__ float a[64];
__mlu_entry__ void f(float *x, int n) { x[0] = n; }
template <typename T>
__mlu_entry__ void t(T *x) { x.y = 1; }
"""
INTERNAL = re.compile(r"mlusim|mluops_module|launch\.h|const auto|lambda|decltype|MLUOPS|tag_\d")

#: Each line, and a part of the one error that it is to have on its line.
WRONG = {
    "void r(float *x) { f<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x); }": "too few arguments to function",
    "void r(float *x) { f<<<{1, 1, 1}, cnrtFuncTypeBlock, 5.0>>>(x, 1); }": "takes a cnrtDim3_t, a cnrtFunctionType_t",
    "void r(float *x) { f<<<3, cnrtFuncTypeBlock, nullptr>>>(x, 1); }": "`<<<dim, type, queue>>>` takes a cnrtDim3_t",
    "void r(float *x) { g<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x); }": "‘g’ was not declared in this scope",
    'void r(float *x) { f<<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x, "a"); }': "invalid conversion from",
    "typedef int number; __mlu_entry__ number h(float *x) { return 1; }": "a kernel returns void, not number",
    "__mlu_entry__ void h(float *x) { a = 1; }": "in assignment of ‘int’ to ‘float [64]’",
    "__mlu_entry__ void h(float *x) { __bang_add(a, x); }": "__bang_add(float [64], float*&)",
    "__mlu_entry__ void h(float *x) { __nram__ int b[2][3]; __bang_add(b); }": "__bang_add(int [2][3])",
    "__nram__ nothing b[4];": "‘nothing’ was not declared in this scope",
    "__mlu_entry__ void h(float *x) { __nram__ nothing b[4]; }": "‘nothing’ was not declared in this scope",
    "__mlu_entry__ void h(float *x, nothing n) {}": "‘nothing’ has not been declared",
}


@pytest.fixture(autouse=True)
def _gcc() -> None:
    """The messages are GCC's."""
    assert find_compiler().kind == "GNU"


@pytest.mark.parametrize("text", WRONG)
def test_messages_are_about_the_source(text: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    source = f"{HEAD}{text}\n"
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(source)
    (tmp_path / "a.mlu").write_text(source)
    assert main(["-c", str(tmp_path / "a.mlu"), "-o", str(tmp_path / "a.o")]) == 1
    for said in (str(caught.value), capfd.readouterr().err):
        errors = re.findall(r"^.*?:(\d+)(?::\d+)?: error: (.*)$", said, re.MULTILINE)
        assert [line for line, _ in errors] == ["5"]
        assert WRONG[text] in errors[0][1]
        assert INTERNAL.search(said) is None


def test_an_error_in_a_template_names_the_launch() -> None:
    with pytest.raises(bang.CompileError) as caught:
        bang.compile(HEAD + "void r(float *x) { t<float><<<{1, 1, 1}, cnrtFuncTypeBlock, nullptr>>>(x); }\n")
    said = str(caught.value)
    assert re.search(r"^<source>:5:   required from here$", said, re.MULTILINE)
    assert re.search(r"^<source>:4:\d+: error: request for member ‘y’", said, re.MULTILINE)
    assert INTERNAL.search(said) is None


def test_no_error_is_lost() -> None:
    said = "a.mlu: In function ‘f()::mlusim_declaration_x::g()’:\na.mlu:1:2: error: something\n"
    assert in_words_of_bang(said, "/include") == said
    other = "a.mlu:1:2: error: ‘x’ was not declared\n    1 | x;\n      | ^\n"
    assert in_words_of_bang(other, "/include", {"a.mlu:1": 2}) == other
