"""DLPack exporters that lie, raise, or close what they are used with: a call gives its result or one refusal.

A case is JSON: where the exporter goes, and what it does. Lies about the shape stay within memory
that exists, because no consumer can tell how much an exporter has.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import pymluops
from fuzz.case_runner import FindingError
from support.dlpack import Producer
from support.example import MOVING

BASE = (1, 4, 8, 5)
HUGE = (-1, -(2**63), 2**31, 2**62, 2**63 - 1)
EXCEPTIONS: dict[str, Callable[[], BaseException]] = {
    "RuntimeError": lambda: RuntimeError("two\nlines"), "TypeError": lambda: TypeError("x"),
    "KeyboardInterrupt": KeyboardInterrupt, "SystemExit": lambda: SystemExit(3), "MemoryError": MemoryError,
    "RecursionError": RecursionError, "GeneratorExit": GeneratorExit, "Surrogate": lambda: RuntimeError("\ud800"),
    "BufferError": lambda: BufferError(""), "BadParamError": lambda: pymluops.BadParamError("no"),
}  # fmt: skip
RESULTS: dict[str, Callable[[], Any]] = {
    "None": lambda: None, "int": lambda: 5, "list": list, "array": lambda: np.ones(BASE, np.float32), "self": object,
}  # fmt: skip
ROLES = ("input", "shifts", "out", "describe", "from_host", "copy_from")
#: Memory around what an exporter shows: zeros, which cost nothing until they are written.
_BACKING = np.frombuffer(mmap.mmap(-1, 1 << 26), np.uint8)
_SET_NAME = ctypes.pythonapi.PyCapsule_SetName
_SET_NAME.argtypes = [ctypes.py_object, ctypes.c_char_p]
_IS_VALID = ctypes.pythonapi.PyCapsule_IsValid
_IS_VALID.argtypes = [ctypes.py_object, ctypes.c_char_p]


class Liar(Producer):
    """An exporter of a true array that says what its case wants it to say."""

    def __init__(self, array: np.ndarray, case: dict[str, Any], reenter: Callable[[], object]) -> None:
        super().__init__(array, versioned=case.get("versioned", True))
        self.case, self.reenter = case, reenter
        self.names: list[bytes] = []

    def __dlpack__(self, **keywords: Any) -> Any:
        self.reenter()
        if "raises" in self.case:
            raise EXCEPTIONS[self.case["raises"]]()
        if "returns" in self.case:
            return RESULTS[self.case["returns"]]()
        if self.case.get("twice") and self.capsules:
            return self.capsules[-1][0]
        return super().__dlpack__(**keywords)

    def _capsule(self, versioned: bool) -> Any:
        capsule = super()._capsule(versioned)
        managed = self._alive[-1][0]
        tensor = managed.tensor
        for name, value in self.case.get("lies", {}).items():
            if name in ("shape", "strides"):
                array = (ctypes.c_int64 * max(len(value or ()), 1))(*(value or ()))
                self._alive.append((array,))
                value = None if value is None else ctypes.cast(array, ctypes.POINTER(ctypes.c_int64))
            elif name == "deleter":
                value = type(managed.deleter)()
            setattr(managed if name in ("deleter", "flags", "major", "minor") else tensor, name, value)
        if "name" in self.case:
            self.names.append(self.case["name"].encode())
            _SET_NAME(capsule, self.names[-1])
        return capsule

    def judge_deleters(self) -> None:
        """A capsule that was taken over is renamed and deleted once; one that was not is left alone."""
        taken = sum(_IS_VALID(capsule, b"used_" + name) for capsule, name in self.capsules)
        if self.case.get("name") == "used_dltensor":
            taken = 0  # that is how it came
        wanted = 0 if "deleter" in self.case.get("lies", {}) else taken
        if self.deleted != wanted:
            raise FindingError(f"{self.deleted} calls of deleters for {taken} capsules that were taken over")


def _array(dtype: str, values: np.ndarray) -> np.ndarray:
    """An array in the middle of the backing memory."""
    start = 1 << 24
    array = _BACKING[start : start + values.size * np.dtype(dtype).itemsize].view(dtype).reshape(values.shape)
    array[...] = values
    return array


def _has_no_shape(plan: dict[str, Any]) -> bool:
    lies = plan.get("lies", {})
    ndim = lies.get("ndim", 4)
    return ndim < 0 or ndim > 64 or (ndim > 0 and "shape" in lies and lies["shape"] is None)


class Dlpack:
    """The target."""

    def prepare(self) -> None:
        # The simulator takes the addresses of a whole device when it is first used.
        pymluops.DeviceArray.from_host(np.zeros(1, np.float32), pymluops.load("sim")).close()

    # ---- Making ----------------------------------------------------------------------------------

    def make(self, rng: random.Random) -> bytes:
        case: dict[str, Any] = {"role": rng.choice(ROLES), "versioned": rng.random() < 0.5}
        choice = rng.random()
        if choice < 0.1:
            case["raises"] = rng.choice(list(EXCEPTIONS))
        elif choice < 0.15:
            case["returns"] = rng.choice(list(RESULTS))
        elif choice < 0.2:
            case["twice"] = True
        elif choice < 0.25:
            case["name"] = rng.choice(("nonsense", "", "used_dltensor", "dltensor", "dltensor_versioned"))
            # A name that promises another structure than there is would be a lie that no consumer
            # can detect.
            if case["name"].startswith("dltensor"):
                case["versioned"] = case["name"] == "dltensor_versioned"
        elif choice < 0.95:
            case["lies"] = dict(self._lie(rng) for _ in range(rng.choice((1, 1, 1, 2, 3))))
            self._tame(case["lies"])
        if rng.random() < 0.2:
            case["reenter"] = rng.choice(
                ("close_handle", "close_queue", "close_array", "call", "collect", "closed_handle")
            )
        return json.dumps(case, sort_keys=True).encode()

    def kind(self, case: bytes) -> str:
        """What tells findings apart that say the same."""
        plan = json.loads(case)
        if _has_no_shape(plan):
            return "a shape that is none"
        return " ".join(sorted((*plan.get("lies", {}), *(set(plan) & {"raises", "returns", "reenter", "name"}))))

    def _lie(self, rng: random.Random) -> tuple[str, Any]:
        dims = list(BASE)
        match rng.randrange(12):
            case 0:
                return "ndim", rng.choice((-1, -(2**31), 0, 3, 5, 8, 9, 64, 65, 10**6, 2**31 - 1))
            case 1:
                dims[rng.randrange(4)] = rng.choice((*HUGE, 0, 1, 2, 300))
                return "shape", rng.choice((None, dims, dims, dims))
            case 2:
                strides = [160, 40, 5, 1]
                strides[rng.randrange(4)] = rng.choice((0, 1, -1, 7, 10**5, -(10**4)))
                return "strides", rng.choice((None, strides, strides))
            case 3:
                return "byte_offset", rng.choice((0, 1, 2, 4, 64, 1 << 20, 2**64 - 1, 2**64 - 4))
            case 4:
                return "bits", rng.choice((0, 1, 4, 8, 16, 31, 32, 33, 64, 128, 255))
            case 5:
                return "lanes", rng.choice((0, 1, 2, 4, 65535))
            case 6:
                return "code", rng.randrange(256)
            case 7:
                return "device_type", rng.choice((0, 1, 2, 3, 10, 12, 14, -5, 2**31 - 1))
            case 8:
                return "flags", rng.choice((0, 1, 2, 3, 4, 2**64 - 1))
            case 9:
                return "major", rng.choice((0, 1, 2, 2**32 - 1))
            case 10:
                return "data", None
            case _:
                return "deleter", None

    def _tame(self, lies: dict[str, Any]) -> None:
        """Take back what would lead an honest reader out of the memory that there is."""
        ndim = lies.get("ndim", 4)
        shape = lies.get("shape", list(BASE))
        if 4 < ndim < 65 and shape is not None:
            lies["shape"] = (shape + [1] * 64)[:ndim] if ndim > 8 else [1] * (ndim - 4) + shape
            lies["strides"] = None
        if "bits" in lies and lies["bits"] > 64:
            lies.pop("strides", None)
        count = 1
        for dim in lies.get("shape") or ():
            count *= abs(dim)
        # More than there is and less than anybody could allocate.
        if 1 << 18 < count < 1 << 50:
            lies["shape"] = list(BASE)
        if any(abs(dim) > 9 for dim in lies.get("shape") or ()):
            lies.pop("strides", None)

    # ---- Checking --------------------------------------------------------------------------------

    def check(self, case: bytes, folder: Path) -> None:
        plan = json.loads(case)
        values = np.arange(160, dtype=np.float32).reshape(BASE)
        shifts = np.array([[1, -1]], np.int32)
        want = MOVING.run(values, shifts)
        library = (
            "sim"
            if plan["role"] in ("from_host", "copy_from") or plan.get("reenter") in ("close_queue", "close_array")
            else "cpu"
        )
        self._check_on(library, plan, values, shifts, want)

    def _check_on(
        self, library: str, plan: dict[str, Any], values: np.ndarray, shifts: np.ndarray, want: np.ndarray
    ) -> None:
        backend = pymluops.load(library)
        queue = pymluops.Queue(backend) if library == "sim" else None
        handle = pymluops.Handle(backend, queue=queue) if queue is not None else pymluops.Handle(backend)
        device = pymluops.DeviceArray.from_host(values, backend) if library == "sim" else None

        def reenter() -> object:
            match plan.get("reenter"):
                case "close_handle":
                    return handle.close()
                case "close_queue" if queue is not None:
                    return queue.close()
                case "close_array" if device is not None:
                    return device.close()
                case "call" if library == "cpu":
                    return MOVING.run(np.ones((2, 2, 4, 3), np.float32), np.ones((2, 2), np.int32), handle=handle)
                case "collect":
                    return gc.collect()
            return None

        integers = plan["role"] == "shifts"
        liar = Liar(_array("i4" if integers else "f4", shifts if integers else values), plan, reenter)
        if integers and "shape" in plan.get("lies", {}):
            plan["lies"]["shape"] = (plan["lies"]["shape"] or [1, 2])[-2:]
        if plan.get("reenter") == "closed_handle":
            handle.close()
        try:
            result = self._call(plan["role"], liar, values, shifts, handle, device, backend)
        except (pymluops.MluOpError, TypeError) as error:
            self._judge_error(error, plan)
        except (KeyboardInterrupt, SystemExit, GeneratorExit) as error:
            if plan.get("raises") != type(error).__name__:
                raise FindingError(f"{type(error).__name__} out of nowhere") from error
        except MemoryError:
            if plan.get("raises") != "MemoryError" and "shape" not in plan.get("lies", {}):
                raise
        else:
            self._judge_result(result, plan, want)
        finally:
            for closing in (device, handle, queue):
                if closing is not None:
                    closing.close()
        liar.judge_deleters()

    def _call(
        self, role: str, liar: Liar, values: np.ndarray, shifts: np.ndarray, handle: Any, device: Any, backend: Any
    ) -> Any:
        data = values if device is None else device
        match role:
            case "describe":
                return pymluops.TensorDescriptor.of(liar)
            case "from_host":
                return pymluops.DeviceArray.from_host(liar, backend).to_host()
            case "copy_from":
                device.copy_from(liar)
                return device.to_host()
            case "shifts":
                return MOVING.run(data, liar, handle=handle)
            case "out" if device is None:
                return MOVING.run(values, shifts, out=liar, handle=handle)
        return MOVING.run(liar, shifts, handle=handle)

    def _judge_error(self, error: Exception, plan: dict[str, Any]) -> None:
        text = str(error)
        if "\n" in text:
            raise FindingError(f"a refusal of more than one line: {text!r}")
        if isinstance(error, TypeError) and not isinstance(error, pymluops.MluOpError):
            raise FindingError(f"TypeError: {text}")
        if plan.get("raises") in ("KeyboardInterrupt", "SystemExit", "GeneratorExit") and "reenter" not in plan:
            raise FindingError(f"{plan['raises']} became {type(error).__name__}")
        if plan.get("raises") == "MemoryError" and "reenter" not in plan and not isinstance(error, MemoryError):
            raise FindingError(f"MemoryError became {type(error).__name__}: {text}")

    def _judge_result(self, result: Any, plan: dict[str, Any], want: np.ndarray) -> None:
        if "raises" in plan and plan["raises"] != "TypeError":
            raise FindingError(f"a call succeeds although its argument raised {plan['raises']}")
        if _has_no_shape(plan):
            raise FindingError("a shape that is none was accepted")
        honest = not set(plan) - {"role", "versioned", "twice"}
        computes = plan["role"] in ("input", "shifts", "out") and isinstance(result, np.ndarray)
        if honest and computes and not np.array_equal(result, want):
            raise FindingError("an honest exporter gives another result")


TARGET = Dlpack()
