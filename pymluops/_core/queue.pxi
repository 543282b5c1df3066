# Queues of a device, and what its runtime answers. Included by _core.pyx.

# What a library for a device must bring besides the operators.
_RUNTIME = (
    "cnrtMalloc", "cnrtFree", "cnrtMemcpy", "cnrtMemcpyAsync", "cnrtQueueCreate", "cnrtQueueDestroy", "cnrtQueueQuery",
    "cnrtQueueSync", "cnrtGetErrorStr",
)


cdef int require_device(Backend backend, str caller) except -1:
    """Refuse a library without device memory."""
    if not backend.on_device:
        raise errors.NotSupportedError(
            f"{caller}: backend: expected one with device memory and queues, got {backend.name}, which computes in "
            "host memory and is done when a call returns"
        )
    for function in _RUNTIME:
        if not backend.exports(function):
            raise missing(backend, function, caller)
    return 0


# ---- Errors --------------------------------------------------------------------------------------


cdef object device_failure(Backend backend, str function, int status):
    """Return the error for what a function of the runtime returned."""
    text = f"{function}: {text_of(backend.table.cnrtGetErrorStr(status))} ({status})"
    if backend.table.mlusimGetLastError != NULL:
        # The simulator's findings are more precise than the status, but may be about an earlier
        # call.
        reason = text_of(backend.table.mlusimGetLastError())
        # Of a function of the host that a queue ran, the status alone says nothing.
        told = status == cnrtErrorUnknown and reason.startswith("cnrtInvokeHostFunc: ")
        text = reason if told or reason.startswith(f"{function}: ") else text
    if status == cnrtErrorNoMem or status == cnrtErrorSysNoMem:
        return errors.AllocFailedError(text, function=function)
    if status == cnrtErrorNotSupport:
        return errors.NotSupportedError(text, function=function)
    if status == cnrtErrorInvalidResourceHandle:
        return errors.BadParamError(text, function=function)
    if (status == cnrtErrorInit or status == cnrtErrorNoDevice or status == cnrtErrorDeviceInvalid
            or status == cnrtErrorNoCnrtContext):
        return errors.NotInitializedError(text, function=function)
    return execution_failure(backend, function, text)


cdef object simulator_failure = None


def register_simulator(failure):
    """Register the function that returns the findings of the simulator; importing `pymluops.sim` calls this."""
    global simulator_failure
    simulator_failure = failure


cdef object execution_failure(Backend backend, str function, str text):
    """Return the error for a kernel that failed, with the report of the simulator if there is one, else `text`."""
    if simulator_failure is not None and backend.table.mlusimGetReport != NULL:
        report, findings = simulator_failure(backend)
        if findings:
            return errors.ExecutionFailedError(report or text, function=function, findings=findings)
    return errors.ExecutionFailedError(text, function=function)


# ---- Queues --------------------------------------------------------------------------------------


@cython.final
cdef class Queue:
    """Queue(backend=None)
--

    A queue of a device: what is put into it is done in order, while Python goes on.

    A `Handle` made with ``queue=`` puts operators into it, `DeviceArray` copies. Work in one queue
    waits for nothing in another, but for the arrays concerned: a queue does not touch an array that
    another one still works on.

    Parameters
    ----------
    backend : Backend, str or os.PathLike, optional
        The library, or what `pymluops.load` takes; the default backend if not given.

    Raises
    ------
    NotSupportedError
        If the library has no queues, as that for the CPU.
    NotInitializedError
        If the library cannot be loaded; also by any use after `close`.

    Attributes
    ----------
    backend : Backend
        The library.

    Examples
    --------
    >>> with pymluops.Queue("sim") as queue:  # doctest: +SKIP
    ...     handle = pymluops.Handle(queue=queue)
    ...     moved = pymluops.tin_shift_forward(frames, shifts, handle=handle)  # two DeviceArrays
    ...     queue.sync()
    """

    cdef QueueState state  # None: closed
    cdef readonly Backend backend
    cdef object __weakref__

    def __cinit__(self, backend=None):
        cdef QueueState state
        cdef cnrtQueue_t queue = NULL
        cdef FunctionTable *table
        cdef int status
        self.backend = as_backend(backend)
        require_device(self.backend, "Queue")
        self.backend.tidy()
        table = self.backend.table
        state = new_queue_state(self.backend, NULL)  # needs memory, so it comes first
        with nogil:
            status = table.cnrtQueueCreate(&queue)
        if status != 0:
            raise device_failure(self.backend, "cnrtQueueCreate", status)
        state.queue, state.owned = queue, True
        self.state = state

    def __dealloc__(self):
        cdef QueueState state = self.state
        self.state = None
        if state is not None:
            state.release()

    cdef QueueState opened(self, str caller="Queue"):
        if self.state is None:
            raise errors.NotInitializedError(f"{caller}: {'' if caller == 'Queue' else 'queue: '}is closed")
        return self.state

    def sync(self):
        """Wait until everything in the queue is done.

        Raises
        ------
        ExecutionFailedError
            If something in it failed: the message is the simulator's report or what the runtime
            says. What stood behind it was dropped; the arrays concerned hold anything. The queue
            can be used again.
        """
        cdef QueueState state = self.opened()
        error = state.settle(state.issued)
        if error is not None:
            raise error

    @property
    def done(self):
        """Whether everything in the queue is done; what failed is raised as by `sync`."""
        return self.opened().query()

    def query(self):
        """Return `done`, which replaces this method.

        .. deprecated:: 0.1.0
        """
        warnings.warn("Queue.query() is deprecated, use Queue.done", DeprecationWarning, stacklevel=1)
        return self.done

    @property
    def address(self):
        """The ``cnrtQueue_t`` as an integer."""
        return <uintptr_t>self.opened().queue

    def close(self):
        """Wait for what is in the queue, then destroy it; a second call does nothing.

        What failed is raised as by `sync`, when the queue is gone. Handles that were made with it
        cannot be used any more.
        """
        cdef QueueState state = self.state
        if state is None:
            return
        self.state = None
        state.open = False
        try:
            error = state.settle(state.issued)
        finally:
            state.release()
        if error is not None:
            raise error

    @property
    def closed(self):
        """Whether `close` was called."""
        return self.state is None

    def __enter__(self):
        self.opened()
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.close()
            return
        try:
            self.close()
        except errors.MluOpError:
            pass  # the error that ends the block is the one to see

    def __repr__(self):
        return f"<pymluops.Queue on {self.backend.name}{'' if self.state is not None else ', closed'}>"

    def __reduce__(self):
        raise TypeError("a Queue cannot be pickled or copied, it belongs to this process: make one where it is used")


cdef QueueState queue_argument(Backend backend, str caller, object queue):
    """Return the state of the `Queue` that a caller gave for work on arrays of `backend`."""
    cdef QueueState state
    if not isinstance(queue, Queue):
        raise errors.BadParamTypeError(f"{caller}: queue: expected a Queue or None, got {_arguments.shown(queue)}")
    state = (<Queue>queue).opened(caller)
    if state.backend is not backend:
        raise errors.BadParamError(
            f"{caller}: queue: expected a Queue on {backend.name}, got one on {state.backend.name}"
        )
    return state
