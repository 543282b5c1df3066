#include "core/reason.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace mluops {
namespace {

thread_local char reason[768] = "";

}  // namespace

Text::Text(const char *text) { std::snprintf(data_, sizeof data_, "%s", text); }

Text Text::format(const char *pattern, ...) {
  Text text;
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(text.data_, sizeof text.data_, pattern, arguments);
  va_end(arguments);
  return text;
}

mluOpStatus_t refuse(mluOpStatus_t status, const char *function, const char *argument, const Text &expected,
                     const Text &found) {
  std::snprintf(reason, sizeof reason, "%s: %s: expected %s, got %s", function, argument, expected.c_str(),
                found.c_str());
  return status;
}

mluOpStatus_t fail(mluOpStatus_t status, const char *function, const Text &sentence) {
  std::snprintf(reason, sizeof reason, "%s: %s", function, sentence.c_str());
  return status;
}

const char *last_reason() { return reason; }

}  // namespace mluops
