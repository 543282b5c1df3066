# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, binding=True
"""The compiled part of the package: the way from a Python call to the C function.

Parts, each a file that is included below:

- `_table.pxi`, generated from the headers: a pointer for every C function, calls by number
- `integers.pxi`: reading integers
- `array.pxi`: reading arrays through the buffer protocol and DLPack
- `dlpack.pxi`: the exchange API of DLPack, and tensors for other packages
- `pool.pxi`: the memory of results and workspaces
- `backend.pxi`: `Backend`, status -> exception, the default
- `lock.pxi`: locks that outlive a fork
- `interrupt.pxi`: signals during a long C call
- `queue_state.pxi`: how far the work of a queue has come
- `queue.pxi`: `Queue`, and what the runtime of a device answers
- `device_array.pxi`: `DeviceArray`
- `host_memory.pxi`: the arrays in host memory that its copies need
- `handle.pxi`: `Handle`
- `schema.pxi`: `Schema`, what an operator expects, read once
- `settings.pxi`: `SettingsDescriptor`, `SparseConvolutionDescriptor`
- `scalars.pxi`: reading the scalar arguments of a call
- `call.pxi`: the state of one call, and its steps that need no Python
- `staging.pxi`: such steps for arrays in host memory that a device is to work on
- `guard.pxi`: `Guard`, which refuses the arrays that a schema does not allow
- `operator.pxi`: `Operator`, which checks arguments of one C function by its schema and calls it
- `tensor_call.pxi`: `TensorCall`, which calls an operator with plain tensors of torch
- `native.pxi`: `NativeObject`, what a Create function of a library made
- `functions.pxi`: calls of any C function, with arguments that `pymluops.functions` prepares
- `kernel.pxi`: calls of kernels and functions that `pymluops.bang` compiled
"""

cimport cython
from cpython.buffer cimport (
    Py_buffer,
    PyBUF_FULL_RO,
    PyBuffer_FillInfo,
    PyBuffer_Release,
    PyObject_CheckBuffer,
    PyObject_GetBuffer,
)
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.float cimport PyFloat_CheckExact
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_New, PyTuple_SetItem
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_SetName
from cpython.pythread cimport (
    NOWAIT_LOCK,
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_free_lock,
    PyThread_release_lock,
    PyThread_type_lock,
)
from libc.signal cimport SIGINT
from libc.stdint cimport INT32_MAX, int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t, uintptr_t
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcpy, memset

import os
import sys
import threading
import warnings

import numpy as np

from pymluops import _arguments, _array_kinds, _hints, _pool, _shown, dtypes, errors
from pymluops.enums import DataType, Layout, Status  # no-cython-lint: the parts need them

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()

cdef enum:
    MAX_DIMS = 8  # MLUOP_DIM_MAX
    MAX_DATA_TYPES = 32  # numbers of DataType
    SUCCESS = 0
    ALLOC_FAILED = 2
    EXECUTION_FAILED = 6
    FLOAT = 2  # a DataType
    INT32 = 6
    INT64 = 9
# Most elements that a tensor may have, unless an operator says more.
cdef int64_t COUNT_LIMIT = <int64_t>1 << 31

cdef class Backend
cdef class DeviceArray
cdef class HostMemory
cdef class QueueState
cdef struct View

include "_table.pxi"
include "integers.pxi"
include "pool.pxi"
include "dlpack.pxi"
include "array.pxi"
include "lock.pxi"
include "backend.pxi"
include "interrupt.pxi"
include "queue_state.pxi"
include "queue.pxi"
include "device_array.pxi"
include "device_contents.pxi"
include "host_memory.pxi"
include "handle.pxi"
include "schema.pxi"
include "settings.pxi"
include "scalars.pxi"
include "call.pxi"
include "staging.pxi"
include "contents.pxi"
include "guard.pxi"
include "operator.pxi"
include "tensor_call.pxi"
include "native.pxi"
include "functions.pxi"
include "kernel.pxi"
