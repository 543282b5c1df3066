# Calls of kernels and functions that pymluops.bang compiled; see mluops_module.h. Included by
# _core.pyx.

ctypedef int (*KernelLaunch)(const uint32_t *dim, int type, cnrtQueue_t queue, void **values) noexcept nogil
ctypedef int (*HostFunction)(void **values, void *result, char *text, unsigned int size) noexcept nogil


@cython.final
cdef class CompiledCall:
    """The values of one call: where each of them lies, and the arrays among them."""

    cdef void **values  # addresses of the values, which are bytes of Python or in `pointers`
    cdef void **pointers
    cdef list arrays
    cdef tuple given

    def __cinit__(self, tuple given not None):
        cdef Py_ssize_t i, count = len(given)
        self.given, self.arrays = given, []
        self.values = <void **>calloc(2 * count + 1, sizeof(void *))
        if self.values == NULL:
            raise errors.AllocFailedError("out of memory")
        self.pointers = self.values + count
        for i, value in enumerate(given):
            self.values[i] = &self.pointers[i]
            if type(value) is bytes:
                self.values[i] = PyBytes_AsString(value)
            elif type(value) is ArrayArgument:
                self.arrays.append(value)
                self.pointers[i] = (<ArrayArgument>value).view.data
            elif type(value) is Queue:
                self.pointers[i] = (<Queue>value).opened().queue
            elif value is not None:  # a null pointer
                raise TypeError(f"no C argument can be made of a {type(value).__name__}")

    def __dealloc__(self):
        free(self.values)

    cdef list staged(self):
        """Return the arrays in host memory, which the device needs a copy of."""
        cdef ArrayArgument array
        return [array for array in self.arrays if not array.on_device]

    cdef int stage(self, Backend backend, list staged) except -1:
        cdef ArrayArgument array
        cdef Py_ssize_t i
        for array in staged:
            array.stage(backend)
        for i, value in enumerate(self.given):
            if type(value) is ArrayArgument and not (<ArrayArgument>value).on_device:
                self.pointers[i] = (<ArrayArgument>value).place  # null if it is empty

    cdef int before(self, QueueState queue) except -1:
        cdef ArrayArgument array
        for array in self.arrays:
            if array.held is not None:
                array.held.before(queue, array.writes)
        return 0

    cdef int after(self, QueueState queue, int64_t number) except -1:
        cdef ArrayArgument array
        for array in self.arrays:
            if array.held is not None:
                array.held.after(queue, number, array.writes)
        return 0


def launch_kernel(caller, Backend backend not None, queue, uintptr_t launch, tuple dim not None, int kind,
                  tuple values not None):
    """Put a kernel into a queue; wait for it if arrays lie in host memory, and bring back those that it may write.

    Parameters
    ----------
    caller : Caller
        Whose arguments these are.
    backend : Backend
        The simulator.
    queue : Queue or None
        None: the default queue.
    launch : int
        Where its function `launch` is.
    dim : tuple of int
        Three.
    kind : int
        Of the launch: ``cnrtFunctionType_t``.
    values : tuple
        For each parameter the bytes of the value, an `ArrayArgument`, or None for a null pointer.
    """
    cdef QueueState state
    cdef CompiledCall call = CompiledCall(values)
    cdef uint32_t sizes[3]
    sizes[0], sizes[1], sizes[2] = dim
    state = default_queue(backend) if queue is None else queue_argument(backend, caller.name, queue)
    if not state.enter():
        raise errors.NotInitializedError(f"{caller.name}: queue: is closed")
    try:
        launch_into(caller, backend, state, <KernelLaunch>launch, sizes, kind, call)
    finally:
        state.release()


cdef int launch_into(caller, Backend backend, QueueState queue, KernelLaunch launch, const uint32_t *dim, int kind,
                     CompiledCall call) except -1:
    cdef list staged = call.staged()
    cdef Entry entry
    cdef int64_t issued
    cdef bint waiting = len(staged) > 0
    if waiting:  # what failed before shall not pass for this launch
        queue.wait(queue.issued)
    call.before(queue)
    issued = queue.issue(&entry)
    begin_wait(backend)
    try:
        call.after(queue, issued)
        launch_staged(caller, backend, queue, launch, dim, kind, call, staged)
    finally:
        queue.entered(&entry)
        if waiting:
            queue.finish(min(issued, queue.reached()))
        end_wait()
    return 0


