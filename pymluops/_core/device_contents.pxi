# The contents of a DeviceArray as bytes, for pickles and copies. Included by _core.pyx.


cdef object bytes_on_host(DeviceArray array):
    """Return the bytes of an array as a NumPy array, when all work that writes it is done."""
    contents = np_empty((array.nbytes,), np.uint8)
    # The bytes are those of any element type: what NumPy has no name for can be copied as well.
    array.users += 1
    try:
        array.copy(<void *><uintptr_t>contents.ctypes.data, None, True, None)
    finally:
        array.release()
    return contents


def _restore_device_array(Backend backend not None, shape, dtype, contents):
    """Make a `DeviceArray` with these bytes; what a pickle of one calls."""
    cdef DeviceArray array = DeviceArray(shape, dtype, backend)
    cdef HostMemory memory = host_memory("DeviceArray", "contents", contents, False)
    if memory.view.count * memory.view.itemsize != array.count * array.itemsize:
        raise errors.BadParamError(
            f"DeviceArray: contents: expected {array.nbytes} bytes for shape {list(array.shape)} of "
            f"{array.dtype_name()}, got {memory.view.count * memory.view.itemsize}"
        )
    array.copy(memory.view.data, memory, False, None)
    return array
