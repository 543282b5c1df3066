"""Every function of the header: there is a callable, and wrong arguments are refused before anything is touched."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import pymluops
from functions.arguments import Arguments, Wrong, wrong_values
from pymluops import functions
from pymluops.functions._signature import SIGNATURES
from support.data_files import facts
from support.example import MOVING
from support.processes import python_output

NAMES = list(functions)


@pytest.fixture(scope="module")
def cpu() -> pymluops.Backend:
    return pymluops.load("cpu")


def expected_error(function: str, call: Any) -> BaseException:
    with pytest.raises((pymluops.MluOpError, TypeError)) as caught:
        call()
    error = caught.value
    assert function in str(error)
    return error


def test_every_function_of_the_abi_is_there() -> None:
    assert sorted(NAMES) == sorted(function["name"] for function in facts("abi.json")["functions"])
    assert len(functions) == len(NAMES) == 189
    assert set(NAMES) <= set(dir(functions))
    assert "mluOpAbs" in functions
    assert "mluOpabs" not in functions
    assert not hasattr(functions, "mluOpabs")


def test_importing_the_package_does_not_import_them() -> None:
    code = (
        "import sys, pymluops; print('pymluops.functions' in sys.modules); "
        "pymluops.functions; print('pymluops.functions' in sys.modules, 'pymluops._abi' in sys.modules)"
    )
    assert python_output(code).split() == ["False", "True", "False"]


@pytest.mark.parametrize("name", NAMES)
def test_signature_and_documentation(name: str) -> None:
    function, signature = getattr(functions, name), SIGNATURES[name]
    parameters = inspect.signature(function).parameters
    declared = [argument.name for argument in signature.arguments]
    given = [p.name for p in parameters.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert given == [parameter for parameter in declared if parameter in given]
    assert not any(argument.role == "descriptor" for argument in signature.given)
    assert ("handle" in parameters) == (signature.arguments[:1] != () and signature.arguments[0].role == "handle")
    assert ("handle" in parameters) != ("backend" in parameters)
    assert name in function.__doc__.splitlines()[0]
    for parameter in parameters:
        assert f"\n{parameter} : " in function.__doc__
    assert pickle.loads(pickle.dumps(function)) is function
    # The prototype is the header's.
    fact = next(fact for fact in facts("abi.json")["functions"] if fact["name"] == name)
    assert signature.prototype.count(",") == max(len(fact["params"]) - 1, 0)


@pytest.mark.parametrize("name", NAMES)
def test_wrong_arguments_touch_nothing(name: str, cpu: pymluops.Backend) -> None:
    function, signature = getattr(functions, name), SIGNATURES[name]
    with pymluops.use(cpu):
        expected_error(name, lambda: function(nonsense=1))
        expected_error(name, lambda: function(*range(40)))
        legal = Arguments(name, cpu)
        library = {"handle": Wrong()} if "handle" in signature.keywords else {"backend": Wrong()}
        with pytest.raises(pymluops.BadParamError):
            function(**legal.values, **library)
        if signature.given:
            required = [argument for argument in signature.given if argument.role != "reservespace"]
            without = {key: value for key, value in legal.values.items() if key != required[-1].name}
            assert isinstance(expected_error(name, lambda: function(**without)), TypeError)
        for argument in signature.given:
            for wrong in wrong_values(argument):
                legal = Arguments(name, cpu)
                call = dict(legal.values, **{argument.name: wrong})
                with pytest.raises(pymluops.BadParamError) as caught:
                    function(**call)
                assert argument.name in caught.value.detail, (argument, wrong, caught.value)
                assert name in (caught.value.function, *caught.value.detail.split(":"))
                assert legal.untouched()


@pytest.mark.parametrize("name", [name for name in NAMES if "workspace" in SIGNATURES[name].keywords])
def test_a_workspace_is_an_array_that_can_be_written(name: str, cpu: pymluops.Backend) -> None:
    legal = Arguments(name, cpu)
    for wrong in (Wrong(), 5, np.zeros(4).view(), np.zeros((4, 4))[:, 1], b"12345678"):
        if isinstance(wrong, np.ndarray):
            wrong.flags.writeable = False
        with pymluops.use(cpu), pytest.raises(pymluops.BadParamError, match="workspace: expected"):
            getattr(functions, name)(**legal.values, workspace=wrong)
    assert legal.untouched()


@pytest.mark.parametrize("name", NAMES)
def test_a_call_that_python_takes_reaches_the_library(name: str, cpu: pymluops.Backend) -> None:
    """What the library refuses is an error of ours; a function that it lacks is not supported."""
    legal = Arguments(name, cpu)
    if name in ("mluOpCreate", "mluOpDestroy"):
        return
    with pymluops.use(cpu):
        try:
            getattr(functions, name)(**legal.values)
        except pymluops.MluOpError as error:
            assert error.function or "belongs to" in error.detail
            assert not isinstance(error, pymluops.InternalError)


def test_size_functions_are_found() -> None:
    """Every parameter of a size function is one of the function that needs the workspace."""
    found = 0
    for signature in SIGNATURES.values():
        roles = [argument.role for argument in signature.arguments]
        assert ("workspace" in roles) == bool(signature.workspace)
        known = {argument.name.removesuffix("_desc").removeprefix("desc_") for argument in signature.arguments}
        for name in signature.workspace:
            found += 1
            for argument in SIGNATURES[name].arguments:
                if argument.role not in ("handle", "result"):
                    assert argument.name.removesuffix("_desc") in known, (signature.name, name, argument.name)
    assert found >= 27


def test_handles_and_queues() -> None:
    handle = functions.mluOpCreate(backend="sim")
    assert isinstance(handle, pymluops.Handle)
    with pymluops.Queue("sim") as queue:
        functions.mluOpSetQueue(queue, handle=handle)
        shifts = pymluops.DeviceArray.from_host(np.zeros((1, 1), np.int32), "sim")
        x = pymluops.DeviceArray.from_host(np.ones((1, 2, 2, 2), np.float32), "sim")
        y = pymluops.DeviceArray((1, 2, 2, 2), np.float32, "sim")
        MOVING.of(functions)(x, shifts, y, handle=handle)
        queue.sync()
        assert (y.to_host() == 1).all()
        queue.close()
        with pytest.raises(pymluops.NotInitializedError, match="its queue is closed"):
            MOVING.of(functions)(x, shifts, y, handle=handle)
    handle.close()
    handle = functions.mluOpCreate(backend="sim")
    with pymluops.Queue("sim") as queue:
        functions.mluOpSetQueue(queue, handle=handle)
        functions.mluOpSetQueue(None, handle=handle)
    MOVING.of(functions)(x, shifts, y, handle=handle)
    assert functions.mluOpGetQueue(handle=handle) is None
    functions.mluOpSetAtomicsMode(2, handle=handle)
    assert functions.mluOpGetAtomicsMode(handle=handle) is pymluops.enums.AtomicsMode.ALLOWED
    functions.mluOpDestroy(handle=handle)
    with pytest.raises(pymluops.NotInitializedError):
        functions.mluOpGetAtomicsMode(handle=handle)


def test_functions_that_return_values() -> None:
    assert functions.mluOpGetLibVersion(backend="cpu") == (1, 11, 1)
    assert functions.mluOpGetErrorString(pymluops.Status.BAD_PARAM) == "MLUOP_STATUS_BAD_PARAM"
    for status in (12345, -1, -(2**31)):
        assert functions.mluOpGetErrorString(status) == "MLUOP_STATUS_UNKNOWN"
    assert functions.mluOpGetSizeOfDataType(pymluops.DataType.COMPLEX_FLOAT) == 8
