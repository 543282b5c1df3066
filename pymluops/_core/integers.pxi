# Integer arguments, for calls so short that reading them in Python shows. Included by _core.pyx.


@cython.binding(False)
def integer(caller, str argument, value, int64_t minimum=0, int64_t maximum=INT32_MAX):
    """Return `value` as an int between `minimum` and `maximum`; see `pymluops._arguments.integer`."""
    if PyLong_CheckExact(value) and is_between(value, minimum, maximum):
        return value
    return _arguments.integer(caller, argument, value, minimum, maximum)


@cython.binding(False)
def integers(caller, str argument, value, Py_ssize_t count, int64_t minimum=0, bint repeat=True):
    """Return `count` ints, from a sequence of them or one for all; see `pymluops._arguments.integers`."""
    cdef Py_ssize_t i
    cdef tuple items
    if repeat and PyLong_CheckExact(value) and is_between(value, minimum, INT32_MAX):
        return (value,) * count
    if type(value) is tuple or type(value) is list:
        items = tuple(value)
        if len(items) == count:
            for i in range(count):
                if not (PyLong_CheckExact(items[i]) and is_between(items[i], minimum, INT32_MAX)):
                    break
            else:
                return items
    return _arguments.integers(caller, argument, value, count, minimum, repeat=repeat)


cdef bint is_between(object value, int64_t minimum, int64_t maximum) noexcept:
    """Tell whether an int lies in a range; the caller has made sure that it is an int."""
    cdef int overflow = 0
    cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
    return overflow == 0 and minimum <= number <= maximum
