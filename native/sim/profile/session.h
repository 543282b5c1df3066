// The profiles that the host asked for, and the launches that belong to them. Safe from any thread.
#ifndef MLUSIM_PROFILE_SESSION_H_
#define MLUSIM_PROFILE_SESSION_H_

#include <cstdint>
#include <memory>

#include "profile/data.h"

namespace mlusim {

// Made when the library is loaded, because a fork may come at any time.
void make_profile_sessions();

// Starts a profile: its number; 0 if another one runs.
std::uint64_t start_profile(const mlusimTimeModel &model, std::uint64_t most_events);
// False if there is no such profile, or it does not run, or it still does.
bool stop_profile(std::uint64_t profile);
bool free_profile(std::uint64_t profile);

// A launch is put into a queue: the profile that it belongs to, 0 for none. leave_profile() when it has ended or never will begin.
std::uint64_t enter_profile();
void leave_profile(std::uint64_t profile);

// For the launch that starts now.
struct ProfileSettings {
  mlusimTimeModel model = {};
  std::uint64_t events_left = 0;
};
bool profile_settings(std::uint64_t profile, ProfileSettings *settings);
void keep_launch(std::uint64_t profile, std::shared_ptr<const LaunchProfile> launch);

// The profile's launch; null if there is none.
std::shared_ptr<const LaunchProfile> profiled_launch(std::uint64_t profile, std::uint64_t launch);
struct ProfileCounts {
  std::uint64_t launches = 0, pending = 0;
};
ProfileCounts profile_counts(std::uint64_t profile);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_SESSION_H_
