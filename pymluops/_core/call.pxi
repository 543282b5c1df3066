# The memory of one call, and the steps of a call that need no Python. Included by _core.pyx.

cdef enum:
    SMALL_CALL = 256  # words of 8 bytes on the stack, for tables of arguments; more is allocated
    FEW_VALUES = 4096  # are looked at in less time than it takes to release the GIL

# Everything about one call.
cdef struct Call:
    View *views
    int64_t *values  # of the symbols; -1: not known yet
    int *owners  # the tensor that gave the value; -1: a scalar
    Argument *scalars
    Argument *arguments  # of the C function that is called
    void **settings
    void *workspace
    size_t workspace_size
    int failed  # number of the C function that was refused; -1: memory ran out
    bint *absent  # an optional tensor that was not given
    int common_ndim  # of the tensors with any dims; -1: none was seen yet
    int64_t common[MAX_DIMS]
    # On a device only, but for `resident` and `arrays`.
    bint *resident  # lies in device memory; also True where there is nothing
    PyObject **arrays  # the DeviceArray, held by this call; NULL: none
    char **host  # addresses of host arrays; their views point to places on the device
    int runtime_status  # of the CNRT function that failed
    size_t wanted  # bytes that the device had no room for


# By DataType; None for a type that NumPy does not have.
cdef list numpy_dtypes = [None] * MAX_DATA_TYPES
for _row in dtypes.TABLE:
    try:
        numpy_dtypes[_row.data_type] = np.dtype(_row.name or "none")
    except TypeError:
        pass


cdef int first_bit(uint32_t bits) noexcept nogil:
    cdef int number = 0
    while not (bits >> number) & 1:
        number += 1
    return number


cdef size_t lay_out(Schema schema, Call *call) noexcept nogil:
    """Find places for the arrays of a call from address 0 on, and return the number of bytes that they take."""
    cdef uintptr_t place = 0
    cdef size_t tensors = schema.tensor_count, symbols = schema.symbol_count
    call.views = <View *>place
    place += tensors * sizeof(View)
    call.values = <int64_t *>place
    place += symbols * sizeof(int64_t)
    call.scalars = <Argument *>place
    place += schema.scalar_count * sizeof(Argument)
    call.arguments = <Argument *>place
    place += max(schema.plan.count, schema.workspace_plan.count) * sizeof(Argument)
    call.settings = <void **>place
    place += schema.settings_count * sizeof(void *)
    call.arrays = <PyObject **>place
    place += tensors * sizeof(void *)
    call.host = <char **>place
    place += tensors * sizeof(void *)
    call.owners = <int *>place
    place += symbols * sizeof(int)
    call.resident = <bint *>place
    place += tensors * sizeof(int)
    call.absent = <bint *>place
    place += tensors * sizeof(int)
    return place


cdef inline void place_at(Call *call, const Call *offsets, char *memory) noexcept nogil:
    """Let the arrays of a call lie in a piece of memory, at the places that `lay_out` found from address 0 on."""
    call.views = <View *>(memory + <uintptr_t>offsets.views)
    call.values = <int64_t *>(memory + <uintptr_t>offsets.values)
    call.scalars = <Argument *>(memory + <uintptr_t>offsets.scalars)
    call.arguments = <Argument *>(memory + <uintptr_t>offsets.arguments)
    call.settings = <void **>(memory + <uintptr_t>offsets.settings)
    call.arrays = <PyObject **>(memory + <uintptr_t>offsets.arrays)
    call.host = <char **>(memory + <uintptr_t>offsets.host)
    call.owners = <int *>(memory + <uintptr_t>offsets.owners)
    call.resident = <bint *>(memory + <uintptr_t>offsets.resident)
    call.absent = <bint *>(memory + <uintptr_t>offsets.absent)


cdef inline tuple dims_tuple(const int64_t *dims, int ndim):
    """Return dims as a tuple of ints."""
    cdef int axis
    cdef tuple shape = PyTuple_New(ndim)
    for axis in range(ndim):
        size = <object>dims[axis]
        Py_INCREF(size)  # the tuple takes this reference
        PyTuple_SetItem(shape, axis, size)
    return shape


