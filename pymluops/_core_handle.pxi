# Handles, and descriptors that a library keeps. Included by _core.pyx.

# ---- Handle ----------------------------------------------------------------------------------------------------------

# One descriptor that a handle keeps, and what it was last set to.
cdef struct Slot:
    mluOpTensorDescriptor_t descriptor
    int dtype  # INVALID: never set
    int layout
    int ndim
    int64_t shape[MAX_DIMS]


_HANDLE_NAMES = _arguments.Names("Handle", "mluOpSetQueue")


@cython.final
@cython.no_gc_clear
cdef class Handle:
    """Handle(backend=None, queue=None)
--

    What operators run with: a library and its queue.

    One handle serves one thread at a time; a second thread that calls with it waits. Operators that are not given a
    handle use one that belongs to the thread.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library, or what `pymluops.load` takes; the default backend if not given.
    queue : Queue or int, optional
        Where operators are put on a device: a `Queue`, or the address of a ``cnrtQueue_t``, which must outlive the
        handle; the default queue if not given.

    Raises
    ------
    NotInitializedError
        If the library cannot be loaded; also by any use after `close`.

    Attributes
    ----------
    backend : Backend
        The library.

    Examples
    --------
    >>> import pymluops
    >>> with pymluops.Handle("cpu") as handle:
    ...     handle.backend.name
    'cpu'
    >>> handle.closed
    True
    """

    cdef FunctionTable *table
    cdef mluOpHandle_t handle
    cdef bint alive
    cdef Lock lock  # held during a call: a second thread that uses the same handle waits
    cdef Slot slots[MAX_TENSORS]
    cdef bint on_device
    cdef QueueState state  # of its queue; None where there is no device
    cdef object queue_given
    cdef readonly Backend backend
    cdef object __weakref__

    def __cinit__(self, backend=None, queue=None):
        cdef int status
        cdef void *pointer = NULL
        if isinstance(queue, Queue):
            backend = (<Queue>queue).backend if backend is None else backend
        elif queue is not None:
            pointer = <void *><uintptr_t>_arguments.integer(_HANDLE_NAMES, "queue", queue, 0, 2**64 - 1)
        self.backend = as_backend(backend)
        self.table = self.backend.table
        if isinstance(queue, Queue):
            pointer = queue_argument(self.backend, "Handle", queue).queue
        make_lock(&self.lock)
        with nogil:
            status = self.table.mluOpCreate(&self.handle)
        if status != SUCCESS:
            raise failure(self.backend, "mluOpCreate", status)
        self.alive = True
        if pointer != NULL:
            if self.table.mluOpSetQueue == NULL:
                raise missing(self.backend, "mluOpSetQueue", "Handle")
            check(self.backend, "mluOpSetQueue", self.table.mluOpSetQueue(self.handle, pointer))
        if self.backend.on_device:
            self.take_queue(queue, pointer)
        self.queue_given = queue if pointer != NULL else None

    cdef int take_queue(self, object queue, void *pointer) except -1:
        cdef QueueState state
        require_device(self.backend, "Handle")
        if queue is not None and pointer != NULL and not isinstance(queue, Queue):
            state = new_queue_state(self.backend, pointer)
        else:
            state = (<Queue>queue).opened("Handle") if isinstance(queue, Queue) else default_queue(self.backend)
            state.enter()
        self.state, self.on_device = state, True
        return 0

    def __dealloc__(self):
        self.destroy()
        free_lock(&self.lock)

    cdef void destroy(self) noexcept:
        cdef QueueState state = self.state
        cdef bint alive = self.alive
        cdef int i
        self.alive, self.state, self.queue_given = False, None, None
        for i in range(MAX_TENSORS):
            if self.slots[i].descriptor != NULL and self.table.mluOpDestroyTensorDescriptor != NULL:
                self.table.mluOpDestroyTensorDescriptor(self.slots[i].descriptor)
            self.slots[i].descriptor = NULL
            self.slots[i].dtype = 0
        if alive and self.table.mluOpDestroy != NULL:
            self.table.mluOpDestroy(self.handle)
        if state is not None:
            state.release()

    cdef int acquire(self, str caller, str function="") except -1:
        """Wait until no other thread uses the handle; `give_back` of the lock ends that."""
        if holds(&self.lock):
            raise errors.BadParamError(
                f"{caller}: handle: expected one that this thread does not use, got that of the call during which a "
                "signal handler runs", function=function
            )
        return take(&self.lock)

    def sync(self):
        """Wait until everything in its queue is done; where there is no device, a call is done when it returns.

        Raises
        ------
        ExecutionFailedError
            If something in the queue failed; see `Queue.sync`.
        """
        cdef QueueState state
        self.ensure_open()
        state = self.state
        if state is not None:
            error = state.settle(state.issued)
            if error is not None:
                raise error

    def close(self):
        """Destroy the handle; a second call does nothing. A call that another thread runs with it is waited for."""
        self.acquire("Handle.close")
        try:
            self.destroy()
        finally:
            give_back(&self.lock)

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    cdef int ensure_open(self) except -1:
        if not self.alive:
            raise errors.NotInitializedError("Handle: is closed")
        return 0

    @property
    def queue(self):
        """The queue that the handle was made with, a `Queue` or an address; None for the default queue."""
        self.ensure_open()
        return self.queue_given

    @property
    def cdata(self):
        """The ``mluOpHandle_t`` for functions of ``Backend.lib``, as a cffi pointer that keeps this object alive."""
        self.ensure_open()
        return owned_cdata(self.backend.ffi, "mluOpHandle_t", <uintptr_t>self.handle, self)

    def __enter__(self):
        self.ensure_open()
        return self

    def __exit__(self, *details):
        self.close()

    def __repr__(self):
        return f"<pymluops.Handle on {self.backend.name}{'' if self.alive else ', closed'}>"

    def __reduce__(self):
        if self.queue is not None:
            raise TypeError("a Handle with a queue cannot be pickled: the queue belongs to this process")
        return Handle, (self.backend,)


