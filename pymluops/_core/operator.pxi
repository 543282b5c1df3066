# One C function as a Python callable: checks from a schema, then the call. Included by _core.pyx.

cdef object operator_listener = None


def set_operator_listener(listener):
    """Have a function called after each operator, with the C function's name, the arrays given, those returned and
    the settings; None: no function."""
    global operator_listener
    operator_listener = listener


cdef object case_writer = None


def set_case_writer(writer):
    """Have a function called before each operator, with the operator, the handle, the arrays and the scalars; None: no
    function. What it returns is called after the operator, if that succeeded, unless it is None."""
    global case_writer
    case_writer = writer


@cython.final
cdef class Operator(Guard):
    """One C function: checks its arguments against a schema, makes missing outputs, and calls it without the GIL.

    Which argument goes to which C parameter is found by the names and types in mlu_op.h: ``x_desc``
    and ``x`` are the array argument x, a plain parameter is the scalar or the symbol of its name,
    workspaces and descriptors with settings are known by name and type.

    Parameters
    ----------
    function : str
        Name of the C function.
    name : str
        Name of the Python function, for messages.
    tensors : tuple of Tensor
        Array arguments, inputs first.
    scalars : tuple of Scalar
        The other arguments; they are read before the arrays.
    workspace : str, optional
        Name of the C function that returns the size of the workspace.
    too_large : type, optional
        The error for a tensor of 2**31 elements or more.
    """

    cdef Call offsets  # of what grows with the number of arguments
    cdef size_t call_bytes

    def __cinit__(self, *arguments, **options):
        self.call_bytes = lay_out(self, &self.offsets)

    # -- A call ------------------------------------------------------------------------------------

    cpdef Handle resolve(self, object handle):
        """Return the handle that `handle` means, open and with a library that has the function."""
        cdef Handle h
        if handle is None:
            h = default_handle()
        elif isinstance(handle, Handle):
            h = <Handle>handle
        else:
            raise _arguments.refusal(self, "handle", "a Handle or None", _arguments.shown(handle), wrong_type=True)
        if not h.alive:
            raise errors.NotInitializedError(f"{self.name}: handle: is closed", function=self.function)
        if h.on_device and not h.state.open:
            raise errors.NotInitializedError(f"{self.name}: handle: its queue is closed", function=self.function)
        if table_function(h.table, self.plan.number) == NULL:
            raise missing(h.backend, self.function, self.name)
        return h

    def __call__(self, handle, tuple tensors not None, tuple scalars not None=(), bint validate=False,
                 settings=None, bint device_results=False):
        # Returns the outputs: one object, or a tuple of several. `tensors` and `scalars` are in the
        # order of the schema; an output may be None. `settings` is a SettingsDescriptor, or a tuple
        # in the order of the C function. New outputs are of the first array's kind; DeviceArrays if
        # `device_results`.
        cdef Call call
        cdef int64_t small[SMALL_CALL]
        cdef void *memory
        cdef Handle h = self.resolve(handle)
        cdef int i
        cdef object written = None
        if len(tensors) != self.tensor_count or len(scalars) != self.scalar_count:
            raise TypeError(f"{self.name}: expected {self.tensor_count} arrays and {self.scalar_count} scalars")
        if case_writer is not None:
            written = case_writer(self, h, tensors, scalars)
        memory = self.begin(&call, small)
        try:
            result = self.run(h, &call, tensors, scalars, validate, settings, device_results)
            if written is not None:
                written()
            if operator_listener is not None:
                operator_listener(self.function, tensors, result, settings)
            return result
        finally:
            for i in range(self.tensor_count):
                release(&call.views[i])
                if call.arrays[i] != NULL:
                    let_go(&call.arrays[i])
            if memory != small:
                free(memory)

    def shapes(self, tuple types not None, tuple shapes not None, tuple scalars not None, bint empty=False):
        # Checks a call by the types and shapes of its inputs and by its scalars, and returns the
        # shape of each output. A tensor without elements passes, whatever the C function does with
        # it, if `empty`.
        cdef Call call
        cdef int64_t small[SMALL_CALL]
        cdef int64_t dims[MAX_DIMS]
        cdef int64_t count
        cdef int i, axis
        cdef View *view
        cdef void *memory = self.begin(&call, small)
        try:
            self.read_scalars(&call, scalars)
            for i in range(self.tensor_count - self.output_count):
                view = &call.views[i]
                view.dtype, view.ndim, view.count, view.shape = types[i], min(len(shapes[i]), MAX_DIMS), 1, view.dims
                for axis in range(view.ndim):
                    view.dims[axis] = shapes[i][axis]
                    view.count = saturated_product(view.count, view.dims[axis])
                self.check_shape(&call, i, empty)
            found = []
            for i in range(self.tensor_count - self.output_count, self.tensor_count):
                self.made_array(&call, i, dims, &count)
                found.append(dims_tuple(dims, self.made_ndim(&call, i)))
            return found
        finally:
            if memory != small:
                free(memory)

    cdef void *begin(self, Call *call, int64_t *small) except NULL:
        """Return the memory of a call, `small` if that is enough, with nothing in it but the places of its parts."""
        cdef void *memory = small
        cdef int i
        if self.call_bytes > SMALL_CALL * sizeof(int64_t):
            memory = malloc(self.call_bytes)
            if memory == NULL:
                raise self.memory_error("the arguments")
        place_at(call, &self.offsets, <char *>memory)
        for i in range(self.tensor_count):
            call.views[i].source = SOURCE_NONE
            call.arrays[i], call.host[i] = NULL, NULL
        for i in range(self.symbol_count):
            call.values[i] = -1
        call.common_ndim = -1
        return memory

    cdef object run(self, Handle handle, Call *call, tuple tensors, tuple scalars, bint validate, object settings,
                    bint device_results):
        cdef int i, output = 0
        cdef bint made
        cdef TensorSpec *spec
        cdef object array, result = None
        cdef tuple results = None
        if self.output_count > 1:
            results = PyTuple_New(self.output_count)
        self.read_scalars(call, scalars)
        for i in range(self.tensor_count):
            spec = &self.specs[i]
            array = tensors[i]
            made = False
            call.absent[i] = spec.optional and self.is_absent(call, i, array)
            if spec.output:
                if array is None and not call.absent[i]:
                    array, made = self.allocate(handle, call, i, tensors[0], device_results), True
                if self.output_count == 1:
                    result = array
                else:
                    Py_INCREF(array)  # the tuple takes this reference
                    PyTuple_SetItem(results, output, array)
                    output += 1
            if call.absent[i]:
                self.leave_out(call, i)
                continue
            self.read_array(handle, call, i, array)
            if made and spec.zeroed and (spec.on_host or not call.resident[i]):
                memset(call.views[i].data, 0, call.views[i].count * call.views[i].itemsize)
        self.check_memory(call)
        if validate:
            self.check_contents(call, handle.backend.is_cpu)
        if self.settings_count == 0 and settings is None:
            self.execute(handle, call, validate)
        else:
            self.execute_with(handle, call, validate, settings if isinstance(settings, tuple) else (settings,))
        if self.fills_zeros:
            self.fill_zeros(call)
        return result if self.output_count == 1 else results

    cdef int read_scalars(self, Call *call, tuple scalars) except -1:
        """Read the scalars, and the symbols that they give."""
        cdef int i, symbol
        for i in range(self.scalar_count):
            read_scalar(self, i, scalars[i], &call.scalars[i])
            symbol = self.scalar_specs[i].symbol
            if symbol >= 0:
                call.values[symbol] = call.scalars[i].integer
                call.owners[symbol] = -1
        return 0

    # -- Optional arrays, zeros and new outputs ----------------------------------------------------

    cdef bint is_absent(self, Call *call, int i, object array) except -1:
        """Tell whether an optional array is missing, and refuse one of two that belong together."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef bint missing_partner
        if spec.given_with < 0:
            return array is None
        missing_partner = call.absent[spec.given_with]
        partner = self.tensors[spec.given_with].name
        if missing_partner and array is not None:
            raise self.problem(i, f"None like {partner}, got {_arguments.shown(array)}")
        if not missing_partner and array is None and (not spec.output or spec.in_place):
            raise self.problem(i, f"an array, because {partner} is given, got None")
        return missing_partner

    cdef void leave_out(self, Call *call, int i) noexcept:
        """Let the view of a missing array be empty; its descriptor and its data are NULL for the C function."""
        cdef View *view = &call.views[i]
        memset(view, 0, sizeof(View))
        call.resident[i], call.host[i] = True, NULL

    cdef int fill_zeros(self, Call *call) except -1:
        """Fill the outputs that the C function leaves alone because a dim is 0."""
        cdef int i, k
        cdef bint empty
        cdef View *view
        for i in range(self.tensor_count):
            view, empty = &call.views[i], False
            for k in range(self.specs[i].zero_count):
                empty = empty or call.values[self.specs[i].zero_if[k]] == 0
            if not empty or call.absent[i] or view.count == 0:
                continue
            if call.arrays[i] != NULL:
                array = <DeviceArray>call.arrays[i]
                array.copy_from(np.zeros(array.shape, numpy_dtypes[view.dtype]))
            elif not call.resident[i]:
                memset(view.data if call.host[i] == NULL else call.host[i], 0, view.count * view.itemsize)
        return 0

    cdef object allocate(self, Handle handle, Call *call, int i, object first, bint device_results):
        """Make the output that the caller did not bring, of the kind of the `first` array."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef int64_t dims[MAX_DIMS]
        cdef int64_t count = 1
        cdef int dtype = self.made_array(call, i, dims, &count)
        cdef int ndim = self.made_ndim(call, i)
        shape = dims_tuple(dims, ndim)
        if handle.on_device and (device_results or call.resident[0]):
            try:
                new = DeviceArray(shape, DataType(dtype), handle.backend)
                if spec.zeroed:
                    new.copy_from(np.zeros(shape, numpy_dtypes[dtype]))
                return new if device_results else of_kind(first, new)
            except errors.AllocFailedError as error:
                raise self.memory_error(f"{self.tensors[i].name}: {error.detail}") from None
        if numpy_dtypes[dtype] is None:
            raise self.problem(i, f"an array, because NumPy has no {dtypes.data_type_name(dtype)}, got None")
        try:
            if spec.own_memory or type(first) is ndarray and count < LEAST_POOLED_COUNT:
                return np_empty(shape, numpy_dtypes[dtype])
            if is_torch_tensor(first):
                return new_torch_tensor(shape, dims, ndim, dtype, saturated_product(count, itemsizes[dtype]))
            return new_ndarray(shape, numpy_dtypes[dtype], saturated_product(count, itemsizes[dtype]))
        except (MemoryError, ValueError):
            raise self.memory_error(f"{self.tensors[i].name} of shape {list(shape)}") from None

    cdef int made_ndim(self, Call *call, int i) noexcept:
        """Return how many dims an output has that is to be made."""
        return call.common_ndim if self.specs[i].any_dims and call.common_ndim >= 0 else self.specs[i].ndim

    cdef int made_array(self, Call *call, int i, int64_t *dims, int64_t *count) except -1:
        """Return the type of an output that is to be made, and find its dims and how many elements it has."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef int axis
        if spec.in_place:
            raise self.problem(i, "an array, got None")
        count[0] = 1
        if spec.any_dims and call.common_ndim >= 0:
            for axis in range(call.common_ndim):
                dims[axis] = call.common[axis]
                count[0] = saturated_product(count[0], dims[axis])
        for axis in range(0 if spec.any_dims and call.common_ndim >= 0 else spec.ndim):
            if term_value(&spec.terms[axis], call.values, &dims[axis]) >= 0:
                raise self.problem(i, f"an array, because its shape {self.expected_shape(call, i)} does not follow "
                                      "from the other arguments, got None")
            count[0] = saturated_product(count[0], dims[axis])
        if count[0] >= COUNT_LIMIT and self.too_large is not None and not spec.any_size:
            raise self.size_error(i, f"{count[0]} in shape {list(dims_tuple(dims, spec.ndim))}")
        if spec.like < 0:
            return spec.first_dtype
        return self.made_dtype(call, i) if spec.paired else call.views[spec.like].dtype

    cdef int made_dtype(self, Call *call, int i) except -1:
        """Return the type of an output whose type is paired with that of another tensor."""
        allowed = self.allowed(call, i)
        if not allowed:
            call.views[i].dtype = 0
            raise self.dtype_error(call, i, None)
        return allowed[0]

    # -- The C call --------------------------------------------------------------------------------

    cdef int execute_with(self, Handle handle, Call *call, bint validate, tuple settings) except -1:
        """Run a call of a function that takes descriptors with settings, which nothing closes meanwhile."""
        cdef int i
        cdef SettingsDescriptor descriptor
        if len(settings) != self.settings_count:
            raise TypeError(f"{self.name}: expected {self.settings_count} descriptors, got {len(settings)}")
        for i in range(self.settings_count):
            descriptor = settings[i] if isinstance(settings[i], SettingsDescriptor) else None
            if descriptor is None or descriptor.kind != self.settings[i]:
                raise _arguments.refusal(self, "settings", f"a {self.settings[i]}", _arguments.shown(settings[i]))
            descriptor.ensure_open()
            if descriptor.backend is not handle.backend:
                raise _arguments.refusal(self, "settings", f"a descriptor of {handle.backend.name}",
                                         f"one of {descriptor.backend.name}")
            call.settings[i] = descriptor.descriptor
        for i in range(self.settings_count):
            (<SettingsDescriptor>settings[i]).users += 1
        try:
            return self.execute(handle, call, validate)
        finally:
            for i in range(self.settings_count):
                (<SettingsDescriptor>settings[i]).users -= 1

    cdef int execute(self, Handle handle, Call *call, bint validate) except -1:
        cdef int status
        cdef FunctionTable *table = handle.table
        if table.mluOpCreateTensorDescriptor == NULL:
            raise missing(handle.backend, "mluOpCreateTensorDescriptor", self.name)
        if table.mluOpSetTensorDescriptor_v2 == NULL and table.mluOpSetTensorDescriptor == NULL:
            raise missing(handle.backend, "mluOpSetTensorDescriptor", self.name)
        if self.workspace is not None and table_function(table, self.workspace_plan.number) == NULL:
            raise missing(handle.backend, self.workspace, self.name)
        call.workspace, call.workspace_size = NULL, 0
        handle.acquire(self.name, self.function)
        try:
            if self.tensor_count > handle.slot_count:
                handle.reserve(self.tensor_count)
            if not handle.alive:  # another thread closed it while this one waited
                raise errors.NotInitializedError(f"{self.name}: handle: is closed", function=self.function)
            if handle.on_device:
                self.execute_on_device(handle, call)
                return 0
            begin_wait_of(handle.backend, handle.lock.owner)
            try:
                status = self.run_on_host(handle, call)
            finally:
                end_wait_of(handle.lock.owner)
            if status != SUCCESS:
                if validate:
                    self.check_contents(call, False)
                if call.failed < 0:
                    raise self.memory_error(f"a workspace of {call.workspace_size} bytes")
                raise failure(handle.backend, function_name(call.failed), status)
        finally:
            give_back(&handle.lock)
        return 0

    cdef int run_on_host(self, Handle handle, Call *call) noexcept:
        """Take the workspace that the library asks for and call the operator."""
        cdef int status
        with nogil:
            status = self.run_c(handle, call)
            pool_give(call.workspace)
        return status

    cdef int execute_on_device(self, Handle handle, Call *call) except -1:
        """Put the call into the handle's queue; wait for it if anything has to come back or be freed."""
        cdef QueueState queue = handle.state
        cdef Entry entry
        cdef bint waiting = self.workspace is not None
        cdef int i, status
        cdef int64_t number
        for i in range(self.tensor_count):
            waiting = waiting or not call.resident[i]
        if waiting:  # what failed before shall not pass for this call
            queue.wait(queue.issued)
        for i in range(self.tensor_count):
            if call.arrays[i] != NULL:
                (<DeviceArray>call.arrays[i]).before(queue, self.specs[i].output)
        number = queue.issue(&entry)
        begin_wait(handle.backend)
        try:
            for i in range(self.tensor_count):
                if call.arrays[i] != NULL:
                    (<DeviceArray>call.arrays[i]).after(queue, number, self.specs[i].output)
            with nogil:
                status = self.run_on_device(handle, call, queue.queue, waiting)
        finally:
            queue.entered(&entry)
            end_wait()
        if waiting:
            queue.finish(min(number, queue.reached()))
        if call.runtime_status != 0:
            error = device_failure(handle.backend, function_name(call.failed), call.runtime_status)
            if isinstance(error, errors.AllocFailedError):
                error = self.memory_error(f"{call.wanted} bytes on {handle.backend.name} ({error.detail})")
            raise error
        if status != SUCCESS:
            raise failure(handle.backend, function_name(call.failed), status)
        return 0

    cdef int run_on_device(self, Handle handle, Call *call, cnrtQueue_t queue, bint waiting) noexcept nogil:
        """Make the call, with device memory for what lies in host memory; look at `call.runtime_status` first."""
        cdef int status = SUCCESS
        cdef FunctionTable *table = handle.table
        call.runtime_status = 0
        if stage(table, call, self.specs, self.tensor_count):
            status = self.run_c(handle, call)
            # Also after a failure: what it had begun works on memory that is freed below.
            if waiting and not runtime_failed(call, NUMBER_SYNC, table.cnrtQueueSync(queue)) and status == SUCCESS:
                bring_back(table, call, self.specs, self.tensor_count)
        if waiting:
            free_staged(table, call, self.tensor_count)
        return status

    cdef int run_c(self, Handle handle, Call *call) noexcept nogil:
        cdef int status = self.prepare(handle, call)
        if status == SUCCESS:
            status = self.take_workspace(handle, call)
        return self.invoke(handle, call, &self.plan) if status == SUCCESS else status

    cdef int prepare(self, Handle handle, Call *call) noexcept nogil:
        """Set the descriptors and ask for the size of the workspace, 0 if there is none."""
        cdef int i, status
        cdef const TensorSpec *spec = self.specs
        cdef const View *view = call.views
        cdef Slot *slot = handle.slots
        for i in range(self.tensor_count):
            if not call.absent[i] and not describes(slot, view, spec.layout):
                status = set_descriptor(handle.table, slot, view, spec.layout, &call.failed)
                if status != SUCCESS:
                    return status
            spec, view, slot = spec + 1, view + 1, slot + 1
        return SUCCESS if self.workspace is None else self.invoke(handle, call, &self.workspace_plan)

    cdef int take_workspace(self, Handle handle, Call *call) noexcept nogil:
        if call.workspace_size == 0:
            return SUCCESS
        if not handle.on_device:
            call.workspace = pool_take(call.workspace_size)
            if call.workspace == NULL:
                call.failed = -1
                return ALLOC_FAILED
            return SUCCESS
        if runtime_failed(call, NUMBER_MALLOC, handle.table.cnrtMalloc(&call.workspace, call.workspace_size)):
            call.workspace, call.wanted = NULL, call.workspace_size
            return ALLOC_FAILED
        return SUCCESS

    cdef int invoke(self, Handle handle, Call *call, Plan *plan) noexcept nogil:
        cdef Argument *arguments = call.arguments
        cdef int i
        cdef Step step
        for i in range(plan.count):
            step = plan.steps[i]
            if step.kind == STEP_DESCRIPTOR:
                arguments[i].pointer = NULL if call.absent[step.index] else handle.slots[step.index].descriptor
            elif step.kind == STEP_DATA:
                arguments[i].pointer = call.views[step.index].data
            elif step.kind == STEP_HANDLE:
                arguments[i].pointer = handle.handle
            elif step.kind == STEP_SYMBOL:
                arguments[i].integer = call.values[step.index]
            elif step.kind == STEP_SCALAR:
                arguments[i] = call.scalars[step.index]
            elif step.kind == STEP_SETTINGS:
                arguments[i].pointer = call.settings[step.index]
            elif step.kind == STEP_WORKSPACE:
                arguments[i].pointer = call.workspace
            elif plan == &self.workspace_plan:
                arguments[i].pointer = &call.workspace_size
            else:
                arguments[i].integer = <int64_t>call.workspace_size
        call.failed = plan.number
        return table_invoke(handle.table, plan.number, arguments)

    def __repr__(self):
        return f"<Operator {self.name}: {self.function}>"
