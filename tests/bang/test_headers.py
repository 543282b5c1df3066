"""Headers with BANG C are put into the source that includes them; all others stay where they are."""

from __future__ import annotations

from pathlib import Path

import pytest

from pymluops.bang._headers import Expander, Source
from pymluops.sim.toolchain import CompileError

ARRAY = "__nram__ float buffer[4];\n"


def write(folder: Path, **files: str) -> None:
    for name, text in files.items():
        path = folder / name.replace("__", "/").replace("_h", ".h")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def expand(text: str, folder: Path, *include_dirs: Path) -> Source:
    return Expander(include_dirs, []).expand(text, "main.mlu", folder)


def test_a_header_with_arrays_is_put_in_and_lines_stay(tmp_path: Path) -> None:
    write(tmp_path, a_h=ARRAY)
    source = expand('int x;\n#include "a.h"  // arrays\nint y;\n', tmp_path)
    lines = source.text.splitlines()
    assert lines[0] == '#line 1 "main.mlu"'
    place = lines.index(ARRAY.strip())
    assert lines[place - 1] == f'#line 1 "{tmp_path / "a.h"}"'
    assert lines[lines.index("int y;") - 1] == '#line 3 "main.mlu"'
    assert source.files == [tmp_path / "a.h"]


def test_a_plain_header_stays_for_the_compiler(tmp_path: Path) -> None:
    write(tmp_path, plain_h="int plain();\n")
    source = expand('#include "plain.h"\n#include <vector>\n', tmp_path)
    assert f'#include "{tmp_path / "plain.h"}"' in source.text
    assert "#include <vector>" in source.text
    assert "int plain" not in source.text
    assert source.files == [tmp_path / "plain.h"]  # its contents count for the cache all the same


def test_a_plain_header_is_put_in_for_what_it_includes(tmp_path: Path) -> None:
    write(tmp_path, outer_h='#include "deep/inner.h"\n', deep__inner_h=ARRAY)
    source = expand('#include "outer.h"\n', tmp_path)
    assert source.text.count(ARRAY) == 1
    assert set(source.files) == {tmp_path / "outer.h", tmp_path / "deep" / "inner.h"}


@pytest.mark.parametrize("header", [f"#pragma once\n{ARRAY}", f"#ifndef A_H\n#define A_H\n{ARRAY}#endif\n"])
def test_a_header_is_put_in_once(header: str, tmp_path: Path) -> None:
    write(tmp_path, a_h=header, b_h='#include "a.h"\n__mlu_func__ void f() {}\n')
    source = expand('#include "a.h"\n#include "b.h"\n#include "a.h"\n', tmp_path)
    assert source.text.count(ARRAY) == 1
    assert "#pragma once" not in source.text


def test_a_header_in_a_condition_is_put_in_again(tmp_path: Path) -> None:
    """The first place may not be compiled."""
    write(tmp_path, a_h=f"#pragma once\n{ARRAY}")
    source = expand('#if SOMETHING\n#include "a.h"\n#endif\n#include "a.h"\n', tmp_path)
    assert source.text.count(ARRAY) == 2
    assert source.text.count("#ifndef MLUOPS_ONCE_") == 2


def test_a_header_without_a_guard_is_put_in_each_time(tmp_path: Path) -> None:
    write(tmp_path, item_h="__nram__ int ITEM[2];\n")
    source = expand('#define ITEM a\n#include "item.h"\n#undef ITEM\n#define ITEM b\n#include "item.h"\n', tmp_path)
    assert source.text.count("__nram__ int ITEM[2];") == 2


def test_headers_that_include_each_other_end(tmp_path: Path) -> None:
    write(tmp_path, a_h=f'#pragma once\n#include "b.h"\n{ARRAY}', b_h='#pragma once\n#include "a.h"\nint b;\n')
    source = expand('#include "a.h"\n', tmp_path)
    assert source.text.count(ARRAY) == source.text.count("int b;") == 1


def test_the_folder_of_the_file_comes_before_the_others(tmp_path: Path) -> None:
    write(tmp_path, one__a_h="__nram__ int first[1];\n", two__a_h="__nram__ int second[1];\n")
    assert "first" in expand('#include "a.h"\n', tmp_path / "one", tmp_path / "two").text
    source = expand("#include <a.h>\n", tmp_path / "one", tmp_path / "two")
    assert "second" in source.text
    assert source.absent == []
    assert expand('#include "a.h"\n', tmp_path, tmp_path / "two").absent == [tmp_path / "a.h"]


def test_includes_in_comments_and_dead_code_stay(tmp_path: Path) -> None:
    write(tmp_path, a_h=ARRAY)
    text = '/*\n#include "a.h"\n*/\n#if 0\n#include "a.h"\n#endif\n'
    assert expand(text, tmp_path).text == f'#line 1 "main.mlu"\n{text}'


@pytest.mark.thorough
def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    names = [f"h{i}" for i in range(18)]
    for name, following in zip(names, [*names[1:], None]):
        twice = f'#include "{following}.h"\n' * 2 if following else ARRAY
        (tmp_path / f"{name}.h").write_text(twice, encoding="utf-8")
    with pytest.raises(CompileError, match="headers include each other more than"):
        expand('#include "h0.h"\n', tmp_path)


@pytest.mark.parametrize("first", ["", ARRAY])
def test_headers_that_include_each_other_through_their_folder(first: str, tmp_path: Path) -> None:
    for one, other in ("ab", "ba"):
        (tmp_path / "u").mkdir(exist_ok=True)
        (tmp_path / "u" / f"{one}.h").write_text(f'#pragma once\n{first}#include "../u/{other}.h"\nint {one};\n')
    source = expand('#include "u/a.h"\n#include "u/../u/a.h"\n#include "u/b.h"\n', tmp_path)
    assert source.files == [tmp_path / "u/a.h", tmp_path / "u/../u/b.h"]
    assert source.text.count("int a;") == source.text.count("int b;") == (1 if first else 0)


def test_a_link_is_the_same_header_where_a_pragma_says_once(tmp_path: Path) -> None:
    write(tmp_path, a_h=f"#pragma once\n{ARRAY}")
    (tmp_path / "b.h").symlink_to("a.h")
    (tmp_path / "folder").symlink_to(".")
    source = expand('#include "a.h"\n#include "b.h"\n#include "folder/a.h"\n', tmp_path)
    assert source.text.count(ARRAY) == 1
    assert source.files == [tmp_path / "a.h", tmp_path / "b.h"]
