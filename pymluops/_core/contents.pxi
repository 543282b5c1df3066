# Values of integer arrays that belong to those of others. Included by _core.pyx.
#
# Each function returns the position of the first wrong value, or -1.

cdef int64_t first_outside_at(const int32_t *values, int64_t rows, const int32_t *places, int64_t count,
                              const int64_t *limits, int columns) noexcept nogil:
    """Look at some rows of a table; a place that is no row does not count."""
    cdef int64_t i, row
    cdef int column
    for i in range(count):
        row = places[i]
        if not 0 <= row < rows:
            continue
        for column in range(columns):
            if not 0 <= values[row * columns + column] < limits[column]:
                return row * columns + column
    return -1


cdef int64_t first_too_many(const int32_t *counts, int64_t count, int64_t limit, int64_t *total) noexcept nogil:
    """Find a count that is negative, or with which the sum exceeds the limit."""
    cdef int64_t i
    total[0] = 0
    for i in range(count):
        total[0] += counts[i]
        if counts[i] < 0 or total[0] > limit:
            return i
    return -1


cdef int64_t first_beyond(const int32_t *starts, const int32_t *lengths, int64_t count, int64_t limit) noexcept nogil:
    """Find what begins before row 0, ends behind the last row, or has a negative length."""
    cdef int64_t i
    for i in range(count):
        if starts[i] < 0 or lengths[i] < 0 or <int64_t>starts[i] + lengths[i] > limit:
            return i
    return -1
