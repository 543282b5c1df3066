# Handles. Included by _core.pyx.

# One descriptor that a handle keeps, with its current contents.
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

    One handle serves one thread at a time; a second thread that calls with it waits. Operators that
    are not given a handle use one that belongs to the thread.

    A handle without a queue can be pickled and copied: the copy is another handle for the same
    library.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library, or what `pymluops.load` takes; the default backend if not given.
    queue : Queue or int, optional
        Where operators are put on a device: a `Queue`, or the address of a ``cnrtQueue_t``, which
        must outlive the handle; the default queue if not given.

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
    cdef Slot *slots  # a kept descriptor for each array of an operator
    cdef int slot_count
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
            queue_argument(self.backend, "Handle", queue)
        make_lock(&self.lock)
        with nogil:
            status = self.table.mluOpCreate(&self.handle)
        if status != SUCCESS:
            raise failure(self.backend, "mluOpCreate", status)
        self.alive = True
        if isinstance(queue, Queue):  # another thread may have closed it during the creation
            pointer = queue_argument(self.backend, "Handle", queue).queue
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
        free(self.slots)
        free_lock(&self.lock)

    cdef int reserve(self, int count) except -1:
        """Have a slot for each array of an operator with `count` of them; the lock must be held."""
        cdef Slot *slots = <Slot *>realloc(self.slots, count * sizeof(Slot))
        if slots == NULL:
            raise errors.AllocFailedError("Handle: no memory for descriptors")
        memset(slots + self.slot_count, 0, (count - self.slot_count) * sizeof(Slot))
        self.slots, self.slot_count = slots, count
        return 0

    cdef void destroy(self) noexcept:
        cdef QueueState state = self.state
        cdef bint alive = self.alive
        cdef int i
        self.alive, self.state, self.queue_given = False, None, None
        for i in range(self.slot_count):
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
            raise TypeError(
                "a Handle with a queue cannot be pickled or copied, the queue belongs to this process: pickle one "
                "without a queue"
            )
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
