#include "finding.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

namespace fuzz {

bool explains = std::getenv("MLUOPS_FUZZ_EXPLAIN") != nullptr;

bool is_open(const char *message) {
  static const char *const variable = std::getenv("MLUOPS_FUZZ_OPEN");
  std::string rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string part = rest.substr(0, end);
    if (!part.empty() && std::strstr(message, part.c_str()) != nullptr) return true;
    rest = end == std::string::npos ? "" : rest.substr(end + 1);
  }
  return false;
}

void finding(const char *format, ...) {
  char message[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(message, sizeof message, format, arguments);
  va_end(arguments);
  if (is_open(message)) throw OpenFinding();
  std::fprintf(stderr, "finding: %s\n", message);
  std::abort();
}

void explain(const char *format, ...) {
  if (!explains) return;
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  std::fputc('\n', stderr);
  va_end(arguments);
}

}  // namespace fuzz
