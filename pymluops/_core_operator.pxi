# One C function as a Python callable: checks from a schema, then the call. Included by _core.pyx.

@cython.final
cdef class Operator:
    """One C function: checks its arguments against a schema, makes missing outputs, and calls it without the GIL.

    Which argument goes to which C parameter is found by the parameter names in mluops.h: ``x_desc`` and ``x`` are the
    array argument x, an integer is the symbol of its name, workspace and sparse convolution descriptor are known by
    name and type.

    Parameters
    ----------
    function : str
        Name of the C function.
    name : str
        Name of the Python function, for messages.
    tensors : tuple of Tensor
        Array arguments, inputs first.
    scalars : tuple of Scalar
        Integer arguments; they are read before the arrays.
    workspace : str, optional
        Name of the C function that tells the size of the workspace.
    too_large : type, optional
        The error for a tensor of 2**31 elements or more.
    """

    cdef readonly str name
    cdef readonly str function
    cdef readonly str workspace
    cdef tuple tensors
    cdef tuple scalars
    cdef list symbols
    cdef TensorSpec specs[MAX_TENSORS]
    cdef ScalarSpec scalar_specs[MAX_SCALARS]
    cdef int tensor_count
    cdef int scalar_count
    cdef int symbol_count
    cdef int output_count
    cdef Plan plan
    cdef Plan workspace_plan
    cdef object too_large

    def __cinit__(self, str function not None, str name not None, tuple tensors not None, tuple scalars=(), *,
                  str workspace=None, too_large=errors.NotSupportedError):
        cdef int i
        assert len(tensors) <= MAX_TENSORS and len(scalars) <= MAX_SCALARS, name
        self.name, self.function, self.workspace = name, function, workspace
        self.tensors, self.scalars, self.symbols, self.too_large = tensors, scalars, [], too_large
        self.tensor_count, self.scalar_count = len(tensors), len(scalars)
        for i in range(self.scalar_count):
            self.scalar_specs[i].symbol = self.symbol(scalars[i].symbol or scalars[i].name)
            self.scalar_specs[i].minimum, self.scalar_specs[i].maximum = scalars[i].minimum, scalars[i].maximum
        for i in range(self.tensor_count):
            self.read_tensor(&self.specs[i], tensors[i])
            self.output_count += self.specs[i].output
        self.read_parameters(&self.plan, function)
        if workspace is not None:
            self.read_parameters(&self.workspace_plan, workspace)

    # -- The schema, once ----------------------------------------------------------------------------------------------

    cdef int symbol(self, str name) except -1:
        if name not in self.symbols:
            assert len(self.symbols) < MAX_SYMBOLS, self.name
            self.symbols.append(name)
        self.symbol_count = len(self.symbols)
        return self.symbols.index(name)

    cdef int read_tensor(self, TensorSpec *spec, object tensor) except -1:
        cdef int i
        terms, positive = tensor.shape.split(), tensor.positive.split()
        assert len(terms) <= MAX_DIMS and len(positive) <= MAX_DIMS and len(tensor.within) in (0, 1, 2, 4), self.name
        spec.ndim, spec.layout, spec.output = len(terms), int(tensor.layout), tensor.output
        for i in range(spec.ndim):
            self.read_term(&spec.terms[i], terms[i])
        spec.like = -1
        if isinstance(tensor.dtype, str):
            spec.like = [other.name for other in self.tensors].index(tensor.dtype)
        else:
            for data_type in tensor.dtype:
                spec.dtypes |= <uint32_t>1 << <int>data_type
        spec.positive_count, spec.column_count = len(positive), len(tensor.within)
        for i in range(spec.positive_count):
            spec.positive[i] = self.symbol(positive[i])
        for i in range(spec.column_count):
            spec.columns[i] = self.symbol(tensor.within[i])
        spec.library_looks = tensor.library_looks
        spec.divisor = spec.dividend = -1
        if tensor.divides:
            spec.divisor, spec.dividend = self.symbol(tensor.divides[0]), self.symbol(tensor.divides[1])
        return 0

    cdef int read_term(self, Term *term, str text) except -1:
        term.coefficient = 1
        for factor in text.split("*"):
            if factor.isdigit():
                term.coefficient *= int(factor)
            else:
                assert term.factor_count < MAX_FACTORS, text
                term.factors[term.factor_count] = self.symbol(factor)
                term.factor_count += 1
        return 0

    cdef int read_parameters(self, Plan *plan, str function) except -1:
        """Find out, by the names in the header, which argument goes to which C parameter."""
        cdef int i
        number, returns, parameters = _FUNCTIONS[function]
        assert returns == "mluOpStatus_t" and len(parameters) <= MAX_PARAMETERS, function
        tensors = [tensor.parameter or tensor.name for tensor in self.tensors]
        plan.number, plan.count = number, len(parameters)
        for i in range(plan.count):
            type_name, name = parameters[i]
            if type_name == "mluOpHandle_t":
                plan.steps[i].kind = STEP_HANDLE
            elif type_name == "mluOpSparseConvolutionDescriptor_t":
                plan.steps[i].kind = STEP_SPARSE
            elif type_name == "mluOpTensorDescriptor_t":
                plan.steps[i] = Step(STEP_DESCRIPTOR, tensors.index(name.removesuffix("_desc")))
            elif name == "workspace":
                plan.steps[i].kind = STEP_WORKSPACE
            elif name == "workspace_size":
                plan.steps[i].kind = STEP_WORKSPACE_SIZE
            elif "*" in type_name:
                plan.steps[i] = Step(STEP_DATA, tensors.index(name))
            else:
                plan.steps[i] = Step(STEP_SYMBOL, self.symbols.index(name))
        return 0

    # -- A call --------------------------------------------------------------------------------------------------------

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
                 SparseConvolutionDescriptor sparse=None, bint device_results=False):
        # Returns the outputs: one object, or a tuple of several. `tensors` and `scalars` are in the order of the
        # schema; an output may be None. New outputs are of the first array's kind; DeviceArrays if `device_results`.
        cdef Call call
        cdef Handle h = self.resolve(handle)
        cdef int i
        if len(tensors) != self.tensor_count or len(scalars) != self.scalar_count:
            raise TypeError(f"{self.name}: expected {self.tensor_count} arrays and {self.scalar_count} integers")
        for i in range(self.tensor_count):
            call.views[i].source = SOURCE_NONE
            call.arrays[i] = NULL
        for i in range(self.symbol_count):
            call.values[i] = -1
        try:
            return self.run(h, &call, tensors, scalars, validate, sparse, device_results)
        finally:
            for i in range(self.tensor_count):
                release(&call.views[i])
                if call.arrays[i] != NULL:
                    let_go(&call.arrays[i])

    cdef object run(self, Handle handle, Call *call, tuple tensors, tuple scalars, bint validate,
                    SparseConvolutionDescriptor sparse, bint device_results):
        cdef int i
        cdef object array, result = None
        cdef list results = None
        self.read_scalars(call, scalars)
        for i in range(self.tensor_count):
            array = tensors[i]
            if self.specs[i].output:
                if array is None:
                    array = self.allocate(handle, call, i, tensors[0], device_results)
                if self.output_count == 1:
                    result = array
                elif results is None:
                    results = [array]
                else:
                    results.append(array)
            self.read_array(handle, call, i, array)
        self.check_memory(call)
        if validate:
            self.check_contents(call, handle.backend.is_cpu)
        self.execute(handle, call, validate, sparse)
        return result if self.output_count == 1 else tuple(results)

    cdef int read_scalars(self, Call *call, tuple scalars) except -1:
        cdef int i, overflow = 0
        cdef int64_t number
        cdef ScalarSpec *spec
        for i in range(self.scalar_count):
            spec = &self.scalar_specs[i]
            value = scalars[i]
            if PyLong_CheckExact(value):
                number = PyLong_AsLongLongAndOverflow(value, &overflow)
                if overflow != 0:
                    number = -1
            else:
                number = -1
            if not spec.minimum <= number <= spec.maximum:
                number = _arguments.integer(self, self.scalars[i].name, value, spec.minimum, spec.maximum)
            call.values[spec.symbol] = number
            call.owners[spec.symbol] = -1
        return 0

    cdef object allocate(self, Handle handle, Call *call, int i, object first, bint device_results):
        """Make the output that the caller did not bring, of the kind of the `first` array."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef int64_t dims[MAX_DIMS]
        cdef int64_t count = 1
        cdef int axis, dtype
        for axis in range(spec.ndim):
            term_value(&spec.terms[axis], call.values, &dims[axis])
            count = saturated_product(count, dims[axis])
        shape = tuple([dims[axis] for axis in range(spec.ndim)])
        if count >= COUNT_LIMIT and self.too_large is not None:
            raise self.size_error(i, f"{count} in shape {list(shape)}")
        dtype = call.views[spec.like].dtype if spec.like >= 0 else first_bit(spec.dtypes)
        if handle.on_device and (device_results or call.resident[0]):
            try:
                new = DeviceArray(shape, DataType(dtype), handle.backend)
                return new if device_results else of_kind(first, new)
            except errors.AllocFailedError as error:
                raise self.memory_error(f"{self.tensors[i].name}: {error.detail}") from None
        if numpy_dtypes[dtype] is None:
            raise self.problem(i, f"an array, because NumPy has no {dtypes.data_type_name(dtype)}, got None")
        try:
            if self.tensors[i].own_memory:
                return np_empty(shape, numpy_dtypes[dtype])
            if is_torch_tensor(first):
                return new_torch_tensor(shape, dims, spec.ndim, dtype, saturated_product(count, itemsizes[dtype]))
            return new_ndarray(shape, numpy_dtypes[dtype], saturated_product(count, itemsizes[dtype]))
        except (MemoryError, ValueError):
            raise self.memory_error(f"{self.tensors[i].name} of shape {list(shape)}") from None

    # -- Checks --------------------------------------------------------------------------------------------------------

    cdef int read_array(self, Handle handle, Call *call, int i, object array) except -1:
        """Look at an array and refuse what the schema does not allow."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef str problem
        cdef int k
        if type(array) is DeviceArray and not (<DeviceArray>array).alive:
            raise errors.NotInitializedError(f"{self.name}: {self.tensors[i].name}: is closed", function=self.function)
        problem = acquire(view, array)
        if problem is None and view.foreign_order:
            problem = f"native byte order, got {array_text(array)}"
        if problem is not None:
            raise self.unreadable(call, i, array, problem)
        call.resident[i] = False
        if view.device != DL_CPU:
            self.check_device(handle, call, i, array)
        if not self.allows(call, i, view.dtype):
            raise self.dtype_error(call, i, array)
        if not self.match_shape(call, i):
            raise self.problem(i, f"shape {self.expected_shape(call, i)}, got {shape_text(view)}")
        for k in range(spec.positive_count):
            if call.values[spec.positive[k]] == 0:
                raise self.problem(i, f"shape {self.expected_shape(call, i)} with {self.symbols[spec.positive[k]]} > 0"
                                      f", got {shape_text(view)}")
        if spec.divisor >= 0 and call.values[spec.dividend] % call.values[spec.divisor] != 0:
            raise self.problem(i, f"shape {self.expected_shape(call, i)} with {self.symbols[spec.divisor]} divides "
                                  f"{self.symbols[spec.dividend]}={call.values[spec.dividend]}, got {shape_text(view)}")
        if view.count >= COUNT_LIMIT and self.too_large is not None:
            raise self.size_error(i, f"{view.count} in shape {shape_text(view)}")
        if not view.packed:
            raise self.problem(i, f"a C-contiguous array, got strides {strides_text(view)} for shape "
                                  f"{shape_text(view)}{self.hint(call, i, array, 'contiguous')}")
        if spec.output and (view.readonly or view.copied):
            raise self.problem(i, "a writable array, got " + ("a read-only one" if view.readonly else "a copy"))
        return 0

    cdef bint allows(self, Call *call, int i, int dtype) noexcept:
        cdef TensorSpec *spec = &self.specs[i]
        return dtype == call.views[spec.like].dtype if spec.like >= 0 else (spec.dtypes >> dtype) & 1

    cdef bint match_shape(self, Call *call, int i) noexcept:
        """Compare a shape with its terms; a symbol without a value takes it from here."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef int axis, unknown
        cdef int64_t known = 0
        if view.ndim != spec.ndim:
            return False
        for axis in range(spec.ndim):
            unknown = term_value(&spec.terms[axis], call.values, &known)
            if unknown < 0:
                if view.shape[axis] != known:
                    return False
            elif known == 0 or view.shape[axis] % known != 0:
                return False
            else:
                call.values[unknown] = view.shape[axis] // known
                call.owners[unknown] = i
        return True

    cdef int check_device(self, Handle handle, Call *call, int i, object array) except -1:
        """Refuse the memory of another device."""
        cdef View *view = &call.views[i]
        cdef bint ours = False
        if view.device == DL_CUDA_HOST or view.device == DL_ROCM_HOST:
            return 0
        if type(array) is DeviceArray:
            ours = handle.on_device and (<DeviceArray>array).backend is handle.backend
        elif view.device == DL_EXTENSION:  # a tensor of torch_mlu
            ours = handle.on_device and handle.backend.kind == "mlu"
        if not ours:
            place = f" or on {handle.backend.name}" if handle.on_device else ""
            raise self.problem(i, f"an array in host memory{place}, because the backend is {handle.backend.name}, got "
                                  f"{device_text(view, array)}{self.hint(call, i, array, 'host')}")
        call.resident[i] = True
        if type(array) is DeviceArray:
            (<DeviceArray>array).users += 1
            Py_INCREF(array)
            call.arrays[i] = <PyObject *>array
        return 0

    cdef int check_memory(self, Call *call) except -1:
        """Refuse unaligned data and overlap; where a tensor is empty, nobody looks at the data."""
        cdef int i, k
        cdef View *view
        cdef View *other
        for i in range(self.tensor_count):
            if call.views[i].count == 0:
                return 0
        for i in range(self.tensor_count):
            view = &call.views[i]
            if view.data == NULL:
                raise self.problem(i, "data, got a null pointer")
            if <uintptr_t>view.data % <uintptr_t>view.itemsize != 0:
                raise self.problem(i, f"data aligned to {view.itemsize} bytes, got address {<uintptr_t>view.data:#x}")
        for i in range(self.tensor_count):
            if not self.specs[i].output:
                continue
            view = &call.views[i]
            for k in range(self.tensor_count):
                other = &call.views[k]
                if k == i or call.resident[k] != call.resident[i]:
                    continue
                if view.data < other.data + other.count * other.itemsize and (
                    other.data < view.data + view.count * view.itemsize
                ):
                    raise self.problem(i, f"memory of its own, got an array that overlaps {self.tensors[k].name}")
        return 0

    cdef int check_contents(self, Call *call, bint library_looks) except -1:
        """Refuse values outside their range, but for those that the library looks at itself.

        The host cannot look at those that lie on the device.
        """
        cdef int i, column
        cdef int64_t found
        cdef int64_t limits[MAX_COLUMNS]
        cdef TensorSpec *spec
        cdef View *view
        for i in range(self.tensor_count):
            spec, view = &self.specs[i], &call.views[i]
            if spec.column_count == 0 or view.count == 0 or call.resident[i] or (library_looks and spec.library_looks):
                continue
            for column in range(spec.column_count):
                limits[column] = call.values[spec.columns[column]]
            with nogil:
                found = first_outside(<const int32_t *>view.data, view.count, limits, spec.column_count)
            if found >= 0:
                raise self.content_error(call, i, found)
        return 0

    # -- The C call ----------------------------------------------------------------------------------------------------

    cdef int execute(self, Handle handle, Call *call, bint validate, SparseConvolutionDescriptor sparse) except -1:
        cdef int status
        cdef FunctionTable *table = handle.table
        if table.mluOpCreateTensorDescriptor == NULL:
            raise missing(handle.backend, "mluOpCreateTensorDescriptor", self.name)
        if table.mluOpSetTensorDescriptor_v2 == NULL and table.mluOpSetTensorDescriptor == NULL:
            raise missing(handle.backend, "mluOpSetTensorDescriptor", self.name)
        if self.workspace is not None and table_function(table, self.workspace_plan.number) == NULL:
            raise missing(handle.backend, self.workspace, self.name)
        call.workspace, call.workspace_size = NULL, 0
        if sparse is not None:
            sparse.ensure_open()
            call.sparse = sparse.descriptor
            sparse.users += 1
        handle.acquire(self.name, self.function)
        try:
            if not handle.alive:  # another thread closed it while this one waited
                raise errors.NotInitializedError(f"{self.name}: handle: is closed", function=self.function)
            if handle.on_device:
                self.execute_on_device(handle, call)
                return 0
            begin_wait(handle.backend)
            try:
                status = self.run_on_host(handle, call)
            finally:
                end_wait()
            if status != SUCCESS:
                if validate:
                    self.check_contents(call, False)
                if call.failed < 0:
                    raise self.memory_error(f"a workspace of {call.workspace_size} bytes")
                raise failure(handle.backend, function_name(call.failed), status)
        finally:
            give_back(&handle.lock)
            if sparse is not None:
                sparse.users -= 1
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
        for i in range(self.tensor_count):
            status = set_descriptor(handle.table, &handle.slots[i], &call.views[i], self.specs[i].layout, &call.failed)
            if status != SUCCESS:
                return status
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
        cdef Argument arguments[MAX_PARAMETERS]
        cdef int i
        cdef Step step
        for i in range(plan.count):
            step = plan.steps[i]
            if step.kind == STEP_HANDLE:
                arguments[i].pointer = handle.handle
            elif step.kind == STEP_DESCRIPTOR:
                arguments[i].pointer = handle.slots[step.index].descriptor
            elif step.kind == STEP_DATA:
                arguments[i].pointer = call.views[step.index].data
            elif step.kind == STEP_SYMBOL:
                arguments[i].integer = call.values[step.index]
            elif step.kind == STEP_SPARSE:
                arguments[i].pointer = call.sparse
            elif step.kind == STEP_WORKSPACE:
                arguments[i].pointer = call.workspace
            elif plan == &self.workspace_plan:
                arguments[i].pointer = &call.workspace_size
            else:
                arguments[i].integer = <int64_t>call.workspace_size
        call.failed = plan.number
        return table_invoke(handle.table, plan.number, arguments)

    # -- Messages ------------------------------------------------------------------------------------------------------

    cdef object problem(self, int i, str text):
        return errors.BadParamError(f"{self.name}: {self.tensors[i].name}: expected {text}", function=self.function)

    cdef object unreadable(self, Call *call, int i, object array, str text):
        """Return the error for an array that could not be read; if its type is to blame, that is the thing to say."""
        if call.views[i].no_memory or call.views[i].no_array:
            text += "" if call.views[i].no_memory else self.hint(call, i, array, "array")
            text = f"{self.name}: {self.tensors[i].name}: expected {text}"
            return unreadable_error(&call.views[i])(text, function=self.function)
        given = dtype_of(array)
        if given is not None and call.views[i].source == SOURCE_NONE:
            try:
                if not self.allows(call, i, dtypes.as_data_type(given)):
                    return self.dtype_error(call, i, array)
            except errors.BadParamError:
                return self.dtype_error(call, i, array)
        return self.problem(i, text + self.hint(call, i, array, "array"))

    cdef str hint(self, Call *call, int i, object array, str problem):
        """Return what would have worked, for the end of a message; an output must be the caller's own memory."""
        cdef TensorSpec *spec = &self.specs[i]
        if spec.output:
            return ""
        taken = (call.views[spec.like].dtype,) if spec.like >= 0 else self.tensors[i].dtype
        names = tuple([dtypes.data_type_name(data_type) for data_type in taken])
        return _hints.hint(array, self.tensors[i].name, problem, names)

    cdef object size_error(self, int i, str got):
        text = f"{self.name}: {self.tensors[i].name}: expected fewer than {COUNT_LIMIT} elements, got {got}"
        return self.too_large(text, function=self.function)

    cdef object memory_error(self, str what):
        return errors.AllocFailedError(f"{self.name}: no memory for {what}", function=self.function)

    cdef object dtype_error(self, Call *call, int i, object array):
        cdef TensorSpec *spec = &self.specs[i]
        if spec.like >= 0:
            like = dtypes.data_type_name(call.views[spec.like].dtype)
            expected = f"{like} like {self.tensors[spec.like].name}"
        else:
            expected = " or ".join([dtypes.data_type_name(data_type) for data_type in self.tensors[i].dtype])
        got = dtype_text(&call.views[i], array) + self.hint(call, i, array, "dtype")
        return self.problem(i, f"dtype {expected}, got {got}")

    cdef str expected_shape(self, Call *call, int i):
        """Return the terms of a shape, with the values that this tensor did not give itself."""
        cdef int axis, factor, symbol
        cdef int64_t value = 0
        cdef bint known
        cdef TensorSpec *spec = &self.specs[i]
        cdef list texts = []
        names = self.tensors[i].shape.split()
        for axis in range(spec.ndim):
            term_value(&spec.terms[axis], call.values, &value)
            known = spec.terms[axis].factor_count > 0
            for factor in range(spec.terms[axis].factor_count):
                symbol = spec.terms[axis].factors[factor]
                known = known and call.values[symbol] >= 0
                # What a product must be is worth telling even if its factors come from the same tensor.
                known = known and (call.owners[symbol] != i or spec.terms[axis].factor_count > 1)
            texts.append(f"{names[axis]}={value}" if known else names[axis])
        return f"[{', '.join(texts)}]"

    cdef object content_error(self, Call *call, int i, int64_t found):
        """Return the error for the value at flat position `found`."""
        cdef TensorSpec *spec = &self.specs[i]
        cdef View *view = &call.views[i]
        cdef const int32_t *values = <const int32_t *>view.data
        cdef int axis, symbol = spec.columns[found % spec.column_count]
        cdef list place = []
        cdef int64_t rest = found
        for axis in range(view.ndim - 1, -1, -1):
            place.insert(0, rest % view.shape[axis])
            rest //= view.shape[axis]
        where = ", ".join([f"{name} {number}" for name, number in zip(self.tensors[i].axes, place)])
        limit = f"{call.values[symbol]}"
        if spec.column_count > 1:
            first = found - found % spec.column_count
            where += f" {[values[first + axis] for axis in range(spec.column_count)]}"
            name = self.tensors[i].within[found % spec.column_count]
        else:
            name = "value"
            limit = f"{self.symbols[symbol]}={limit}"
        return self.problem(i, f"0 <= {name} < {limit}, got {values[found]} at {where}")

    def __repr__(self):
        return f"<Operator {self.name}: {self.function}>"