cdef str strides_text(const View *view):
    return str([<object>view.strides[axis] * view.stride_unit for axis in range(view.ndim)]) + " bytes"


cdef str function_name(int number):
    for name, row in _FUNCTIONS.items():
        if row[0] == number:
            return name
    return ""


cdef inline bint describes(const Slot *slot, const View *view, int layout) noexcept nogil:
    """Tell whether a kept descriptor already describes `view`."""
    cdef int axis
    if slot.dtype != view.dtype or slot.layout != layout or slot.ndim != view.ndim:
        return False
    for axis in range(view.ndim):
        if slot.shape[axis] != view.shape[axis]:
            return False
    return True


cdef int set_descriptor(FunctionTable *table, Slot *slot, const View *view, int layout, int *failed) noexcept nogil:
    """Make a kept descriptor describe `view`."""
    cdef int status, axis
    cdef int dims[MAX_DIMS]
    if slot.descriptor == NULL:
        status = table.mluOpCreateTensorDescriptor(&slot.descriptor)
        if status != SUCCESS:
            slot.descriptor = NULL
            failed[0] = NUMBER_CREATE
            return status
    if table.mluOpSetTensorDescriptor_v2 != NULL:
        failed[0] = NUMBER_SET_V2
        status = table.mluOpSetTensorDescriptor_v2(slot.descriptor, layout, view.dtype, view.ndim, view.shape)
    else:
        failed[0] = NUMBER_SET
        for axis in range(view.ndim):
            dims[axis] = <int>min(view.shape[axis], <int64_t>INT32_MAX)
        status = table.mluOpSetTensorDescriptor(slot.descriptor, layout, view.dtype, view.ndim, dims)
    slot.dtype = 0
    if status == SUCCESS:
        slot.dtype, slot.layout, slot.ndim = view.dtype, layout, view.ndim
        memcpy(slot.shape, view.shape, view.ndim * sizeof(int64_t))
    return status

cdef int NUMBER_CREATE = _FUNCTIONS["mluOpCreateTensorDescriptor"][0]
cdef int NUMBER_SET = _FUNCTIONS["mluOpSetTensorDescriptor"][0]
cdef int NUMBER_SET_V2 = _FUNCTIONS["mluOpSetTensorDescriptor_v2"][0]


cdef extern from *:
    """
    /* Returns the position of the first value outside [0, limits[position % columns]), or -1 if there is none;
     * columns is 1, 2 or 4. Whole blocks are compared without branches, which compilers turn into vector code;
     * only a block with such a value is searched. */
    static int64_t first_outside(const int32_t *values, int64_t count, const int64_t *limits, int columns) {
      enum { BLOCK = 4096 };
      uint32_t bounds[4];
      for (int i = 0; i < 4; i++) {
        bounds[i] = (uint32_t)(limits[i % columns] > INT32_MAX ? (int64_t)INT32_MAX + 1 : limits[i % columns]);
      }
      for (int64_t start = 0; start < count; start += BLOCK) {
        const int32_t *block = values + start;
        const int64_t size = count - start < BLOCK ? count - start : BLOCK;
        uint32_t outside = 0;
        int64_t i = 0;
        for (; i + 4 <= size; i += 4) {
          outside |= (uint32_t)block[i] >= bounds[0];
          outside |= (uint32_t)block[i + 1] >= bounds[1];
          outside |= (uint32_t)block[i + 2] >= bounds[2];
          outside |= (uint32_t)block[i + 3] >= bounds[3];
        }
        for (; i < size; i++) {
          outside |= (uint32_t)block[i] >= bounds[i % 4];
        }
        for (i = 0; outside != 0; i++) {
          if ((uint32_t)block[i] >= bounds[i % 4]) return start + i;
        }
      }
      return -1;
    }
    """
    int64_t first_outside(const int32_t *values, int64_t count, const int64_t *limits, int columns) noexcept nogil
