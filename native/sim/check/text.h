// Phrases shared by the messages of several checkers.
#ifndef MLUSIM_CHECK_TEXT_H_
#define MLUSIM_CHECK_TEXT_H_

#include <string>

#include "machine/observer.h"

namespace mlusim {

// "reads", "writes" or "updates".
const char *verb_of(Kind kind);

// "4 bytes of the argument x at element 8".
std::string bytes_at(const void *address, std::size_t bytes);

// "1 byte", "2 bytes".
std::string bytes_text(std::uint64_t bytes);

}  // namespace mlusim

#endif  // MLUSIM_CHECK_TEXT_H_
