// The profiles that the host asked for, and their launches. Safe on any thread.
#ifndef MLUSIM_PROFILE_SESSION_H_
#define MLUSIM_PROFILE_SESSION_H_

#include <cstdint>
#include <memory>

#include "profile/data.h"

namespace mlusim {

// Creates the sessions when the library is loaded, because a fork may come at any time.
void make_profile_sessions();

// Starts a profile and returns its number; 0 if another profile runs.
std::uint64_t start_profile(const mlusimTimeModel &model, std::uint64_t most_events);
// stop_profile() stops a running profile; free_profile() drops a stopped one. Each returns false
// for any other profile.
bool stop_profile(std::uint64_t profile);
bool free_profile(std::uint64_t profile);

// enter_profile() is called when a launch is queued, and returns the number of its profile; 0 for
// none. leave_profile() is called when the launch has ended or will never begin.
std::uint64_t enter_profile();
void leave_profile(std::uint64_t profile);

// The settings for the launch that starts now.
struct ProfileSettings {
  mlusimTimeModel model = {};
  std::uint64_t events_left = 0;
};
bool profile_settings(std::uint64_t profile, ProfileSettings *settings);
void keep_launch(std::uint64_t profile, std::shared_ptr<const LaunchProfile> launch);

// Returns a launch of the profile; null if there is none.
std::shared_ptr<const LaunchProfile> profiled_launch(std::uint64_t profile, std::uint64_t launch);
struct ProfileCounts {
  std::uint64_t launches = 0, pending = 0;
};
ProfileCounts profile_counts(std::uint64_t profile);

}  // namespace mlusim

#endif  // MLUSIM_PROFILE_SESSION_H_
