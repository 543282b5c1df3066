# What an operator is made of, what one call holds, and the steps of a call that need no Python. Included by _core.pyx.

cdef enum:
    MAX_SYMBOLS = 16
    MAX_SCALARS = 8
    MAX_PARAMETERS = 16
    MAX_FACTORS = 3
    MAX_COLUMNS = 4

# Most elements that a tensor of these operators may have.
cdef int64_t COUNT_LIMIT = <int64_t>1 << 31

# A dim: coefficient * product of symbols.
cdef struct Term:
    int64_t coefficient
    int factor_count
    int factors[MAX_FACTORS]

# pymluops.ops._schema.Tensor, ready for use.
cdef struct TensorSpec:
    int ndim
    Term terms[MAX_DIMS]
    uint32_t dtypes  # a bit for every DataType allowed
    int like  # or the tensor with the same type; -1: none
    int layout
    bint output
    int positive_count
    int positive[MAX_DIMS]
    int divisor  # symbols; -1: none
    int dividend
    int column_count  # 0: contents are not looked at
    int columns[MAX_COLUMNS]
    bint library_looks

cdef struct ScalarSpec:
    int symbol
    int64_t minimum
    int64_t maximum

# Where a C argument comes from.
cdef enum StepKind:
    STEP_HANDLE
    STEP_DESCRIPTOR
    STEP_DATA
    STEP_SYMBOL
    STEP_SPARSE
    STEP_WORKSPACE
    STEP_WORKSPACE_SIZE

cdef struct Step:
    StepKind kind
    int index

# The C arguments of one function.
cdef struct Plan:
    int number
    int count
    Step steps[MAX_PARAMETERS]

# Everything about one call.
cdef struct Call:
    View views[MAX_TENSORS]
    int64_t values[MAX_SYMBOLS]  # -1: not known yet
    int owners[MAX_SYMBOLS]  # the tensor that gave the value; -1: a scalar
    mluOpSparseConvolutionDescriptor_t sparse
    void *workspace
    size_t workspace_size
    int failed  # number of the C function that was refused; -1: memory ran out
    # On a device only, but for `resident` and `arrays`.
    bint resident[MAX_TENSORS]  # lies in device memory
    PyObject *arrays[MAX_TENSORS]  # the DeviceArray, held by this call; NULL: none
    char *host[MAX_TENSORS]  # where an array lies whose view points to its place on the device
    int runtime_status  # of the CNRT function that failed
    size_t wanted  # bytes that the device had no room for


# By DataType; None for a type that NumPy does not have.
cdef list numpy_dtypes = [None] * MAX_DATA_TYPES
for _row in dtypes.TABLE:
    try:
        numpy_dtypes[_row.data_type] = np.dtype(_row.name or "none")
    except TypeError:
        pass


cdef int term_value(const Term *term, const int64_t *values, int64_t *known) noexcept nogil:
    """Multiply what is known of a term, and return the symbol that is not; -1 if all is known."""
    cdef int i, unknown = -1
    known[0] = term.coefficient
    for i in range(term.factor_count):
        if values[term.factors[i]] < 0:
            unknown = term.factors[i]
        else:
            known[0] = saturated_product(known[0], values[term.factors[i]])
    return unknown


cdef int first_bit(uint32_t bits) noexcept nogil:
    cdef int number = 0
    while not (bits >> number) & 1:
        number += 1
    return number


cdef str strides_text(const View *view):
    return str([<object>view.strides[axis] * view.stride_unit for axis in range(view.ndim)]) + " bytes"


cdef str function_name(int number):
    for name, row in _FUNCTIONS.items():
        if row[0] == number:
            return name
    return ""


cdef int set_descriptor(FunctionTable *table, Slot *slot, const View *view, int layout, int *failed) noexcept nogil:
    """Make a kept descriptor say what `view` is; nothing to do if it does already."""
    cdef int status, axis
    cdef int dims[MAX_DIMS]
    cdef bint same
    if slot.descriptor == NULL:
        status = table.mluOpCreateTensorDescriptor(&slot.descriptor)
        if status != SUCCESS:
            slot.descriptor = NULL
            failed[0] = NUMBER_CREATE
            return status
    same = slot.dtype == view.dtype and slot.layout == layout and slot.ndim == view.ndim
    if same:
        for axis in range(view.ndim):
            same = same and slot.shape[axis] == view.shape[axis]
        if same:
            return SUCCESS
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
    /* Position of the first value outside [0, limits[position % columns]), columns being 1, 2 or 4; -1 if there is
    none.
     * Compares whole blocks without branches, which the compiler turns into vector code, and looks closer only at a
     block * with a finding. */
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
