# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, binding=True
"""The compiled part of the package: the way from a Python call to the C function.

Parts, each a file that is included below:

- `_table.pxi`, generated from the headers: one pointer for every C function, and the call of one by its number
- `_core_integers.pxi`: reading integers
- `_core_array.pxi`: reading arrays through the buffer protocol and DLPack
- `_core_dlpack.pxi`: the exchange API of DLPack, and tensors for other packages
- `_core_pool.pxi`: the memory of results and workspaces
- `_core_backend.pxi`: `Backend`, status -> exception, the default
- `_core_lock.pxi`: locks that outlive a fork
- `_core_interrupt.pxi`: signals during a long C call
- `_core_queue_state.pxi`: how far the work of a queue has come
- `_core_queue.pxi`: `Queue`, and what the runtime of a device answers
- `_core_device_array.pxi`: `DeviceArray`
- `_core_host_memory.pxi`: the arrays in host memory that its copies need
- `_core_handle.pxi`: `Handle`
- `_core_schema.pxi`: `Schema`, what an operator expects, read once
- `_core_settings.pxi`: `SettingsDescriptor`, `SparseConvolutionDescriptor`
- `_core_scalars.pxi`: reading the scalar arguments of a call
- `_core_call.pxi`: the state of one call, and its steps that need no Python
- `_core_staging.pxi`: such steps for arrays in host memory that a device is to work on
- `_core_guard.pxi`: `Guard`, which refuses the arrays that a schema does not allow
- `_core_operator.pxi`: `Operator`, which checks the arguments of one C function against its schema and calls it
- `_core_native.pxi`: `NativeObject`, what a Create function of a library made
- `_core_functions.pxi`: calls of any C function, with arguments that `pymluops.functions` prepares
- `_core_kernel.pxi`: calls of kernels and functions that `pymluops.bang` compiled
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

import numpy as np

from pymluops import _arguments, _hints, _pool, _shown, dtypes, errors
from pymluops.enums import DataType, Layout, Status

cdef extern from "Python.h":
    PyObject *PyThreadState_GetDict()

cdef enum:
    MAX_DIMS = 8  # MLUOP_DIM_MAX
    MAX_DATA_TYPES = 32  # numbers of DataType
# Most elements that a tensor may have, unless an operator says more.
cdef int64_t COUNT_LIMIT = <int64_t>1 << 31

cdef int SUCCESS = 0
cdef int ALLOC_FAILED = 2
cdef int EXECUTION_FAILED = 6

cdef class Backend
cdef class DeviceArray
cdef class HostMemory
cdef class QueueState
cdef struct View

include "_table.pxi"
include "_core_integers.pxi"
include "_core_pool.pxi"
include "_core_dlpack.pxi"
include "_core_array.pxi"
include "_core_lock.pxi"
include "_core_backend.pxi"
include "_core_interrupt.pxi"
include "_core_queue_state.pxi"
include "_core_queue.pxi"
include "_core_device_array.pxi"
include "_core_host_memory.pxi"
include "_core_handle.pxi"
include "_core_schema.pxi"
include "_core_settings.pxi"
include "_core_scalars.pxi"
include "_core_call.pxi"
include "_core_staging.pxi"
include "_core_guard.pxi"
include "_core_operator.pxi"
include "_core_native.pxi"
include "_core_functions.pxi"
include "_core_kernel.pxi"
