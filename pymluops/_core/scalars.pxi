# Scalar arguments of an operator, read as their C parameters want them. Included by _core.pyx.

cdef int read_scalar(Schema schema, int i, object value, Argument *argument) except -1:
    """Read one scalar argument, or refuse it."""
    cdef ScalarSpec *spec = &schema.scalar_specs[i]
    cdef int overflow = 0
    cdef int64_t number = 0
    cdef PyObject *found
    if spec.kind == KIND_INTEGER:
        if PyLong_CheckExact(value):
            number = PyLong_AsLongLongAndOverflow(value, &overflow)
            if overflow == 0 and spec.minimum <= number <= spec.maximum:
                argument.integer = spec.passed if spec.passed else number
                return 0
        number = _arguments.integer(schema, schema.scalars[i].name, value, spec.minimum, spec.maximum)
        argument.integer = spec.passed if spec.passed else number
    elif spec.kind == KIND_FLOAT or spec.kind == KIND_DOUBLE:
        argument.real = read_real(schema, i, value)
    elif spec.kind == KIND_BOOL:
        argument.integer = value is True or (value is not False
                                             and _arguments.flag(schema, schema.scalars[i].name, value))
    elif spec.kind == KIND_CHOICE:
        if PyLong_CheckExact(value) or type(value) is str:
            found = PyDict_GetItemWithError(schema.choices[i], value)
            if found != NULL:
                argument.integer = PyLong_AsLongLongAndOverflow(<object>found, &overflow)
                return 0
        argument.integer = _arguments.choice(schema, schema.scalars[i].name, value, schema.scalars[i].choices)
    else:
        least, most = spec.minimum, schema.scalars[i].maximum
        most = 2**64 - 1 if most is None else most
        argument.integer = <int64_t><uint64_t>_arguments.integer(schema, schema.scalars[i].name, value, least, most)
    return 0


cdef double read_real(Schema schema, int i, object value) except? -1:
    """Read a number; for a C parameter of type float it is rounded first, as the call would."""
    cdef ScalarSpec *spec = &schema.scalar_specs[i]
    cdef double given = value if PyFloat_CheckExact(value) else _arguments.real(schema, schema.scalars[i].name, value)
    cdef double number = <float>given if spec.kind == KIND_FLOAT else given
    if number != number:
        if spec.nan:
            return number
    elif (spec.infinite or number - number == 0) and number <= spec.high and (
        number > spec.low if spec.above else number >= spec.low
    ):
        return number
    raise real_refusal(schema, i, given)


cdef object real_refusal(Schema schema, int i, double given):
    """Return the error for a number out of its range."""
    cdef ScalarSpec *spec = &schema.scalar_specs[i]
    cdef list bounds = []
    kind = "float32" if spec.kind == KIND_FLOAT else "float64"
    is_limited = spec.high < float("inf")
    if spec.low > float("-inf"):
        begin = "above" if spec.above else "from" if is_limited else "of at least"
        bounds.append(f"{begin} {schema.scalars[i].minimum}")
    if is_limited:
        bounds.append(f"up to {schema.scalars[i].maximum}")
    text = f"a {'' if spec.infinite else 'finite '}{kind} number {' '.join(bounds)}".rstrip()
    return _arguments.refusal(schema, schema.scalars[i].name, text, _arguments.shown(given))
