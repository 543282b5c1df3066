// Singletons are created when the library is loaded, not by the first call: a child forked during
// their creation would wait forever for a thread that does not exist in it.
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
