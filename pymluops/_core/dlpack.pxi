# DLPack: its structures, the C exchange API of a type, and tensors that show memory of ours.
# Included by _core.pyx.

cdef extern from *:
    """
    /* The part of DLPack 1.x that is needed. */
    typedef struct { int32_t device_type; int32_t device_id; } DLDevice;
    typedef struct { uint8_t code; uint8_t bits; uint16_t lanes; } DLDataType;
    typedef struct {
      void *data; DLDevice device; int32_t ndim; DLDataType dtype; int64_t *shape; int64_t *strides; uint64_t
      byte_offset;
    } DLTensor;
    typedef struct DLManagedTensor {
      DLTensor dl_tensor; void *manager_ctx; void (*deleter)(struct DLManagedTensor *);
    } DLManagedTensor;
    typedef struct DLManagedTensorVersioned {
      uint32_t major; uint32_t minor; void *manager_ctx; void (*deleter)(struct DLManagedTensorVersioned *);
      uint64_t flags; DLTensor dl_tensor;
    } DLManagedTensorVersioned;

    /* What the capsule __dlpack_c_exchange_api__ of a type holds. A table of another major version may be linked. */
    typedef struct DLExchangeHeader { uint32_t major; uint32_t minor; struct DLExchangeHeader *previous; }
    DLExchangeHeader;
    typedef struct {
      DLExchangeHeader header;
      int (*allocate)(DLTensor *, DLManagedTensorVersioned **, void *, void (*)(void *, const char *, const char *));
      int (*from_object)(void *object, DLManagedTensorVersioned **out);
      int (*to_object)(DLManagedTensorVersioned *tensor, void **out);
      int (*borrow)(void *object, DLTensor *out); /* may be NULL */
      int (*current_stream)(int device_type, int32_t device_id, void **out);
    } DLExchange;

    static const DLExchange *exchange_of_version_1(void *table) {
      DLExchangeHeader *header = (DLExchangeHeader *)table;
      while (header != NULL && header->major != 1) header = header->previous;
      return (const DLExchange *)header;
    }

    /* A tensor that shows memory of ours, in both forms. */
    typedef struct {
      DLManagedTensorVersioned versioned;
      DLManagedTensor plain;
      int64_t shape[8], strides[8];
      PyObject *owner; /* of the memory; NULL: the memory belongs to the pool */
    } Exported;

    static void delete_pooled(DLManagedTensorVersioned *tensor) {
      pool_give(tensor->dl_tensor.data);
      free(tensor->manager_ctx);
    }

    static Exported *new_exported(void *data, int device, int ndim, const int64_t *shape, DLDataType dtype) {
      Exported *exported = (Exported *)calloc(1, sizeof(Exported));
      if (exported == NULL) return NULL;
      int64_t stride = 1;
      for (int axis = ndim - 1; axis >= 0; axis--) {
        exported->shape[axis] = shape[axis];
        exported->strides[axis] = stride;
        /* Beside a dim of 0 the product may be too large, and does not matter. */
        if (__builtin_mul_overflow(stride, shape[axis], &stride)) stride = 0;
      }
      const DLTensor tensor = {
        data, {device, 0}, ndim, dtype, exported->shape, exported->strides, 0
      };
      exported->versioned.major = 1;
      exported->versioned.dl_tensor = exported->plain.dl_tensor = tensor;
      exported->versioned.manager_ctx = exported->plain.manager_ctx = exported;
      exported->versioned.deleter = delete_pooled;
      return exported;
    }

    /* A capsule that was not consumed still has its first name. */
    static void delete_capsule(PyObject *capsule) {
      if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
        DLManagedTensorVersioned *tensor = PyCapsule_GetPointer(capsule, "dltensor_versioned");
        tensor->deleter(tensor);
      } else if (PyCapsule_IsValid(capsule, "dltensor")) {
        DLManagedTensor *tensor = PyCapsule_GetPointer(capsule, "dltensor");
        tensor->deleter(tensor);
      }
    }

    static PyObject *capsule_of(Exported *exported, int versioned) {
      return versioned ? PyCapsule_New(&exported->versioned, "dltensor_versioned", delete_capsule)
                       : PyCapsule_New(&exported->plain, "dltensor", delete_capsule);
    }
    """
    ctypedef struct DLDevice:
        int32_t device_type
    ctypedef struct DLDataType:
        uint8_t code
        uint8_t bits
        uint16_t lanes
    ctypedef struct DLTensor:
        void *data
        DLDevice device
        int32_t ndim
        DLDataType dtype
        int64_t *shape
        int64_t *strides
        uint64_t byte_offset
    ctypedef struct DLManagedTensor:
        DLTensor dl_tensor
        void *manager_ctx
        void (*deleter)(DLManagedTensor *) noexcept
    ctypedef struct DLManagedTensorVersioned:
        uint32_t major
        void *manager_ctx
        void (*deleter)(DLManagedTensorVersioned *) noexcept
        uint64_t flags
        DLTensor dl_tensor
    ctypedef struct DLExchange:
        int (*from_object)(void *object, DLManagedTensorVersioned **out) noexcept
        int (*to_object)(DLManagedTensorVersioned *tensor, void **out) noexcept
        int (*borrow)(void *object, DLTensor *out) noexcept
    ctypedef struct Exported:
        DLManagedTensorVersioned versioned
        DLManagedTensor plain
        PyObject *owner
    const DLExchange *exchange_of_version_1(void *table) noexcept
    Exported *new_exported(void *data, int device, int ndim, const int64_t *shape, DLDataType dtype) noexcept
    object capsule_of(Exported *exported, bint versioned)

