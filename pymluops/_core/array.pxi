# Reading arrays: our own, NumPy's, the buffer protocol, then DLPack. Included by _core.pyx.

cdef extern from *:
    """
    /* No function of NumPy is called, only fields of an array are read: so there is nothing to import. */
    #define NPY_NO_DEPRECATED_API NPY_2_0_API_VERSION
    #define NPY_TARGET_VERSION NPY_1_25_API_VERSION
    #define NO_IMPORT_ARRAY
    #include <numpy/ndarraytypes.h>

    static PyArrayObject *as_ndarray(PyObject *array) { return (PyArrayObject *)array; }

    static int64_t ndarray_dim(PyArrayObject *array, int axis) { return (int64_t)PyArray_DIMS(array)[axis]; }

    /* Whether its values lie packed and in the byte order of this machine. */
    static int ndarray_behaves(PyArrayObject *array) {
      return PyArray_CHKFLAGS(array, NPY_ARRAY_C_CONTIGUOUS) &&
             PyArray_ISNBO(PyArray_DESCR(array)->byteorder);
    }
    """
    ctypedef struct PyArrayObject:
        pass
    PyArrayObject *as_ndarray(object array)
    bint ndarray_behaves(PyArrayObject *array) noexcept
    int64_t ndarray_dim(PyArrayObject *array, int axis) noexcept
    char *PyArray_BYTES(PyArrayObject *array) noexcept
    int PyArray_NDIM(PyArrayObject *array) noexcept
    int PyArray_TYPE(PyArrayObject *array) noexcept
    bint PyArray_CHKFLAGS(PyArrayObject *array, int flags) noexcept
    int NPY_ARRAY_WRITEABLE

cdef enum:
    NUMPY_TYPES = 24  # those that NumPy brings itself
    MOST_TEXT = 200  # characters of a foreign text in a message
    MOST_EXPORTED_DIMS = 64  # that any array package has

cdef enum Source:
    SOURCE_NONE
    SOURCE_BUFFER
    SOURCE_DLPACK
    SOURCE_DLPACK_VERSIONED

# A look at an array, which stays alive and in place until `release`.
cdef struct View:
    char *data
    const int64_t *shape
    const int64_t *strides  # NULL: packed
    int64_t stride_unit  # bytes that one step of `strides` counts
    int64_t count  # of elements
    int64_t itemsize
    int ndim
    int dtype  # a DataType; INVALID if the element type has no number in the ABI
    int device  # a DLPack device type
    bint packed
    bint readonly
    bint copied  # the producer gave a copy: what is written to it is lost
    bint foreign_order  # not the byte order of this machine
    bint no_memory  # reading it failed for that reason
    bint no_array  # the object is of a type that offers no array
    Source source
    void *managed
    # Where `shape` and `strides` point, unless there are more: what the array has may be changed
    # while the call runs.
    int64_t dims[MAX_DIMS]
    int64_t steps[MAX_DIMS]
    Py_buffer buffer

cdef int CODE_INT = dtypes.DL_INT
cdef int CODE_UINT = dtypes.DL_UINT
cdef int CODE_FLOAT = dtypes.DL_FLOAT
cdef int CODE_COMPLEX = dtypes.DL_COMPLEX
cdef int CODE_BOOL = dtypes.DL_BOOL

# data_types[DLPack code][itemsize], from the one table in dtypes.py; and the size of an element, by
# DataType.
cdef int data_types[7][9]
cdef int64_t itemsizes[MAX_DATA_TYPES]
memset(data_types, 0, sizeof(data_types))
memset(itemsizes, 0, sizeof(itemsizes))
for _row in dtypes.TABLE:
    itemsizes[<int>_row.data_type] = _row.itemsize
    if _row.dlpack_code >= 0:
        data_types[<int>_row.dlpack_code][<int>_row.itemsize] = _row.data_type


# By number of NumPy: the DataType, and the size of an element.
cdef int numpy_data_types[NUMPY_TYPES]
cdef int64_t numpy_itemsizes[NUMPY_TYPES]
memset(numpy_data_types, 0, sizeof(numpy_data_types))
for _code in np.typecodes["AllInteger"] + np.typecodes["AllFloat"] + "?":
    _dtype = np.dtype(_code)
    for _row in dtypes.TABLE:
        if _row.name == _dtype.name and 0 <= _dtype.num < NUMPY_TYPES:
            numpy_data_types[<int>_dtype.num] = _row.data_type
            numpy_itemsizes[<int>_dtype.num] = _dtype.itemsize


cdef int data_type_of(int code, int64_t itemsize) noexcept:
    return data_types[code][itemsize] if 0 <= code <= 6 and 0 < itemsize <= 8 else 0


