// The accesses that printf makes for a kernel.
#ifndef MLUSIM_MACHINE_FORMAT_H_
#define MLUSIM_MACHINE_FORMAT_H_

#include <cstdarg>
#include <cstddef>

namespace mlusim {

// Reports that a text is read, to its end or up to `most` characters of `width` bytes.
void announce_text(const void *text, std::size_t most, std::size_t width, const void *pc);

// Reports what printf reads and writes: the format, the texts of `%s`, the counts of `%n`. A format
// that names its values by number ends the kernel. The values stay as they are.
void announce_format(const char *format, va_list values, const void *pc);

}  // namespace mlusim

#endif  // MLUSIM_MACHINE_FORMAT_H_
