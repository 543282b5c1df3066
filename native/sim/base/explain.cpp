#include "base/explain.h"

#include <cstdarg>
#include <cstdio>

#include "base/thread_state.h"

namespace mlusim {

cnrtRet_t explain(cnrtRet_t error, const char *pattern, ...) {
  ThreadTexts *const texts = thread_texts();
  if (texts == nullptr) return error;
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(texts->explanation, sizeof texts->explanation, pattern, arguments);
  va_end(arguments);
  return error;
}

const char *explanation() {
  const ThreadTexts *const texts = thread_state().texts;
  return texts != nullptr ? texts->explanation : "";
}

cnrtRet_t refuse_null(const char *function, const char *argument) {
  return explain(cnrtErrorArgsInvalid, "%s: %s: expected a pointer, got NULL", function, argument);
}

}  // namespace mlusim
