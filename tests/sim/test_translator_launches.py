"""Launches of kernels, as the translator writes them."""

from __future__ import annotations

import pytest

from support.translation import EACH, in_function, launch, refusal, translated


@pytest.mark.parametrize(
    "kernel",
    [
        "kernel",
        "kernel<float>",
        "kernel<float, 3>",
        "kernel<std::pair<int, float>, vec<vec<int>>>",
        "kernel<(3 > 2), sizeof(int)>",
        "ns::kernel",
        "::ns::inner::kernel<T>",
        "A<int>::kernel<T>",
        "A<B<int>>::template kernel<T>",
        "KERNEL_OF(float)",
        "ns::KERNEL_OF(float, 3)",
    ],
)
def test_a_kernel_is_named(kernel: str) -> None:
    assert in_function(f"{kernel}<<<dim, type, queue>>>(a, b + 1);") == launch(kernel, ", a, b + 1") + ";"


@pytest.mark.parametrize(
    "before", ["", "return ", "if (x) ", "else ", "(void)", "CHECK(", "{ ", "x ? y() : ", "label: "]
)
def test_what_stands_before_a_launch_stays(before: str) -> None:
    for kernel in ("kernel", "::kernel<int>"):
        after = ")" if before == "CHECK(" else " }" if before == "{ " else ""
        source = f"{before}{kernel}<<<dim, type, queue>>>(){after};"
        assert in_function(source) == f"{before}{launch(kernel)}{after};"


@pytest.mark.parametrize("callee", ["table[i]", "(flag ? one : two)", "object.kernel", "list->kernels[2]", "f(1)[2]"])
def test_other_expressions_are_evaluated_at_the_launch(callee: str) -> None:
    call = f"[mlusim_kernel = {callee}](const auto &...mlusim_each) {{ mlusim_kernel(mlusim_each...); }}"
    wanted = f'::mlusim::mlusim_launch("{callee}", &::mlusim::mlusim_unit, (dim), (type), (queue), {call}, x);'
    assert in_function(f"{callee}<<<dim, type, queue>>>(x);") == wanted


@pytest.mark.parametrize(
    ("config", "wanted"),
    [
        ("dim, type, queue", "(dim), (type), (queue)"),
        ("{4, 1, 1}, type, queue", "{4, 1, 1}, (type), (queue)"),
        ("cnrtDim3_t{4, 1, 1}, f(a, b), x[1, 2]", "(cnrtDim3_t{4, 1, 1}), (f(a, b)), (x[1, 2])"),
        ("dims<1, 2>(), f<a>(b), c", "(dims<1, 2>()), (f<a>(b)), (c)"),
        ("d, t, q<vec<vec<int>>>(0)", "(d), (t), (q<vec<vec<int>>>(0))"),
        ("d, t, get<vec<vec<int>>>", "(d), (t), (get<vec<vec<int>>>)"),
        ("a < b ? c : d, t, q", "(a < b ? c : d), (t), (q)"),
        ("a < b ? c : d, x<1, 2>::type, q", "(a < b ? c : d), (x<1, 2>::type), (q)"),
        ("CONFIGURATION", "CONFIGURATION"),
    ],
)
def test_the_parts_of_a_configuration(config: str, wanted: str) -> None:
    assert in_function(f"kernel<<<{config}>>>(x);") == launch("kernel", ", x", wanted) + ";"


def test_null_becomes_a_null_pointer() -> None:
    source = "kernel<<<dim, type, NULL>>>(NULL, f(NULL), NULL + 1, g(1, NULL), NULL);"
    wanted = ", nullptr, f(NULL), NULL + 1, g(1, NULL), nullptr"
    assert in_function(source) == launch("kernel", wanted, "(dim), (type), (NULL)") + ";"


def test_lines_stay_where_they_were() -> None:
    source = """void f() {
  CHECK(scale<half,
              3>  // what it is
        <<<dim,
           type, queue>>>
        (a,
         b));
  next();
}
"""
    lines = translated(source).split("\n")
    assert lines[1] == '  CHECK(::mlusim::mlusim_launch("scale<half, 3>", &::mlusim::mlusim_unit, '
    assert lines[2] == "  // what it is"
    assert lines[3:5] == ["        (dim),", "           (type), (queue)"]
    assert lines[5] == f"        , {EACH.format('scale<half, 3>')}, a,"
    assert lines[6:] == ["         b));", "  next();", "}", ""]


