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
    cdef bint changing  # the only one of them changes it
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


cdef int use_object(object thing, str caller, str function, bint changing) except -1:
    """Count a call that begins to use an object; refuse it if it or another call with the object changes that."""
    cdef NativeObject native
    cdef SettingsDescriptor settings
    cdef bint refused
    if isinstance(thing, NativeObject):
        native = <NativeObject>thing
        refused = native.changing or changing and native.users != 0
        if not refused:
            native.users, native.changing = native.users + 1, changing
    else:
        settings = <SettingsDescriptor?>thing
        refused = settings.changing or changing and settings.users != 0
        if not refused:
            settings.users, settings.changing = settings.users + 1, changing
    if refused:
        kind = type(thing).__name__
        problem = "changed while another call uses it" if changing else "used while a call changes it"
        raise errors.BadParamError(f"{caller}: {kind}: cannot be {problem}", function=function)
    return 0


cdef void let_go_object(object thing) noexcept:
    """Note that a call with an object ended."""
    if isinstance(thing, NativeObject):
        (<NativeObject>thing).users -= 1
        (<NativeObject>thing).changing = False
    else:
        (<SettingsDescriptor>thing).users -= 1
        (<SettingsDescriptor>thing).changing = False


def hold_object(caller, thing not None, bint changing):
    """Keep an object as it is until `let_object_go`.

    No other call may close or change it, nor use it if this one changes it.
    """
    use_object(thing, caller.name, caller.function, changing)


def let_object_go(thing not None):
    """Let an object go that `hold_object` was called for."""
    let_go_object(thing)


cdef int require_functions(Backend backend, str caller, tuple functions) except -1:
    for function in functions:
        if table_function(backend.table, <int>_FUNCTIONS[function][0]) == NULL:
            raise missing(backend, function, caller)
    return 0


def describe_tensor(NativeObject target not None, Backend backend not None, str caller not None, int layout, int dtype,
                    dims, strides=None):
    """Make `target` a tensor descriptor; without `strides` its elements lie packed."""
    cdef int64_t shape[MAX_DIMS]
    cdef int64_t steps[MAX_DIMS]
    cdef int axis, rank = len(dims)
    cdef int64_t step = 1
    assert rank <= MAX_DIMS and (strides is None or len(strides) == rank)
    for axis in range(rank - 1, -1, -1):
        shape[axis], steps[axis] = dims[axis], step if strides is None else strides[axis]
        step = saturated_product(step, shape[axis])
    make_tensor(target, backend, caller, layout, dtype, rank, shape, steps)


cdef mluOpTensorDescriptor_t make_tensor(NativeObject target, Backend backend, str caller, int layout, int dtype,
                                         int rank, const int64_t *dims, const int64_t *strides) except NULL:
    """Make `target` a tensor descriptor, and return what it holds."""
    cdef mluOpTensorDescriptor_t descriptor = NULL
    cdef FunctionTable *table = backend.table
    if table.mluOpCreateTensorDescriptor == NULL or table.mluOpSetTensorDescriptorEx_v2 == NULL:
        require_functions(backend, caller, ("mluOpCreateTensorDescriptor", "mluOpSetTensorDescriptorEx_v2"))
    check(backend, "mluOpCreateTensorDescriptor", table.mluOpCreateTensorDescriptor(&descriptor))
    target.take(backend, descriptor, NUMBER_DESTROY)
    if rank == 0:  # only a scalar in host memory has no dims
        set_pointer_mode(backend, caller, descriptor, MLUOP_POINTER_MODE_HOST)
    check(backend, "mluOpSetTensorDescriptorEx_v2",
          table.mluOpSetTensorDescriptorEx_v2(descriptor, layout, dtype, rank, dims, strides))
    return descriptor


cdef int set_pointer_mode(Backend backend, str caller, mluOpTensorDescriptor_t descriptor, int mode) except -1:
    require_functions(backend, caller, ("mluOpSetTensorDescriptorPointerMode",))
    check(backend, "mluOpSetTensorDescriptorPointerMode",
          backend.table.mluOpSetTensorDescriptorPointerMode(descriptor, mode))
    return 0


