// What exists once is made when the library is loaded, not by the first call: the child of a fork that comes during its making would
// wait for ever for a thread that it does not have.
#include "cpu/cache.h"
#include "cpu/level.h"
#include "cpu/pool.h"
#include "cpu/settings.h"

namespace mluops {
namespace {

__attribute__((constructor)) void prepare() {
  settings();
  l1d_bytes();
  l2_bytes();
  llc_bytes();
  streaming_bytes();
  active_level();
  prepare_pool();
}

}  // namespace
}  // namespace mluops