cdef object owned_cdata(object ffi, str type_name, uintptr_t address, object owner):
    """Return a cffi pointer that keeps `owner` alive as long as it lives itself."""
    return ffi.gc(ffi.cast(type_name, address), _Keep(owner))


class _Keep:
    """A destructor that does nothing but hold an object."""

    def __init__(self, owner):
        self.owner = owner

    def __call__(self, pointer):
        pass


cdef Handle default_handle():
    """Return this thread's handle for the default backend.

    It lies in the dict that Python keeps for the thread, so it goes when the thread goes.
    """
    cdef Backend backend = default_backend if default_backend is not None else as_backend(None)
    cdef PyObject *handles = PyThreadState_GetDict()
    cdef PyObject *found
    cdef Handle handle
    if handles == NULL:
        return Handle(backend)
    found = PyDict_GetItemWithError(<object>handles, backend)
    if found != NULL and (<Handle>found).alive:
        # A signal handler runs during a call of its thread.
        return Handle(backend) if holds(&(<Handle>found).lock) else <Handle>found
    handle = Handle(backend)
    (<dict>handles)[backend] = handle
    return handle


# ---- SparseConvolutionDescriptor -------------------------------------------------------------------------------------


_SPARSE_NAMES = _arguments.Names("SparseConvolutionDescriptor", "mluOpSetSparseConvolutionDescriptor")