def copy_tensor_descriptor(caller, NativeObject source not None, NativeObject target not None):
    """Make `target` a tensor descriptor with all that `source` holds, and return element type, dims and strides of it.

    Nothing can change `source` meanwhile: functions that set descriptors run with the interpreter's
    lock, as this does.
    """
    cdef Backend backend = source.backend
    cdef mluOpTensorDescriptor_t given = <mluOpTensorDescriptor_t>source.address
    cdef mluOpTensorDescriptor_t made
    cdef mluOpTensorLayout_t layout = <mluOpTensorLayout_t>0
    cdef mluOpDataType_t dtype = <mluOpDataType_t>0
    cdef int64_t dims[MOST_EXPORTED_DIMS]
    cdef int64_t strides[MOST_EXPORTED_DIMS]
    cdef int rank = 0
    source.ensure_open(caller.name)
    require_functions(backend, caller.name, ("mluOpGetTensorDescriptorEx_v2",))
    check(backend, "mluOpGetTensorDescriptorEx_v2",
          backend.table.mluOpGetTensorDescriptorEx_v2(given, &layout, &dtype, &rank, dims, strides))
    if rank == 0 and is_unset(backend.table, given):
        require_functions(backend, caller.name, ("mluOpCreateTensorDescriptor",))
        made = NULL
        check(backend, "mluOpCreateTensorDescriptor", backend.table.mluOpCreateTensorDescriptor(&made))
        target.take(backend, made, NUMBER_DESTROY)
    else:
        made = make_tensor(target, backend, caller.name, layout, dtype, rank, dims, strides)
    copy_modes(backend, caller.name, given, made)
    return dtype, dims_tuple(dims, rank), dims_tuple(strides, rank)


cdef bint is_unset(FunctionTable *table, mluOpTensorDescriptor_t descriptor) noexcept:
    """Tell whether a descriptor without dims is one without elements, and not a scalar."""
    return table.mluOpGetTensorElementNum != NULL and table.mluOpGetTensorElementNum(descriptor) == 0


cdef int copy_modes(Backend backend, str caller, mluOpTensorDescriptor_t given, mluOpTensorDescriptor_t made) except -1:
    """Copy what a tensor descriptor holds besides layout, element type, dims and strides."""
    cdef FunctionTable *table = backend.table
    cdef mluOpPointerMode_t mode = <mluOpPointerMode_t>0
    cdef mluOpDataType_t on_chip = <mluOpDataType_t>0
    cdef int position = 0, offset = 0
    cdef float scale = 1
    if table.mluOpSetTensorDescriptorPointerMode != NULL:
        require_functions(backend, caller, ("mluOpGetTensorDescriptorPointerMode",))
        check(backend, "mluOpGetTensorDescriptorPointerMode",
              table.mluOpGetTensorDescriptorPointerMode(given, &mode))
        set_pointer_mode(backend, caller, made, mode)
    if table.mluOpSetTensorDescriptorOnchipDataType != NULL:
        require_functions(backend, caller, ("mluOpGetTensorDescriptorOnchipDataType",))
        check(backend, "mluOpGetTensorDescriptorOnchipDataType",
              table.mluOpGetTensorDescriptorOnchipDataType(given, &on_chip))
        if on_chip != 0:
            check(backend, "mluOpSetTensorDescriptorOnchipDataType",
                  table.mluOpSetTensorDescriptorOnchipDataType(made, on_chip))
    if table.mluOpSetTensorDescriptorPositionScaleAndOffset != NULL:
        require_functions(backend, caller, ("mluOpGetTensorDescriptorPositionScaleAndOffset",))
        check(backend, "mluOpGetTensorDescriptorPositionScaleAndOffset",
              table.mluOpGetTensorDescriptorPositionScaleAndOffset(given, &position, &scale, &offset))
        if position != 0 or scale != 1 or offset != 0:
            check(backend, "mluOpSetTensorDescriptorPositionScaleAndOffset",
                  table.mluOpSetTensorDescriptorPositionScaleAndOffset(made, position, scale, offset))
    return 0


def count_elements(NativeObject descriptor not None, Backend backend not None):
    """Return the number of elements that a tensor descriptor describes."""
    descriptor.ensure_open(type(descriptor).__name__)
    return backend.table.mluOpGetTensorElementNum(<mluOpTensorDescriptor_t>descriptor.address)


cdef int NUMBER_DESTROY = _FUNCTIONS["mluOpDestroyTensorDescriptor"][0]
