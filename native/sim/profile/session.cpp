#include "profile/session.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "base/fork.h"

namespace mlusim {
namespace {

struct Session {
  mlusimTimeModel model = {};
  std::uint64_t events_left = 0;
  std::uint64_t pending = 0;
  std::vector<std::shared_ptr<const LaunchProfile>> launches;
};

struct Sessions {
  ForkMutex mutex;
  std::map<std::uint64_t, Session> all;
  std::uint64_t running = 0;
  std::uint64_t last = 0;
};

Sessions &sessions() {
  static Sessions *const instance = new Sessions;  // lives as long as the device's thread
  return *instance;
}

Session *find(Sessions &all, std::uint64_t profile) {
  const auto found = all.all.find(profile);
  return found == all.all.end() ? nullptr : &found->second;
}

}  // namespace

void make_profile_sessions() { sessions(); }

std::uint64_t start_profile(const mlusimTimeModel &model, std::uint64_t most_events) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (all.running != 0) return 0;
  Session &session = all.all[all.last + 1];
  session.model = model;
  session.events_left = most_events;
  return all.running = ++all.last;
}

bool stop_profile(std::uint64_t profile) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (profile == 0 || all.running != profile) return false;
  all.running = 0;
  return true;
}

bool free_profile(std::uint64_t profile) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  return all.running != profile && all.all.erase(profile) != 0;
}

std::uint64_t enter_profile() {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (all.running != 0) ++all.all[all.running].pending;
  return all.running;
}

void leave_profile(std::uint64_t profile) {
  if (profile == 0) return;
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  if (Session *session = find(all, profile)) --session->pending;
}

bool profile_settings(std::uint64_t profile, ProfileSettings *settings) {
  if (profile == 0) return false;
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const Session *session = find(all, profile);
  if (session == nullptr) return false;
  *settings = {session->model, session->events_left};
  return true;
}

void keep_launch(std::uint64_t profile, std::shared_ptr<const LaunchProfile> launch) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  Session *session = find(all, profile);
  if (session == nullptr) return;
  const std::uint64_t events = launch->events.size();
  session->events_left -= events < session->events_left ? events : session->events_left;
  session->launches.push_back(std::move(launch));
}

std::shared_ptr<const LaunchProfile> profiled_launch(std::uint64_t profile, std::uint64_t launch) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const Session *session = find(all, profile);
  if (session == nullptr || launch >= session->launches.size()) return nullptr;
  return session->launches[launch];
}

ProfileCounts profile_counts(std::uint64_t profile) {
  Sessions &all = sessions();
  const std::lock_guard<ForkMutex> lock(all.mutex);
  const Session *session = find(all, profile);
  if (session == nullptr) return {};
  return {session->launches.size(), session->pending};
}

}  // namespace mlusim