cdef int code_of_format(const char *format, bint *foreign_order) noexcept:
    """Return the DLPack type code for a format of the struct module, or -1. The size comes from the buffer."""
    cdef char kind
    foreign_order[0] = False
    if format == NULL:
        return CODE_UINT
    if format[0] == b"@" or format[0] == b"=" or format[0] == b"<" or format[0] == b"^":
        format += 1
    elif format[0] == b">" or format[0] == b"!":
        foreign_order[0] = True
        format += 1
    kind = format[0]
    if kind == b"Z" and format[1] != 0 and format[2] == 0:
        return CODE_COMPLEX
    if kind == 0 or format[1] != 0:
        return -1
    if kind == b"e" or kind == b"f" or kind == b"d":
        return CODE_FLOAT
    if kind == b"b" or kind == b"h" or kind == b"i" or kind == b"l" or kind == b"q" or kind == b"n":
        return CODE_INT
    if kind == b"B" or kind == b"H" or kind == b"I" or kind == b"L" or kind == b"Q" or kind == b"N":
        return CODE_UINT
    return CODE_BOOL if kind == b"?" else -1


cdef str acquire(View *view, object array):
    """Fill `view` and return None; or return the fault, as `expected ..., got ...` without the first word."""
    cdef str problem = None
    cdef Exchange exchange
    view.source = SOURCE_NONE
    view.dtype = 0
    view.no_memory = view.no_array = False
    if type(array) is ndarray and acquire_ndarray(view, array):
        return None
    if type(array) is DeviceArray:
        return acquire_device_array(view, <DeviceArray>array)
    if type(array) is not ndarray and isinstance(array, ndarray):
        problem = _array_kinds.of_ndarray(array)
        if problem is not None:
            view.no_array = True
            return problem
    if PyObject_CheckBuffer(array):
        try:
            PyObject_GetBuffer(array, &view.buffer, PyBUF_FULL_RO)
        except Exception as error:
            problem = unreadable_text(view, array, error)
        else:
            view.source = SOURCE_BUFFER
            return read_buffer(view)
    if view.no_memory:
        return problem
    exchange = exchange_of(type(array))
    if exchange is not None:
        return acquire_exchange(view, exchange, array)
    return acquire_dlpack(view, array, problem)


cdef str acquire_dlpack(View *view, object array, str problem):
    """Fill `view` through ``__dlpack__``; `problem` is what was wrong with the buffer of the array, if it has one."""
    capsule = None
    export = getattr(type(array), "__dlpack__", None)
    if export is None:
        view.no_array = problem is None
        return problem or f"an array (buffer protocol or DLPack), got {_arguments.shown(array)}"
    try:
        if is_torch_tensor(array):  # of a subclass: torch itself does not look at all of it
            hidden = hidden_state(True, True, True, array)
            if hidden is None:
                hidden = _array_kinds.of_tensor(array)
                view.no_array = hidden is not None
            if hidden is not None:
                return hidden
        try:
            capsule = export(array, max_version=(1, 0))
        except TypeError:  # a producer from before DLPack 1.0
            capsule = export(array)
    except Exception as error:
        return problem or unreadable_text(view, array, error)
    return read_capsule(view, capsule)


cdef str unreadable_text(View *view, object array, object error):
    cdef str problem
    view.no_memory = isinstance(error, MemoryError)
    if is_torch_tensor(array):
        problem = _array_kinds.of_tensor(array)
        if problem is not None:
            view.no_array = True
            return problem
    return f"an array that can be read, got {array_text(array)} ({error_text(error)})"


cdef object unreadable_error(const View *view):
    """Return the class of the error for an array that `acquire` refused."""
    if view.no_memory:
        return errors.AllocFailedError
    return errors.BadParamTypeError if view.no_array else errors.BadParamError


cdef inline bint acquire_ndarray(View *view, object array) noexcept:
    """Fill `view` from the fields of a NumPy array; False if that needs the buffer protocol.

    The buffer protocol is slower, since NumPy makes a format string for each array.
    """
    cdef PyArrayObject *fields = as_ndarray(array)
    cdef int axis, number = PyArray_TYPE(fields)
    if not (0 <= number < NUMPY_TYPES) or numpy_data_types[number] == 0 or PyArray_NDIM(fields) > MAX_DIMS:
        return False
    if not ndarray_behaves(fields):
        return False
    view.data = PyArray_BYTES(fields)
    view.ndim = PyArray_NDIM(fields)
    view.count = 1
    for axis in range(view.ndim):
        view.dims[axis] = ndarray_dim(fields, axis)
        view.count = saturated_product(view.count, view.dims[axis])
    view.shape = view.dims
    view.strides = NULL
    view.dtype = numpy_data_types[number]
    view.itemsize = view.stride_unit = numpy_itemsizes[number]
    view.device = DL_CPU
    view.packed = True
    view.readonly = not PyArray_CHKFLAGS(fields, NPY_ARRAY_WRITEABLE)
    view.copied = view.foreign_order = False
    return True


