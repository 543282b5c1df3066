"""Small problems of every operator for the tests of the benchmark."""

from __future__ import annotations

from benchmarks.cases import Case

_SPACE = {"batch": 2, "space": [6, 9, 11], "kernel": 3, "sites": "uniform"}

_PROBLEMS = {
    "tin_shift": [{"shape": [2, 5, 6, 7], "groups": 3, "largest_shift": 6}],
    "psamask": [
        {"shape": [2, 5, 4], "mask": mask, "mode": mode} for mask in (3, 4, 9, 12) for mode in ("collect", "distribute")
    ],
    "three_interpolate": [
        {"batch": 2, "channels": channels, "points": 70, "features": features}
        for channels, features in ((16, 9), (5, 90), (32, 3))
    ],
    "border_align": [
        {"batch": 2, "size": [5, 7], "channels": 70, "boxes": 11, "pool": 4},
        {"batch": 1, "size": [1, 3], "channels": 3, "boxes": 3, "pool": 1},
    ],
    "get_indice_pairs": [
        {**_SPACE, "rows": 300, "stride": 1, "padding": [1, 1, 1], "submanifold": True},
        {**_SPACE, "rows": 300, "stride": 2, "padding": [0, 1, 1], "submanifold": False},
        {**_SPACE, "rows": 30, "kernel": 2, "stride": 2, "padding": [0, 0, 0], "submanifold": False},
    ],
}


def small_cases(family: str | None = None) -> list[Case]:
    """One case for each operator, type and set of parameters."""
    return [
        Case(f"{operator}/{number}/{dtype}", name, operator, str(number), "small", dtype, facts)
        for name, problems in _PROBLEMS.items()
        if family in (None, name)
        for operator in operators(name)
        for dtype in _dtypes(name)
        for number, facts in enumerate(problems)
    ]


def operators(family: str) -> list[str]:
    return [family] if family == "get_indice_pairs" else [f"{family}_forward", f"{family}_backward"]


def _dtypes(family: str) -> list[str]:
    return {"get_indice_pairs": ["int32"], "psamask": ["float32"]}.get(family, ["float32", "float16"])