def test_a_launch_in_the_body_of_a_macro() -> None:
    source = "#define RUN(name, T, ...) \\\n  name##_kernel<T> \\\n    <<<d, t, q>>>(__VA_ARGS__)\nint x;\n"
    call = EACH.format("name##_kernel<T>")
    text = "::mlusim::mlusim_launch(MLUSIM_TEXT(name##_kernel<T>), &::mlusim::mlusim_unit, "
    wanted = f"#define RUN(name, T, ...) \\\n  {text} \\\n    (d), (t), (q), {call}, __VA_ARGS__)\nint x;\n"
    assert translated(source) == wanted


def test_the_name_of_a_kernel_is_a_string() -> None:
    result = in_function("kernel<'\"', '\\n'><<<dim, type, queue>>>();")
    assert "launch(\"kernel<'\\\"', '\\\\n'>\", " in result


@pytest.mark.parametrize(
    "text",
    [
        '"k<<<a, b, c>>>(NULL) __nram__ sync;"',
        "'<<<'",
        'R"(k<<<a, b, c>>>(d) "__nram__ float x[2];)"',
        'u8R"x(k<<<a, b, c>>>(d))" k<<<a, b, c>>>(d))x"',
        "// k<<<a, b, c>>>(d)",
        "// continued \\\n k<<<a, b, c>>>(d)",
        "/* k<<<a, b, c>>>(d)\n __nram__ float x[2]; */",
        "a<b<c<d>>> x;",
        "std::vector<std::vector<std::vector<int>>> x(3);",
        "x = y << 3 >> 4 >>1;",
        "operator<<<int>(a, b);",
        "n = 1'000'000 + 0x1p-3 + 'a';",
        "#include <a<<<b>>>(c)>",
        "#pragma bang walign(64)",
        "#error don't __nram__",
        "#define UNFINISHED(a",
        "#",
        '#define S "<<<" // <<<\n',
    ],
)
def test_what_is_no_launch_stays(text: str) -> None:
    source = f"void f() {{\n{text}\n}}\n"
    assert translated(source) == source


@pytest.mark.parametrize(
    ("source", "line", "words"),
    [
        ("void f() {\n\n  kernel<<<dim, type>>>(x);\n}", 3, "three parts"),
        ("void f() {\n  kernel<<<dim, type, queue, 0>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<dim, , queue>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<>>>(x);\n}", 2, "three parts"),
        ("void f() {\n  kernel<<<dim, type, queue>>>;\n}", 2, "`>>>(`"),
        ("void f() {\n  kernel<<<dim, type, queue);\n}", 2, "`>>>(`"),
        ("void f() {\n  <<<dim, type, queue>>>(x);\n}", 2, "no kernel"),
        ("void f() {\n  return <<<dim, type, queue>>>(x);\n}", 2, "no kernel"),
        ("<<<a, b, c>>>(d);", 1, "no kernel"),
        ("void f() {\n  kernel<<<dim, type, queue>>>(x;\n}", 2, "not closed"),
        ("void f() {\n  >>> kernel><<<dim, type, queue>>>(x);\n}", 2, "not closed"),
        ("#define A \\\n  b<<<1>>>(2)\n", 2, "three parts"),
    ],
)
def test_launches_that_make_no_sense(source: str, line: int, words: str) -> None:
    found, message = refusal(source)
    assert found == line
    assert words in message


# ---- Kernels without launches, and launches without kernels --------------------------------------

KERNELS = """__mlu_global__ void add(float *x) { x[taskId] += 1; }
template <typename T>
__mlu_entry__ void scale(T *x, int n) {}
__mlu_global__ void later(float *x);
__mlu_func__ void help(float *x) {}
static void plain(float *x) {}
extern "C" __mlu_entry__ __attribute__((noinline)) void tanh(float *x) {}
"""