cdef str read_buffer(View *view):
    cdef Py_buffer *buffer = &view.buffer
    cdef int code
    if buffer.suboffsets != NULL:
        return "an array in one piece of memory, got one with suboffsets"
    view.data = <char *>buffer.buf
    view.shape = <const int64_t *>buffer.shape
    view.strides = <const int64_t *>buffer.strides
    view.stride_unit = 1
    view.itemsize = buffer.itemsize
    view.ndim = buffer.ndim
    view.device = DL_CPU
    view.readonly = buffer.readonly
    view.copied = False
    code = code_of_format(buffer.format, &view.foreign_order)
    if view.foreign_order and view.itemsize == 1:
        view.foreign_order = False
    view.dtype = data_type_of(code, view.itemsize)
    return measure(view)


cdef str read_capsule(View *view, object capsule):
    cdef DLManagedTensorVersioned *versioned
    if PyCapsule_IsValid(capsule, "dltensor_versioned"):
        versioned = <DLManagedTensorVersioned *>PyCapsule_GetPointer(capsule, "dltensor_versioned")
        PyCapsule_SetName(capsule, "used_dltensor_versioned")
        return read_managed(view, versioned)
    if PyCapsule_IsValid(capsule, "dltensor"):
        view.managed = PyCapsule_GetPointer(capsule, "dltensor")
        PyCapsule_SetName(capsule, "used_dltensor")
        view.source = SOURCE_DLPACK
        return read_tensor(view, &(<DLManagedTensor *>view.managed).dl_tensor, 0)
    return f"an array whose __dlpack__ returns an unused capsule, got {_arguments.shown(capsule)}"


cdef str read_managed(View *view, DLManagedTensorVersioned *managed):
    """Read a tensor that `release` will delete."""
    view.managed = managed
    view.source = SOURCE_DLPACK_VERSIONED
    if managed.major != 1:
        return f"an array of DLPack version 1, got version {managed.major}"
    return read_tensor(view, &managed.dl_tensor, managed.flags)


cdef str read_tensor(View *view, const DLTensor *tensor, uint64_t flags):
    if not 0 <= tensor.ndim <= MOST_EXPORTED_DIMS:
        return f"an array of at most {MOST_EXPORTED_DIMS} dims, got one of {tensor.ndim}"
    if tensor.ndim > 0 and tensor.shape == NULL:
        return f"an array with a shape, got {tensor.ndim} dims and no shape"
    if tensor.data != NULL and tensor.byte_offset > <uint64_t>-1 - <uintptr_t>tensor.data:
        return f"an array in the address space, got byte_offset {tensor.byte_offset}"
    view.data = <char *>tensor.data
    if view.data != NULL:
        view.data += tensor.byte_offset
    view.shape = tensor.shape
    view.strides = tensor.strides
    view.itemsize = tensor.dtype.bits // 8 if tensor.dtype.lanes == 1 and tensor.dtype.bits % 8 == 0 else 0
    view.stride_unit = view.itemsize
    view.ndim = tensor.ndim
    view.device = tensor.device.device_type
    view.readonly = flags & DL_READ_ONLY
    view.copied = (flags & DL_COPIED) != 0
    view.foreign_order = False
    view.dtype = data_type_of(tensor.dtype.code, view.itemsize)
    return measure(view)


cdef extern from *:
    """
    /* Product of two numbers >= 0; the largest int64_t where that is passed. */
    static int64_t saturated_product(int64_t a, int64_t b) {
      int64_t product;
      return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
    }

    /* Whether a stride, counted in units of some bytes, is that many bytes. */
    static int stride_is(int64_t stride, int64_t unit, int64_t bytes) {
      int64_t product;
      return !__builtin_mul_overflow(stride, unit, &product) && product == bytes;
    }
    """
    int64_t saturated_product(int64_t a, int64_t b) noexcept nogil
    bint stride_is(int64_t stride, int64_t unit, int64_t bytes) noexcept nogil


