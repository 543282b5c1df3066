# Objects that a library made, and tensor descriptors among them. Included by _core.pyx.


@cython.no_gc_clear  # __dealloc__ needs the backend
cdef class NativeObject:
    """An object that a library made: what a Create function returned. It is destroyed with `close` or when it goes.

    Attributes
    ----------
    backend : Backend
        The library that made it.
    closed : bool
        Whether `close` was called.
    """

    cdef void *address
    cdef int destroyer  # number of the function that destroys it; -1: it belongs to another object
    cdef bint alive
    cdef int users  # calls that run with it now
    cdef readonly Backend backend
    cdef object owner  # the object that it belongs to
    cdef object __weakref__

    def adopt(self, Backend backend not None, uintptr_t address, str destroy, owner=None):
        """Take over what a Create function returned; `destroy` names its counterpart, None if `owner` destroys it."""
        assert not self.alive and address != 0
        self.take(backend, <void *>address, -1 if destroy is None else <int>_FUNCTIONS[destroy][0])
        self.owner = owner

    cdef void take(self, Backend backend, void *address, int destroyer) noexcept:
        self.backend, self.address, self.destroyer, self.alive = backend, address, destroyer, True

    def __dealloc__(self):
        self.destroy()

    cdef int destroy(self) noexcept:
        """Destroy it unless it is destroyed already, and return the status."""
        cdef Argument argument
        if not self.alive:
            return SUCCESS
        self.alive = False
        if self.destroyer < 0 or table_function(self.backend.table, self.destroyer) == NULL:
            return SUCCESS
        argument.pointer = self.address
        return table_invoke(self.backend.table, self.destroyer, &argument)

    cdef int ensure_open(self, str caller) except -1:
        if not self.alive:
            raise errors.NotInitializedError(f"{caller}: is closed")
        if isinstance(self.owner, NativeObject):
            (<NativeObject>self.owner).ensure_open(f"{caller}: its {type(self.owner).__name__}")
        return 0

    def close(self):
        """Destroy it; a second call does nothing."""
        if self.users != 0:
            raise errors.BadParamError(f"{type(self).__name__}: cannot be closed while a call uses it")
        if self.alive and self.destroyer < 0:
            raise errors.BadParamError(f"{type(self).__name__}: belongs to a {type(self.owner).__name__}, close that")
        status = self.destroy()
        if status != SUCCESS:
            raise failure(self.backend, function_name(self.destroyer), status)

    def forget(self):
        """Note that a function destroyed it."""
        self.alive = False

    @property
    def closed(self):
        """Whether `close` was called."""
        return not self.alive

    @property
    def c_address(self):
        """The C object as an integer."""
        self.ensure_open(type(self).__name__)
        return <uintptr_t>self.address

    @property
    def cdata(self):
        """The C object for functions of ``Backend.lib``, as a cffi ``void *`` that keeps this object alive."""
        self.ensure_open(type(self).__name__)
        return owned_cdata(self.backend.ffi, "void *", <uintptr_t>self.address, self)

    def __enter__(self):
        self.ensure_open(type(self).__name__)
        return self

    def __exit__(self, *details):
        self.close()

    def __reduce__(self):
        raise TypeError(
            f"a {type(self).__name__} cannot be pickled or copied, it belongs to this process: make one where it is "
            "used"
        )


cdef int require_functions(Backend backend, str caller, tuple functions) except -1:
    for function in functions:
        if table_function(backend.table, <int>_FUNCTIONS[function][0]) == NULL:
            raise missing(backend, function, caller)
    return 0


def describe_tensor(NativeObject target not None, Backend backend not None, str caller not None, int layout, int dtype,
                    dims, strides=None):
    """Make `target` a tensor descriptor; without `strides` its elements lie packed."""
    cdef mluOpTensorDescriptor_t descriptor = NULL
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int axis, status, rank = len(dims)
    cdef int64_t step = 1
    assert rank <= MAX_DIMS and (strides is None or len(strides) == rank)
    for axis in range(rank - 1, -1, -1):
        shape[axis], steps[axis] = dims[axis], step if strides is None else strides[axis]
        step = saturated_product(step, shape[axis])
    setter = "mluOpSetTensorDescriptorEx_v2"
    if backend.table.mluOpCreateTensorDescriptor == NULL or backend.table.mluOpSetTensorDescriptorEx_v2 == NULL:
        require_functions(backend, caller, ("mluOpCreateTensorDescriptor", setter))
    check(backend, "mluOpCreateTensorDescriptor", backend.table.mluOpCreateTensorDescriptor(&descriptor))
    target.take(backend, descriptor, NUMBER_DESTROY)
    if rank == 0:  # only a scalar in host memory has no dims
        require_functions(backend, caller, ("mluOpSetTensorDescriptorPointerMode",))
        status = backend.table.mluOpSetTensorDescriptorPointerMode(descriptor, MLUOP_POINTER_MODE_HOST)
        check(backend, "mluOpSetTensorDescriptorPointerMode", status)
    status = backend.table.mluOpSetTensorDescriptorEx_v2(descriptor, layout, dtype, rank, shape, steps)
    check(backend, setter, status)


cdef int NUMBER_DESTROY = _FUNCTIONS["mluOpDestroyTensorDescriptor"][0]
