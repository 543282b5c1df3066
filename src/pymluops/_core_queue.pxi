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


# ---- Errors ----------------------------------------------------------------------------------------------------------


cdef object device_failure(Backend backend, str function, int status):
    """Return the error for what a function of the runtime returned."""
    text = f"{function}: {text_of(backend.table.cnrtGetErrorStr(status))} ({status})"
    if backend.table.mlusimGetLastError != NULL:
        # The simulator knows better what was wrong with a call; what it knows may be about an earlier one.
        reason = text_of(backend.table.mlusimGetLastError())
        text = reason if reason.startswith(f"{function}: ") else text
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


cdef object execution_failure(Backend backend, str function, str text):
    """Return the error for a kernel that failed: the simulator tells more than `text`."""
    if backend.table.mlusimGetReport != NULL:
        from pymluops import sim

        report, findings = sim.take_failure(backend)
        if findings:
            return errors.ExecutionFailedError(report or text, function=function, findings=findings)
    return errors.ExecutionFailedError(text, function=function)


# ---- Queues ----------------------------------------------------------------------------------------------------------


@cython.final
@cython.no_gc_clear
cdef class QueueState:
    """A ``cnrtQueue_t`` and how far its work has come.

    Work that this package queues is numbered, from 1. Who needs the end of some work keeps this object and the number;
    a queue that is gone has finished all of its work.
    """

    cdef Backend backend
    cdef FunctionTable *table
    cdef cnrtQueue_t queue
    cdef bint owned  # by this object, which destroys it
    cdef bint open  # for new work
    cdef int users  # the Queue, handles, and waits under way: the last one to go destroys it
    cdef int64_t issued  # number of the latest work
    cdef int64_t finished  # all work up to this number is over
    cdef list kept  # (number, object): what must live as long as the work
    cdef object error  # that a wait found and nobody has seen,
    cdef int64_t suspect  # of work from this number on

    cdef int64_t issue(self) noexcept:
        self.issued += 1
        return self.issued

    cdef void keep(self, int64_t number, object thing):
        self.kept.append((number, thing))

    cdef void finish(self, int64_t number):
        if number > self.finished:
            self.finished = number
            self.kept = [entry for entry in self.kept if entry[0] > number]

    cdef object settle(self):
        """Wait for all work; return the error that it ended with, or None."""
        self.users += 1  # nobody may destroy the queue meanwhile
        error = self.sync()
        self.release()
        if self.error is not None:
            error, self.error = self.error, error
        return error

    cdef object sync(self):
        cdef int64_t number = self.issued
        cdef int status
        with nogil:
            status = self.table.cnrtQueueSync(self.queue)
        if status == 0:
            self.finish(number)
            return None
        self.suspect = self.finished + 1
        self.finish(number)
        return device_failure(self.backend, "cnrtQueueSync", status)

    cdef int wait(self, int64_t number) except -1:
        """Wait until the work of this number is over, and raise the error that it may have ended with."""
        error = None
        if number > self.finished:
            error = self.settle()
        elif self.error is not None and number >= self.suspect:
            error, self.error = self.error, None
        if error is not None:
            raise error
        return 0

    cdef void wait_quietly(self, int64_t number):
        """Wait in a destructor: whoever waits next sees the error."""
        if number > self.finished:
            self.error = self.settle()

    cdef bint query(self) except -1:
        """Tell whether all work is over; raise its error."""
        cdef int64_t number = self.issued
        cdef int status
        with nogil:
            status = self.table.cnrtQueueQuery(self.queue)
        if status == cnrtErrorNotReady or status == cnrtErrorBusy:
            return False
        self.finish(number)
        if status != 0:
            raise device_failure(self.backend, "cnrtQueueQuery", status)
        if self.error is not None:
            error, self.error = self.error, None
            raise error
        return True

    cdef void release(self):
        self.users -= 1
        if self.users == 0:
            self.end()

    cdef void end(self):
        """Wait for work that is left and give the queue up; an error that nobody asked for is lost."""
        self.open = False
        with nogil:
            if self.issued > self.finished:
                self.table.cnrtQueueSync(self.queue)
            if self.owned:
                self.table.cnrtQueueDestroy(self.queue)
        self.owned = False
        self.finish(self.issued)


cdef QueueState new_queue_state(Backend backend, void *queue):
    cdef QueueState state = QueueState.__new__(QueueState)
    state.backend, state.table, state.queue, state.open, state.kept = backend, backend.table, queue, True, []
    return state


cdef QueueState default_queue(Backend backend):
    """Return the state of a library's default queue, one for all."""
    if backend.default_queue is None:
        backend.default_queue = new_queue_state(backend, NULL)
        (<QueueState>backend.default_queue).users = 1  # the library itself
    return <QueueState>backend.default_queue


@cython.final
cdef class Queue:
    """Queue(backend=None)
--

    A queue of a device: what is put into it is done in order, while Python goes on.

    A `Handle` made with ``queue=`` puts operators into it, `DeviceArray` copies. Work in one queue waits for nothing in
    another, but for the arrays concerned: a queue does not touch an array that another one still works on.

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
        cdef cnrtQueue_t queue = NULL
        cdef FunctionTable *table
        cdef int status
        self.backend = as_backend(backend)
        require_device(self.backend, "Queue")
        table = self.backend.table
        with nogil:
            status = table.cnrtQueueCreate(&queue)
        if status != 0:
            raise device_failure(self.backend, "cnrtQueueCreate", status)
        self.state = new_queue_state(self.backend, queue)
        self.state.owned, self.state.users = True, 1

    def __dealloc__(self):
        if self.state is not None:
            self.state.release()

    cdef QueueState opened(self, str caller="Queue"):
        if self.state is None:
            raise errors.NotInitializedError(f"{caller}: {'' if caller == 'Queue' else 'queue: '}is closed")
        return self.state

    def sync(self):
        """Wait until everything in the queue is done.

        Raises
        ------
        ExecutionFailedError
            If something in it failed: the message is the simulator's report or what the runtime says. What stood behind
            it was dropped; the arrays concerned hold anything. The queue can be used again.
        """
        error = self.opened().settle()
        if error is not None:
            raise error

    def query(self):
        """Tell whether everything in the queue is done; what failed is raised as by `sync`."""
        return self.opened().query()

    @property
    def done(self):
        """What `query` returns."""
        return self.query()

    @property
    def address(self):
        """The ``cnrtQueue_t`` as an integer."""
        return <uintptr_t>self.opened().queue

    def close(self):
        """Wait for what is in the queue, then destroy it; a second call does nothing.

        What failed is raised as by `sync`, when the queue is gone. Handles that were made with it cannot be used any
        more.
        """
        cdef QueueState state = self.state
        if state is None:
            return
        self.state = None
        state.open = False
        error = state.settle()
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
        raise TypeError("a Queue cannot be pickled: it belongs to this process")


cdef QueueState queue_argument(Backend backend, str caller, object queue):
    """Return the state of the `Queue` that a caller gave for work on arrays of `backend`."""
    cdef QueueState state
    if not isinstance(queue, Queue):
        raise errors.BadParamError(f"{caller}: queue: expected a Queue or None, got {_arguments.shown(queue)}")
    state = (<Queue>queue).opened(caller)
    if state.backend is not backend:
        raise errors.BadParamError(
            f"{caller}: queue: expected a Queue on {backend.name}, got one on {state.backend.name}"
        )
    return state