cdef extern from "Python.h":
    PyObject *PyErr_Occurred() noexcept
    void PyErr_Clear() noexcept
    void PyErr_Fetch(PyObject **kind, PyObject **value, PyObject **trace) noexcept
    void PyErr_Restore(PyObject *kind, PyObject *value, PyObject *trace) noexcept

cdef enum:
    MOST_EXCHANGES = 8  # types that are remembered
    DL_CPU = 1
    DL_CUDA_HOST = 3
    DL_ROCM_HOST = 11
    DL_EXTENSION = 12  # what PyTorch calls a device of its PrivateUse1 backend, an MLU among them
    DL_READ_ONLY = 1
    DL_COPIED = 2
    DL_NO_CODE = 255

# The type code of DLPack, by DataType.
cdef uint8_t dlpack_codes[MAX_DATA_TYPES]
memset(dlpack_codes, DL_NO_CODE, sizeof(dlpack_codes))
for _row in dtypes.TABLE:
    if _row.dlpack_code >= 0:
        dlpack_codes[<int>_row.data_type] = _row.dlpack_code


# ---- The exchange API of a type ------------------------------------------------------------------


@cython.final
cdef class Exchange:
    """The DLPack exchange API of one type, and the states of its objects that the API does not report."""

    cdef object kind
    cdef object capsule  # keeps the table
    cdef const DLExchange *table
    cdef bint is_torch
    cdef bint has_grad
    cdef bint has_conj
    cdef bint has_neg


# The types met so far, the latest first. The tuple is replaced as a whole: threads see the old one
# or the new one.
cdef tuple exchanges = ()


cdef object torch_tensor_type():
    """Return ``torch.Tensor`` if the program has imported torch, else None; torch is not imported for this."""
    kind = getattr(sys.modules.get("torch"), "Tensor", None)
    return kind if isinstance(kind, type) else None


