// Environment variables: their ranges and the refusal of other values. Header-only, for programs
// that link a part of a library.
#ifndef MLUOPS_CORE_ENVIRONMENT_H_
#define MLUOPS_CORE_ENVIRONMENT_H_

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "core/reason.h"

namespace mluops {

// An integer in decimal digits, from `least` to `most`.
struct NumberVariable {
  const char *name;
  std::int64_t least, most;

  // Whether the variable is set to a valid number; otherwise `value` is unchanged.
  bool read(std::int64_t *value) const { return parse(std::getenv(name), value); }

  // Refuses an invalid value; an empty variable counts as not set.
  mluOpStatus_t check(const char *function) const {
    const char *text = std::getenv(name);
    std::int64_t value = 0;
    if (text == nullptr || text[0] == '\0' || parse(text, &value)) return MLUOP_STATUS_SUCCESS;
    return refuse(
        MLUOP_STATUS_NOT_INITIALIZED, function, name,
        Text::format("an integer from %lld to %lld", static_cast<long long>(least), static_cast<long long>(most)),
        shown(text));
  }

  // The text, truncated if long.
  static Text shown(const char *text) {
    constexpr int kMost = 40;
    return std::strlen(text) > kMost ? Text::format("%.*s...", kMost, text) : Text(text);
  }

 private:
  bool parse(const char *text, std::int64_t *value) const {
    if (text == nullptr || text[0] < '0' || text[0] > '9') return false;
    char *end = nullptr;
    errno = 0;
    const long long read = std::strtoll(text, &end, 10);
    if (*end != '\0' || errno != 0 || read < least || read > most) return false;
    *value = read;
    return true;
  }
};

}  // namespace mluops

#endif  // MLUOPS_CORE_ENVIRONMENT_H_