cdef str measure(View *view):
    """Count the elements, and see whether they lie packed: dims of size 1 and empty arrays may have any strides.

    What is looked at is a copy: shape and strides belong to the exporter, which may change them.
    """
    cdef int64_t expected = view.itemsize, count = 1
    cdef int axis
    if view.ndim <= MAX_DIMS:  # more are refused by everyone
        for axis in range(view.ndim):
            view.dims[axis] = view.shape[axis]
            view.steps[axis] = view.strides[axis] if view.strides != NULL else 0
        view.shape = view.dims
        view.strides = view.steps if view.strides != NULL else NULL
    view.packed = True
    for axis in range(view.ndim - 1, -1, -1):
        if view.shape[axis] < 0:
            return f"an array without negative dims, got shape {shape_text(view)}"
        if view.shape[axis] != 1:
            if view.strides != NULL and not stride_is(view.strides[axis], view.stride_unit, expected):
                view.packed = False
            expected = saturated_product(expected, view.shape[axis])
        count = saturated_product(count, view.shape[axis])
    view.count = count
    if count == 0:
        view.packed = True
    return None


cdef void release(View *view) noexcept:
    """Let the array go; harmless for a view that was never filled."""
    cdef Source source = view.source
    view.source = SOURCE_NONE
    if source == SOURCE_BUFFER:
        PyBuffer_Release(&view.buffer)
    elif source == SOURCE_DLPACK:
        if (<DLManagedTensor *>view.managed).deleter != NULL:
            (<DLManagedTensor *>view.managed).deleter(<DLManagedTensor *>view.managed)
    elif source == SOURCE_DLPACK_VERSIONED:
        if (<DLManagedTensorVersioned *>view.managed).deleter != NULL:
            (<DLManagedTensorVersioned *>view.managed).deleter(<DLManagedTensorVersioned *>view.managed)


# ---- Texts for messages --------------------------------------------------------------------------


cdef str shape_text(const View *view):
    return str([view.shape[axis] for axis in range(view.ndim)])


cdef object dtype_of(object array):
    """Return the attribute dtype; None if there is none, or none that can be read."""
    try:
        return getattr(array, "dtype", None)
    except Exception:
        return None


cdef str dtype_text(const View *view, object array):
    if view.dtype != 0:
        return dtypes.data_type_name(view.dtype)
    dtype = dtype_of(array)
    return "elements of another type" if dtype is None else one_line(dtype)


cdef str array_text(object array):
    dtype = dtype_of(array)
    return type(array).__name__ if dtype is None else f"{type(array).__name__} of {one_line(dtype)}"


cdef str error_text(object error):
    """Return the first line of an error: PyTorch appends a trace of its C++ functions."""
    try:
        lines = str(error).split("\n")
    except Exception:
        lines = []
    return one_line(next((line for line in lines if line.strip()), type(error).__name__))


cdef str one_line(object thing):
    """Return the text of a foreign object as one line of limited length; its type if it has none."""
    try:
        text = " ".join(str(thing).split())
    except Exception:
        text = ""
    return _shown.shortened(_shown.one_line(text), MOST_TEXT) or type(thing).__name__


# ---- For Python code -----------------------------------------------------------------------------


def describe(array):
    """Return shape, strides counted in elements (None: packed) and element type of an array."""
    cdef View view
    cdef str problem
    cdef int axis
    cdef list strides = []
    problem = acquire(&view, array)
    try:
        if problem is None and view.foreign_order:
            problem = f"native byte order, got {array_text(array)}"
        if problem is None and view.dtype == 0:
            problem = f"an element type of the ABI, got {dtype_text(&view, array)}"
        if problem is None and view.strides != NULL:
            for axis in range(view.ndim):
                bytes_between = <object>view.strides[axis] * view.stride_unit  # may take more than 64 bits
                if bytes_between % view.itemsize != 0:
                    problem = f"strides of whole elements, got {bytes_between} bytes"
                strides.append(bytes_between // view.itemsize)
        if problem is not None:
            raise unreadable_error(&view)(f"TensorDescriptor.of: array: expected {problem}")
        shape = tuple([view.shape[axis] for axis in range(view.ndim)])
        return shape, None if view.strides == NULL else tuple(strides), DataType(view.dtype)
    finally:
        release(&view)


def leading_dim(array):
    """Return the first dim of an array; 0 if there is none or it cannot be read, which its user will refuse."""
    cdef View view
    cdef str problem = acquire(&view, array)
    try:
        return view.shape[0] if problem is None and view.ndim > 0 else 0
    finally:
        release(&view)


def in_device_memory(array):
    """Tell whether an array lies in the memory of a device; False if it cannot be read, which its user will refuse."""
    cdef View view
    cdef str problem = acquire(&view, array)
    try:
        return problem is None and view.device == DL_EXTENSION
    finally:
        release(&view)
