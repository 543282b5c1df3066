# Arrays in host memory that a copy to or from a device needs. Included by _core.pyx.


@cython.final
cdef class HostMemory:
    """An array in host memory, which stays there as long as this object lives."""

    cdef View view
    cdef object array  # the view of a NumPy array does not keep it

    def __cinit__(self):
        self.view.source = SOURCE_NONE

    def __dealloc__(self):
        release(&self.view)


cdef HostMemory host_memory(str caller, str argument, object array, bint writing):
    """Read an array whose bytes are to be copied as they are."""
    cdef HostMemory memory = HostMemory.__new__(HostMemory)
    cdef View *view = &memory.view
    cdef int named = 0
    cdef str problem
    if isinstance(array, np.ndarray) and array.dtype.kind == "V":
        # A type of ml_dtypes: neither the buffer protocol nor DLPack of NumPy can carry it.
        named = dtypes.as_data_type(array.dtype)
        array = array.view(f"u{array.itemsize}")
    memory.array = array
    problem = acquire(view, array)
    if problem is None and view.device != DL_CPU and view.device != DL_CUDA_HOST and view.device != DL_ROCM_HOST:
        problem = f"an array in host memory, got {device_text(view, array)}"
    if problem is None and view.foreign_order:
        problem = f"native byte order, got {array_text(array)}"
    if problem is None and not view.packed:
        problem = f"a C-contiguous array, got strides {strides_text(view)} for shape {shape_text(view)}"
    if problem is None and writing and (view.readonly or view.copied):
        problem = "a writable array, got " + ("a read-only one" if view.readonly else "a copy")
    if problem is not None:
        raise unreadable_error(view)(f"{caller}: {argument}: expected {problem}")
    if named:
        view.dtype = named
    return memory


cdef str device_text(const View *view, object array):
    if isinstance(array, DeviceArray):
        return f"a DeviceArray on {(<DeviceArray>array).backend.name}"
    return f"DLPack device type {view.device}"
