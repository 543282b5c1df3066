# Staging: arrays in host memory are copied to a device for a call and back, without the GIL.
# Included by _core.pyx.

cdef int NUMBER_MALLOC = _FUNCTIONS["cnrtMalloc"][0]
cdef int NUMBER_MEMCPY = _FUNCTIONS["cnrtMemcpy"][0]
cdef int NUMBER_SYNC = _FUNCTIONS["cnrtQueueSync"][0]


cdef bint runtime_failed(Call *call, int number, int status) noexcept nogil:
    """Keep the first failure of the runtime."""
    if status != 0 and call.runtime_status == 0:
        call.runtime_status, call.failed = status, number
    return status != 0


cdef bint stage(FunctionTable *table, Call *call, const TensorSpec *specs, int count) noexcept nogil:
    """Let the views of arrays in host memory point to device memory that holds the inputs; False if that failed."""
    cdef int i
    cdef View *view
    cdef size_t size
    for i in range(count):
        view = &call.views[i]
        call.host[i] = NULL
        if call.resident[i]:
            continue
        call.host[i], view.data = view.data, NULL
    for i in range(count):
        view = &call.views[i]
        size = view.count * view.itemsize
        if call.resident[i] or size == 0:
            continue
        if runtime_failed(call, NUMBER_MALLOC, table.cnrtMalloc(<void **>&view.data, size)):
            view.data, call.wanted = NULL, size
            return False
        if (not specs[i].output or specs[i].in_place or specs[i].zeroed) and runtime_failed(
            call, NUMBER_MEMCPY, table.cnrtMemcpy(view.data, call.host[i], size, cnrtMemcpyHostToDev)
        ):
            return False
    return True


cdef void bring_back(FunctionTable *table, Call *call, const TensorSpec *specs, int count) noexcept nogil:
    """Copy the outputs to where their arrays in host memory are."""
    cdef int i
    cdef View *view
    for i in range(count):
        view = &call.views[i]
        if specs[i].output and not call.resident[i] and view.data != NULL and runtime_failed(
            call, NUMBER_MEMCPY,
            table.cnrtMemcpy(call.host[i], view.data, view.count * view.itemsize, cnrtMemcpyDevToHost)
        ):
            return


cdef void free_staged(FunctionTable *table, Call *call, int count) noexcept nogil:
    """Free what the call took on the device; the queue must be done."""
    cdef int i
    for i in range(count):
        if not call.resident[i] and call.views[i].data != NULL:
            table.cnrtFree(call.views[i].data)
            call.views[i].data = NULL
    if call.workspace != NULL:
        table.cnrtFree(call.workspace)
        call.workspace = NULL


cdef int let_go(PyObject **array) except -1:
    """End a call's hold of a DeviceArray."""
    cdef DeviceArray held = <DeviceArray>array[0]
    array[0] = NULL
    Py_DECREF(held)
    held.release()
    return 0