@cython.final
cdef class SparseConvolutionDescriptor:
    """SparseConvolutionDescriptor(batch, input_space, filter_space, output_space, stride=1, padding=0, dilation=1, subm=False, *, backend=None)
--

    Geometry of a 3-D sparse convolution, for ``mluOpGetIndicePairs`` through ``Backend.lib``.

    `pymluops.get_indice_pairs` makes its own. Each space and each of `stride`, `padding` and `dilation` is (depth,
    height, width) or one integer for all three.

    Parameters
    ----------
    batch : int
        Number of batches, > 0.
    input_space, filter_space, output_space : int or (int, int, int)
        Sizes, in voxels. The output space is taken as given.
    stride, padding, dilation : int or (int, int, int)
        As in any convolution.
    subm : bool
        Sub-manifold mode.
    backend : Backend, str or os.PathLike, optional
        The library that keeps it; the default backend if not given.

    Raises
    ------
    BadParamError
        If a number is out of range.
    NotInitializedError
        By any use after `close`.

    Examples
    --------
    >>> import pymluops
    >>> geometry = pymluops.SparseConvolutionDescriptor(1, (8, 8, 8), 3, (4, 4, 4), stride=2, padding=1)
    >>> geometry.filter_space, geometry.num_act_out
    ((3, 3, 3), 0)
    """

    cdef FunctionTable *table
    cdef mluOpSparseConvolutionDescriptor_t descriptor
    cdef bint alive
    cdef int users  # calls that run with it now
    cdef readonly Backend backend
    cdef readonly int batch
    cdef readonly tuple input_space, filter_space, output_space, stride, padding, dilation
    cdef readonly bint subm
    cdef object __weakref__

    def __cinit__(self, batch, input_space, filter_space, output_space, stride=1, padding=0, dilation=1, subm=False, *,
                  backend=None):
        self.batch = integer(_SPARSE_NAMES, "batch", batch, 1)
        self.input_space = integers(_SPARSE_NAMES, "input_space", input_space, 3, 1)
        self.filter_space = integers(_SPARSE_NAMES, "filter_space", filter_space, 3, 1)
        self.output_space = integers(_SPARSE_NAMES, "output_space", output_space, 3, 1)
        self.stride = integers(_SPARSE_NAMES, "stride", stride, 3, 1)
        self.padding = integers(_SPARSE_NAMES, "padding", padding, 3, 0)
        self.dilation = integers(_SPARSE_NAMES, "dilation", dilation, 3, 1)
        self.subm = _arguments.flag(_SPARSE_NAMES, "subm", subm)
        self.backend = as_backend(backend)
        self.table = self.backend.table
        for function in ("mluOpCreateSparseConvolutionDescriptor", "mluOpSetSparseConvolutionDescriptor"):
            if not self.backend.exports(function):
                raise missing(self.backend, function, _SPARSE_NAMES.name)
        check(self.backend, "mluOpCreateSparseConvolutionDescriptor",
              self.table.mluOpCreateSparseConvolutionDescriptor(&self.descriptor))
        self.alive = True
        self.set()

    cdef int set(self) except -1:
        cdef int values[6][3]
        cdef int row, column
        spaces = (self.padding, self.stride, self.dilation, self.input_space, self.filter_space, self.output_space)
        for row in range(6):
            for column in range(3):
                values[row][column] = spaces[row][column]
        check(self.backend, "mluOpSetSparseConvolutionDescriptor", self.table.mluOpSetSparseConvolutionDescriptor(
            self.descriptor, 5, self.batch, values[0], values[1], values[2], values[3], values[4], values[5], self.subm,
            0, 0))
        return 0

    def __dealloc__(self):
        self.destroy()

    cdef void destroy(self) noexcept:
        if self.alive and self.table.mluOpDestroySparseConvolutionDescriptor != NULL:
            self.table.mluOpDestroySparseConvolutionDescriptor(self.descriptor)
        self.alive = False

    def close(self):
        """Destroy the descriptor; a second call does nothing."""
        if self.users != 0:
            raise errors.BadParamError("SparseConvolutionDescriptor: cannot be closed while a call uses it")
        self.destroy()

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    cdef int ensure_open(self) except -1:
        if not self.alive:
            raise errors.NotInitializedError("SparseConvolutionDescriptor: is closed")
        return 0

    @property
    def num_act_out(self):
        """Number of output rows that the last call found."""
        cdef int number = 0
        self.ensure_open()
        if self.table.mluOpGetSparseConvolutionNumActOut == NULL:
            raise missing(self.backend, "mluOpGetSparseConvolutionNumActOut", _SPARSE_NAMES.name)
        check(self.backend, "mluOpGetSparseConvolutionNumActOut",
              self.table.mluOpGetSparseConvolutionNumActOut(self.descriptor, &number))
        return number

    @property
    def cdata(self):
        """The ``mluOpSparseConvolutionDescriptor_t`` as a cffi pointer that keeps this object alive."""
        self.ensure_open()
        return owned_cdata(self.backend.ffi, "mluOpSparseConvolutionDescriptor_t", <uintptr_t>self.descriptor, self)

    def __enter__(self):
        self.ensure_open()
        return self

    def __exit__(self, *details):
        self.close()

    def __repr__(self):
        return (f"SparseConvolutionDescriptor(batch={self.batch}, input_space={self.input_space}, "
                f"filter_space={self.filter_space}, output_space={self.output_space}, stride={self.stride}, "
                f"padding={self.padding}, dilation={self.dilation}, subm={self.subm})")

    def __reduce__(self):
        self.ensure_open()
        return _make_sparse, (self.backend, self.batch, self.input_space, self.filter_space, self.output_space,
        self.stride,
                              self.padding, self.dilation, self.subm)


def _make_sparse(backend, *geometry):
    return SparseConvolutionDescriptor(*geometry, backend=backend)
