// A team of threads as an OpenMP runtime would run it, for tests: started anew for each call.
#ifndef MLUOPS_TESTS_TEAM_H_
#define MLUOPS_TESTS_TEAM_H_

#include <pthread.h>

#include <atomic>

#include "mluops_ext.h"

namespace team {

inline std::atomic<int> calls{0};
inline std::atomic<unsigned> asked{0};  // threads, in the last call

struct Member {
  mluopsExtTeamMember function;
  void *argument;
};

inline void *run_member(void *member) {
  static_cast<Member *>(member)->function(static_cast<Member *>(member)->argument);
  return nullptr;
}

// Plain arrays, since a child of a fork leaves this function with longjmp.
inline void run(mluopsExtTeamMember function, void *argument, unsigned threads, unsigned) {
  constexpr unsigned kMost = 8;
  ++calls;
  asked = threads;
  Member member = {function, argument};
  pthread_t others[kMost];
  unsigned started = 0;
  while (started + 1 < threads && started < kMost &&
         pthread_create(&others[started], nullptr, run_member, &member) == 0)
    ++started;
  function(argument);
  for (unsigned i = 0; i < started; ++i) pthread_join(others[i], nullptr);
}

// As in an OpenMP region, which regions inside of it do not divide.
inline void run_alone(mluopsExtTeamMember function, void *argument, unsigned, unsigned) {
  ++calls;
  function(argument);
}

// Sets a team during a test.
struct Set {
  Set(mluopsExtTeam team, int threads) {
    calls = 0;
    (void)mluopsExtSetTeam(team, threads);
  }
  ~Set() { (void)mluopsExtSetTeam(nullptr, 0); }
  Set(const Set &) = delete;
  Set &operator=(const Set &) = delete;
};

}  // namespace team

#endif  // MLUOPS_TESTS_TEAM_H_
