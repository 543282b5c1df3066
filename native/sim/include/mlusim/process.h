// Functions that end or copy the process, end its thread, or jump elsewhere. A kernel that calls
// one ends its launch with a finding. In BANG C sources the compiler gives calls of them other
// names; libmlusim defines these, and they know where they are called. Include this before all
// other headers: a later declaration does not change the name.
#ifndef MLUSIM_PROCESS_H_
#define MLUSIM_PROCESS_H_

#include "mlusim/seen.h"

extern "C" {
[[noreturn]] void abort() noexcept __asm__("mlusim_abort");
[[noreturn]] void exit(int) noexcept __asm__("mlusim_exit");
[[noreturn]] void _exit(int) __asm__("mlusim__exit");
[[noreturn]] void _Exit(int) noexcept __asm__("mlusim__Exit");
[[noreturn]] void quick_exit(int) noexcept __asm__("mlusim_quick_exit");
[[noreturn]] void pthread_exit(void *) __asm__("mlusim_pthread_exit");
int fork() noexcept __asm__("mlusim_fork");
int vfork() noexcept __asm__("mlusim_fork");
// With _FORTIFY_SOURCE the C library has its own definitions of these names, and checks the calls
// itself.
#if !defined(_FORTIFY_SOURCE) || _FORTIFY_SOURCE == 0
struct __jmp_buf_tag;
[[noreturn]] void longjmp(struct __jmp_buf_tag *, int) noexcept __asm__("mlusim_longjmp");
[[noreturn]] void _longjmp(struct __jmp_buf_tag *, int) noexcept __asm__("mlusim_longjmp");
[[noreturn]] void siglongjmp(struct __jmp_buf_tag *, int) noexcept __asm__("mlusim_longjmp");
#endif
}

#endif  // MLUSIM_PROCESS_H_
