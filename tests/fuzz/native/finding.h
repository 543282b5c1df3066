// What ends a run that found something. The program that drives the runs keeps the bytes that led
// there.
#ifndef MLUOPS_FUZZ_FINDING_H_
#define MLUOPS_FUZZ_FINDING_H_

namespace fuzz {

// Ends a run with a finding that MLUOPS_FUZZ_OPEN names: parts of messages, separated by
// semicolons.
struct OpenFinding {};

// Prints one line, "finding: ...", and aborts; throws OpenFinding if it is one.
[[noreturn]] void finding(const char *format, ...) __attribute__((format(printf, 1, 2)));

// Whether MLUOPS_FUZZ_OPEN names a finding: asked before a call that would end the process.
bool is_open(const char *message);

// Where --explain was given, prints a line about what the run does.
extern bool explains;
void explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace fuzz

#endif  // MLUOPS_FUZZ_FINDING_H_
