// Creates the global objects when the library is loaded, not at the first call: a fork during their
// creation would leave the child waiting for a thread that it does not have.
#include "base/thread_state.h"
#include "check/align.h"
#include "check/checks.h"
#include "check/init.h"
#include "check/memory.h"
#include "check/race.h"
#include "check/sync.h"
#include "machine/ending.h"
#include "machine/heap.h"
#include "machine/trap.h"
#include "profile/profiler.h"
#include "profile/session.h"
#include "runtime/card_choice.h"
#include "runtime/queue.h"
#include "runtime/scheduler_internal.h"

namespace mlusim {
namespace {

__attribute__((constructor)) void prepare() {
  thread_state();
  align_checker();
  init_checker();
  memory_checker();
  race_checker();
  sync_checker();
  profiler();
  make_profile_sessions();
  set_observer_choice(choose_all_observers);
  heap_totals();
  make_finding_log();
  make_core_states();
  scheduler();
  queue_of("", nullptr);
  take_card_of_environment();
}

}  // namespace
}  // namespace mlusim
