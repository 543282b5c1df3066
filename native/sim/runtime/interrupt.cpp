#include "runtime/interrupt.h"

#include <atomic>

#include "runtime/scheduler.h"

namespace mlusim {
namespace {

std::atomic<mlusimInterruptCheck_t> g_check{nullptr};

}  // namespace

mlusimInterruptCheck_t interrupt_check() { return g_check.load(std::memory_order_acquire); }

}  // namespace mlusim

cnrtRet_t mlusimSetInterruptCheck(mlusimInterruptCheck_t check) {
  if (mlusim::g_check.exchange(check) != check) mlusim::interrupt_check_changed();
  return cnrtSuccess;
}
