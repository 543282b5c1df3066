// Drives a fuzz target: with random inputs of a seed, or with the files named. Inputs that found
// something are kept.
//
//   target [--seed N] [--seconds S] [--runs N] [--limit S] [--keep FILE] [--explain] [FILE...]
//
// The library comes from MLUOPS_FUZZ_LIBRARY. libFuzzer has a main of its own and needs none of
// this.
#include <fcntl.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "finding.h"

extern "C" int LLVMFuzzerInitialize(int *, char ***);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);
extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

constexpr std::size_t kLargestInput = 600;

const char *g_keep = "finding.bin";
int g_file = -1;
unsigned g_limit = 30;  // seconds of one run

// Before a run, because after it the process may be gone in more ways than one can handle.
void keep_input(const std::uint8_t *data, std::size_t size) {
  if (g_file < 0) return;
  if (pwrite(g_file, data, size, 0) < 0 || ftruncate(g_file, static_cast<off_t>(size)) != 0) {
    std::perror(g_keep);
    std::exit(2);
  }
}

void say(const char *text) {
  if (write(2, text, std::strlen(text)) < 0) return;
}

void on_signal(int number) {
  signal(number, SIG_DFL);
  if (number == SIGALRM) say("finding: a call does not return\n");
  if (number == SIGSEGV || number == SIGBUS) say("finding: memory that may not be touched\n");
  if (number == SIGFPE || number == SIGILL) say("finding: an instruction that may not be executed\n");
  if (number == SIGALRM) abort();
  raise(number);
}

void install_handlers() {
  signal(SIGALRM, on_signal);
  if (__sanitizer_set_death_callback != nullptr) return;  // the sanitizer tells more
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) signal(number, on_signal);
}

void run(const std::uint8_t *data, std::size_t size) {
  alarm(g_limit);
  LLVMFuzzerTestOneInput(data, size);
  alarm(0);
}

// Zeros mean ordinary choices, so their share decides how far a run strays.
std::size_t random_input(std::mt19937_64 &random, std::uint8_t *data) {
  const std::size_t size = 8 + random() % (kLargestInput - 8);
  const std::uint64_t share = random() % 8;  // of 8 bytes, how many are not zero
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint64_t value = random();
    data[i] = (value & 7) <= share ? static_cast<std::uint8_t>(value >> 8) : std::uint8_t{0};
    // What a run does stands at its beginning.
    if (i < 4) data[i] = static_cast<std::uint8_t>(value >> 8);
  }
  return size;
}

int run_random(std::uint64_t seed, double seconds, std::uint64_t runs) {
  using Clock = std::chrono::steady_clock;
  std::mt19937_64 random(seed);
  g_file = open(g_keep, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  std::uint8_t data[kLargestInput];
  const auto start = Clock::now();
  double passed = 0;
  std::uint64_t done = 0;
  while (done < runs && passed < seconds) {
    const std::size_t size = random_input(random, data);
    keep_input(data, size);
    run(data, size);
    ++done;
    if (done % 16 == 0) passed = std::chrono::duration<double>(Clock::now() - start).count();
  }
  passed = std::chrono::duration<double>(Clock::now() - start).count();
  unlink(g_keep);
  std::printf("runs %llu seconds %.2f seed %llu\n", static_cast<unsigned long long>(done), passed,
              static_cast<unsigned long long>(seed));
  return 0;
}

int replay(const std::vector<const char *> &files) {
  for (const char *name : files) {
    std::ifstream file(name, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", name);
      return 2;
    }
    const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    std::fprintf(stderr, "%s\n", name);
    run(reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size());
  }
  std::printf("runs %zu seconds 0 seed 0\n", files.size());
  return 0;
}

}  // namespace

int main(int count, char **arguments) {
  std::uint64_t seed = 1, runs = UINT64_MAX;
  double seconds = 10;
  std::vector<const char *> files;
  for (int i = 1; i < count; ++i) {
    const std::string option = arguments[i];
    const char *value = i + 1 < count ? arguments[i + 1] : "";
    if (option == "--explain") {
      fuzz::explains = true;
      continue;
    }
    if (option.rfind("--", 0) != 0) {
      files.push_back(arguments[i]);
      continue;
    }
    ++i;
    if (option == "--seed") {
      seed = std::strtoull(value, nullptr, 0);
    } else if (option == "--seconds") {
      seconds = std::strtod(value, nullptr);
    } else if (option == "--runs") {
      runs = std::strtoull(value, nullptr, 0);
    } else if (option == "--limit") {
      g_limit = static_cast<unsigned>(std::strtoul(value, nullptr, 0));
    } else if (option == "--keep") {
      g_keep = value;
    } else {
      std::fprintf(stderr, "unknown option %s\n", option.c_str());
      return 2;
    }
  }
  install_handlers();
  LLVMFuzzerInitialize(nullptr, nullptr);
  return files.empty() ? run_random(seed, seconds, runs) : replay(files);
}