cdef Exchange exchange_of(object kind):
    """Return the exchange API of a type, or None.

    A subclass does not inherit it: the API is made for objects of exactly its type, and a subclass
    may mean more.
    """
    cdef Exchange exchange
    cdef const DLExchange *table
    for exchange in exchanges:
        if exchange.kind is kind:
            return exchange
    try:
        capsule = type.__getattribute__(kind, "__dict__").get("__dlpack_c_exchange_api__")
    except Exception:
        return None
    if capsule is None or not PyCapsule_IsValid(capsule, "dlpack_exchange_api"):
        return None
    table = exchange_of_version_1(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"))
    if table == NULL or table.from_object == NULL:
        return None
    return remember_exchange(kind, capsule, table)


cdef Exchange remember_exchange(object kind, object capsule, const DLExchange *table):
    global exchanges
    cdef Exchange exchange = Exchange.__new__(Exchange)
    exchange.kind, exchange.capsule, exchange.table = kind, capsule, table
    exchange.is_torch = kind is torch_tensor_type()
    exchange.has_grad = hasattr(kind, "requires_grad")
    exchange.has_conj, exchange.has_neg = hasattr(kind, "is_conj"), hasattr(kind, "is_neg")
    exchanges = (exchange, *exchanges[:MOST_EXCHANGES - 1])
    return exchange


cdef str acquire_exchange(View *view, Exchange exchange, object array):
    """Fill `view` through the exchange API, as `acquire` does."""
    cdef DLTensor tensor
    cdef DLManagedTensorVersioned *managed = NULL
    cdef str problem
    try:
        problem = hidden_state(exchange.has_grad, exchange.has_conj, exchange.has_neg, array)
        if problem is not None:
            return problem
        # A borrowed tensor has no read-only flag. Those of torch are always writable.
        if exchange.is_torch and exchange.table.borrow != NULL:
            if exchange.table.borrow(<void *>array, &tensor) != 0:
                exchange_failed()
            if 0 <= tensor.ndim <= MAX_DIMS:
                return read_tensor(view, &tensor, 0)
        if exchange.table.from_object(<void *>array, &managed) != 0 or managed == NULL:
            exchange_failed()
    except Exception as error:
        return unreadable_text(view, array, error)
    return read_managed(view, managed)


cdef int exchange_failed() except -1:
    """Raise what a function of the exchange API has set."""
    if PyErr_Occurred() == NULL:
        raise BufferError("the DLPack exchange API of its type failed without a reason")
    return -1


cdef str hidden_state(bint has_grad, bint has_conj, bint has_neg, object array):
    """Return what is wrong with a tensor whose memory alone does not say what its values are, or None."""
    if has_grad and array.requires_grad:
        return f"a tensor that does not require grad, got {array_text(array)} that does"
    if has_neg and array.is_neg():
        return f"a tensor without pending negation, got {array_text(array)} with it; resolve_neg() makes one"
    if has_conj and array.is_conj():
        return f"a tensor without pending conjugation, got {array_text(array)} with it; resolve_conj() makes one"
    return None


# ---- Results as tensors of torch -----------------------------------------------------------------


cdef bint is_torch_tensor(object array):
    """Tell whether an array is a tensor of torch, of a subclass too."""
    cdef Exchange exchange
    kind = type(array)
    if kind is ndarray or kind is DeviceArray:
        return False
    for exchange in exchanges:
        if exchange.kind is kind:
            return exchange.is_torch
    tensor = torch_tensor_type()
    return tensor is not None and issubclass(kind, tensor)


cdef object new_torch_tensor(tuple shape, const int64_t *dims, int ndim, int dtype, int64_t size):
    """Return a new tensor of torch of `size` bytes whose values are not set. Its memory is the pool's."""
    cdef Exchange exchange = exchange_of(torch_tensor_type())
    cdef void *data
    if exchange is None or exchange.table.to_object == NULL:
        return sys.modules["torch"].from_numpy(new_ndarray(shape, numpy_dtypes[dtype], size))
    data = pool_take(size)
    if data == NULL:
        raise MemoryError
    return torch_tensor_around(exchange, data, dims, ndim, dtype)


cdef object torch_tensor_around(Exchange exchange, void *data, const int64_t *dims, int ndim, int dtype):
    """Return a new tensor of torch that owns `data`, memory of the pool. It takes that over, also if it fails."""
    cdef DLDataType element
    cdef Exported *exported
    cdef void *tensor = NULL
    element.code, element.bits, element.lanes = dlpack_codes[dtype], <uint8_t>(8 * itemsizes[dtype]), 1
    exported = new_exported(data, DL_CPU, ndim, dims, element)
    if exported == NULL:
        pool_give(data)
        raise MemoryError
    if exchange.table.to_object(&exported.versioned, &tensor) != 0 or tensor == NULL:
        exchange_failed()
    result = <object>tensor
    Py_DECREF(result)
    return result


def of_kind(like, result):
    """Return a new result, a NumPy array or a `DeviceArray`, as a tensor of torch if `like` is one; no copy is made."""
    if not is_torch_tensor(like):
        return result
    torch = sys.modules["torch"]
    return torch.from_numpy(result) if type(result) is ndarray else torch.from_dlpack(result)


# ---- A DeviceArray for others --------------------------------------------------------------------


cdef object export_device_array(DeviceArray array, bint versioned):
    """Return a capsule that keeps the array and its memory, also if the array is closed meanwhile."""
    cdef DLDataType element
    cdef Exported *exported
    element.code, element.bits, element.lanes = (
        dlpack_codes[array.data_type], <uint8_t>(8 * array.itemsize), 1
    )
    exported = new_exported(array.data, DL_EXTENSION, array.rank, array.dims, element)
    if exported == NULL:
        raise errors.AllocFailedError("DeviceArray.__dlpack__: no memory for a capsule")
    exported.versioned.deleter, exported.plain.deleter = delete_versioned_export, delete_plain_export
    Py_INCREF(array)
    array.users += 1
    exported.owner = <PyObject *>array
    try:
        return capsule_of(exported, versioned)
    except MemoryError:
        delete_export(exported)
        raise


cdef void delete_versioned_export(DLManagedTensorVersioned *tensor) noexcept with gil:
    delete_export(<Exported *>tensor.manager_ctx)


cdef void delete_plain_export(DLManagedTensor *tensor) noexcept with gil:
    delete_export(<Exported *>tensor.manager_ctx)


cdef void delete_export(Exported *exported) noexcept:
    """Let the array go. A consumer that failed calls this with its error set, which stays as it is."""
    cdef PyObject *kind
    cdef PyObject *value
    cdef PyObject *trace
    cdef DeviceArray array
    PyErr_Fetch(&kind, &value, &trace)
    array = <DeviceArray>exported.owner
    free(exported)
    Py_DECREF(array)
    array.release()
    array = None
    PyErr_Restore(kind, value, trace)
