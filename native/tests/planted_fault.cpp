// A deliberate fault that a sanitizer must detect.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <thread>

namespace {

int shared = 0;

void race() {
  std::thread other([] {
    for (int i = 0; i < 100000; ++i) ++shared;
  });
  for (int i = 0; i < 100000; ++i) ++shared;
  other.join();
}

void overflow(int count) {
  volatile int largest = std::numeric_limits<int>::max();
  shared = largest + count;
}

void read_outside(int count) {
  char *volatile memory = static_cast<char *>(std::malloc(static_cast<std::size_t>(count)));
  memory[0] = 1;
  shared = memory[count];
  std::free(memory);
}

}  // namespace

int main(int count, char **arguments) {
  const char *fault = count > 1 ? arguments[1] : "";
  if (std::strcmp(fault, "race") == 0) race();
  if (std::strcmp(fault, "overflow") == 0) overflow(count);
  if (std::strcmp(fault, "outside") == 0) read_outside(count);
  std::printf("nothing was found: %d\n", shared);
  return 0;
}