@pytest.mark.parametrize(
    ("call", "name"),
    [
        ("void run(float *x) { add(x); }", "add"),
        ("__mlu_func__ void inner(float *x) { if (x) ::add(x); }", "add"),
        ("__mlu_entry__ void other(float *x) { later(x); }", "later"),
        ("void run(float *x) { scale<float>(x, 3); }", "scale"),
        ("void run(float *x) { return scale(x, 3); }", "scale"),
        ("#define RUN(x) do { add(x); } while (0)\nvoid run(float *x) { RUN(x); }", "add"),
    ],
)
def test_a_kernel_is_not_called_like_a_function(call: str, name: str) -> None:
    line, message = refusal(KERNELS + call)
    assert line == KERNELS.count("\n") + 1
    assert message == f"`{name}` is a kernel, and no function to call: write `{name}<<<dim, type, queue>>>(...)`"


@pytest.mark.parametrize("name", ["help", "plain", "::plain"])
def test_only_kernels_are_launched(name: str) -> None:
    line, message = refusal(f"{KERNELS}void run(float *x) {{\n  {name}<<<dim, type, queue>>>(x);\n}}\n")
    assert line == KERNELS.count("\n") + 2
    wanted = f"`{name.removeprefix('::')}` is no kernel: `<<<...>>>` launches what __mlu_global__"
    assert message.startswith(wanted)


@pytest.mark.parametrize(
    "text",
    [
        "void run(float *x) { auto k = add; auto p = &scale<float>; use(later); }",
        "void run(float *x) { add<<<d, t, q>>>(x); scale<float><<<d, t, q>>>(x, 1); tanh<<<d, t, q>>>(x); }",
        "void add(float *x, int n) { add(x); }",  # an overload of the host's may be meant
        "float run(float x) { return tanh(x); }",
        "void run(void (*add)(float *), float *x) { (*add)(x); object.add(x); object->later(x); }",
        "void run(float *x) { auto scale = [](float *x) {}; scale(x); }",
        "template __mlu_entry__ void scale<half>(half *, int);",
        "void run(float *x, void (*plain)(float *)) { void help(); plain<<<d, t, q>>>(x); other<<<d, t, q>>>(x); }",
        "struct S { void add(float *x) {} void run() { add(0); } };",
        "#define add(x) later_of(x)\nvoid run(float *x) { add(x); }",
    ],
)
def test_names_that_may_mean_something_else_are_left_to_the_compiler(text: str) -> None:
    translated(KERNELS + text)


@pytest.mark.parametrize(
    ("callee", "name"),
    [
        ("ONE", "MLUSIM_TEXT(ONE)"),
        ("NAMED(first)", "MLUSIM_TEXT(NAMED(first))"),
        ("kernel<ONE>", "MLUSIM_TEXT(kernel<ONE>)"),
        ("other", '"other"'),
    ],
)
def test_a_macro_is_replaced_in_the_name_of_a_kernel(callee: str, name: str) -> None:
    source = f"#define ONE second\n#define NAMED(x) x##_kernel\nvoid f() {{ {callee}<<<d, t, q>>>(x); }}"
    assert f"::mlusim::mlusim_launch({name}, &::mlusim::mlusim_unit, " in translated(source)


# ---- Macros and conditions -----------------------------------------------------------------------


@pytest.mark.parametrize("head", ["RUN(k)", "RUN"])
def test_arguments_behind_a_macro(head: str) -> None:
    text = translated(f"#define {head} k<<<dim, type, queue>>>\nvoid f() {{ {head}(x); }}")
    launcher = "::mlusim::mlusim_launcher(MLUSIM_TEXT(k), &::mlusim::mlusim_unit, (dim), (type), (queue), "
    assert text.splitlines()[0] == f"#define {head} {launcher}{EACH.format('k')})"
    assert text.splitlines()[1] == f"void f() {{ {head}(x); }}"
    assert refusal("void f() { k<<<dim, type, queue>>>; }")[1].endswith("no `>>>(` follows")


def test_the_preprocessor_chooses_within_a_launch() -> None:
    lines = ["void f() {", "k<<<dim,", "#ifdef A", "  one,", "#else", "  two,", "#endif", "  queue>>>(x);", "}"]
    text = translated("\n".join(lines)).splitlines()
    assert text[1] == '::mlusim::mlusim_launch("k", &::mlusim::mlusim_unit, dim,'
    assert text[2:7] == lines[2:7]
    assert text[7].startswith("  queue, [=](")