cdef int launch_staged(caller, Backend backend, QueueState queue, KernelLaunch launch, const uint32_t *dim, int kind,
                       CompiledCall call, list staged) except -1:
    """Launch, with device memory for what lies in host memory."""
    cdef FunctionTable *table = backend.table
    cdef ArrayArgument array
    cdef bint waiting = len(staged) > 0
    cdef int status, synced = 0
    try:
        call.stage(backend, staged)
        with nogil:
            status = launch(dim, kind, queue.queue, call.values)
            if waiting and status == 0:
                synced = table.cnrtQueueSync(queue.queue)
        if status != 0:
            raise launch_failure(caller, backend, status)
        if synced != 0:
            failure = device_failure(backend, "cnrtQueueSync", synced)
            for array in staged:
                array.save_what_is_left(backend)
            raise failure
        for array in staged:
            array.bring_back(backend)
    finally:
        for array in staged:
            array.unstage(backend)
    return 0


cdef object launch_failure(caller, Backend backend, int status):
    """Return the error for a launch that the device refused."""
    cdef bint explained = status == cnrtErrorArgsInvalid or status == cnrtErrorInvalidKernel
    if explained and backend.table.mlusimGetLastError != NULL:
        return errors.BadParamError(text_of(backend.table.mlusimGetLastError()), function=caller.function)
    return device_failure(backend, "launch", status)


def call_compiled(
    caller, Backend backend not None, uintptr_t function, bytearray result not None, tuple values not None
):
    """Call a function of the host; arrays in host memory stay there.

    Work that others have put into queues, and that the arrays on the device wait for, is done
    before. If a `Queue` is among the values, the arrays know that it works on them from then on.

    Parameters
    ----------
    caller : Caller
        Whose arguments these are.
    backend : Backend
        The simulator.
    function : int
        Where its function `call` is.
    result : bytearray
        Where its result goes.
    values : tuple
        As for `launch_kernel`, or a `Queue`.

    Raises
    ------
    ExecutionFailedError
        If a C++ exception leaves it.
    """
    cdef CompiledCall call = CompiledCall(values)
    cdef HostFunction pointer = <HostFunction>function
    cdef char *into = PyByteArray_AsString(result)
    cdef list states = []
    cdef QueueState state
    for value in values:
        if type(value) is Queue:
            state = queue_argument(backend, caller.name, value)
            states.append(state)
    call.before(states[0] if len(states) == 1 else None)
    enter_all(states)
    try:
        run_in_queues(caller, backend, pointer, into, call, states, 0)
    finally:
        for state in states:
            state.release()


cdef int enter_all(list states) except -1:
    cdef QueueState state
    cdef int entered = 0
    for state in states:
        if not state.enter():
            for state in states[:entered]:
                state.release()
            raise errors.NotInitializedError("queue: is closed")
        entered += 1
    return 0


cdef int run_in_queues(caller, Backend backend, HostFunction function, char *result, CompiledCall call, list states,
                       Py_ssize_t first) except -1:
    """Call the function, with its work noted in each of the queues from `first` on."""
    cdef QueueState state
    cdef Entry entry
    cdef char text[1024]
    cdef int failed
    if first == len(states):
        begin_wait(backend)
        try:
            with nogil:
                failed = function(call.values, result, text, sizeof(text))
        finally:
            end_wait()
        if failed:
            detail = f"{caller.name}: an exception left it: {text_of(text)}"
            raise errors.ExecutionFailedError(detail, function=caller.function)
        return 0
    state = states[first]
    number = state.issue(&entry)
    try:
        call.after(state, number)
        run_in_queues(caller, backend, function, result, call, states, first + 1)
    finally:
        state.entered(&entry)
    return 0
