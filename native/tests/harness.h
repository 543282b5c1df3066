// A small test harness: TEST(name) { ... } with CHECK and CHECK_EQ; run_all() goes in main.
#ifndef MLUOPS_TESTS_HARNESS_H_
#define MLUOPS_TESTS_HARNESS_H_

#include <atomic>
#include <cstdio>
#include <cstring>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace harness {

// Whether the child of a multi-threaded process may allocate memory and start threads. Under
// ThreadSanitizer it may hang, because threads that do not exist in the child can hold locks of the
// runtime. So it exits right after the fork handlers.
#if defined(__SANITIZE_THREAD__)
constexpr bool kChildrenCompute = false;
#else
constexpr bool kChildrenCompute = true;
#endif

struct Test {
  const char *name;
  void (*run)();
};

inline std::vector<Test> tests;
inline std::atomic<int> failures{0};

struct Registration {
  Registration(const char *name, void (*run)()) { tests.push_back({name, run}); }
};

inline void report(const char *file, int line, const std::string &text) {
  if (++failures <= 50) std::fprintf(stderr, "%s:%d: %s\n", file, line, text.c_str());
}

template <typename A, typename B>
void check_equal(const char *file, int line, const char *what, const A &found, const B &wanted) {
  if (found == wanted) return;
  std::ostringstream text;
  text << what << ": expected " << wanted << ", got " << found;
  report(file, line, text.str());
}

// Runs the tests whose names contain the first command line argument; all without one.
inline int run_all(int count, char **arguments) {
  int run = 0;
  for (const Test &test : tests) {
    if (count > 1 && std::strstr(test.name, arguments[1]) == nullptr) continue;
    const int before = failures;
    test.run();
    std::printf("%s %s\n", failures == before ? "ok    " : "FAILED", test.name);
    std::fflush(stdout);
    ++run;
  }
  std::printf("%d tests, %d failed checks\n", run, failures.load());
  return failures == 0 && run > 0 ? 0 : 1;
}

}  // namespace harness

#define TEST(name)                                                     \
  static void name();                                                  \
  static const harness::Registration registration_##name(#name, name); \
  static void name()

#define CHECK(condition) ((condition) ? (void)0 : harness::report(__FILE__, __LINE__, "expected " #condition))
#define CHECK_EQ(found, wanted) harness::check_equal(__FILE__, __LINE__, #found, found, wanted)

#endif  // MLUOPS_TESTS_HARNESS_H_
