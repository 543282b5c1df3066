// The reason of a refused call, kept per thread: function, argument, expected and actual value.
#ifndef MLUOPS_CORE_REASON_H_
#define MLUOPS_CORE_REASON_H_

#include "mlu_op.h"

namespace mluops {

// A short text in a fixed buffer, so that reporting a failure cannot fail.
class Text {
 public:
  Text(const char *text);  // NOLINT: a plain string is the usual case and converts silently
  static Text format(const char *pattern, ...) __attribute__((format(printf, 1, 2)));
  const char *c_str() const { return data_; }

 private:
  Text() { data_[0] = '\0'; }
  char data_[224];
};

// Stores "<function>: <argument>: expected <expected>, got <found>" as this thread's last reason
// and returns `status`.
mluOpStatus_t refuse(mluOpStatus_t status, const char *function, const char *argument, const Text &expected,
                     const Text &found);

// Stores "<function>: <sentence>", for failures without a faulty argument.
mluOpStatus_t fail(mluOpStatus_t status, const char *function, const Text &sentence);

// The failure of all functions that run out of memory.
mluOpStatus_t out_of_memory(const char *function);

const char *last_reason();

}  // namespace mluops

// Ends the calling function with the status of `expression` unless that is SUCCESS.
#define MLUOPS_TRY(expression)                                                 \
  do {                                                                         \
    const mluOpStatus_t mluops_try_status_ = (expression);                     \
    if (mluops_try_status_ != MLUOP_STATUS_SUCCESS) return mluops_try_status_; \
  } while (0)

// Refuses unless `condition` holds; the texts are built only on failure.
#define MLUOPS_REQUIRE(condition, status, function, argument, expected, found)              \
  do {                                                                                      \
    if (!(condition)) return ::mluops::refuse(status, function, argument, expected, found); \
  } while (0)

#endif  // MLUOPS_CORE_REASON_H_
