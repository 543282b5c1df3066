// Functions of mlusim.h about profiles and declared arrays.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <new>

#include "base/explain.h"
#include "machine/array.h"
#include "mlusim_profile.h"
#include "profile/session.h"
#include "profile/usage.h"

namespace mlusim {
namespace {

using Launches = std::shared_ptr<const LaunchProfile>;

int refuse(const char *function, const char *sentence) {
  explain(cnrtErrorArgsInvalid, "%s: %s", function, sentence);
  return -1;
}

template <std::size_t size>
void put(char (&into)[size], const std::string &text) {
  std::snprintf(into, size, "%s", text.c_str());
}

// Returns the first invalid figure of the model; null if all are valid.
const char *missing_figure(const mlusimTimeModel &model) {
  const struct {
    const char *name;
    double value;
  } figures[] = {
      {"clock_mhz", model.clock_mhz},
      {"bandwidth_gb_s", model.bandwidth_gb_s},
      {"cluster_bandwidth_gb_s", model.cluster_bandwidth_gb_s},
      {"off_chip_latency_ns", model.off_chip_latency_ns},
      {"on_chip_latency_cycles", model.on_chip_latency_cycles},
      {"on_chip_bytes_per_cycle", model.on_chip_bytes_per_cycle},
      {"vector_bytes_per_cycle", model.vector_bytes_per_cycle},
      {"vector_startup_cycles", model.vector_startup_cycles},
      {"function_passes", model.function_passes},
      {"matrix_float_operations", model.matrix_float_operations},
      {"matrix_half_operations", model.matrix_half_operations},
      {"matrix_byte_operations", model.matrix_byte_operations},
      {"scalar_on_chip_cycles", model.scalar_on_chip_cycles},
      {"scalar_off_chip_ns", model.scalar_off_chip_ns},
      {"issue_cycles", model.issue_cycles},
      {"barrier_cycles", model.barrier_cycles},
  };
  for (const auto &figure : figures) {
    if (!(figure.value > 0 && figure.value < 1e12)) return figure.name;
  }
  return nullptr;
}

// The caller's buffer, and the indices that it wants.
template <typename T>
struct Wanted {
  const char *function;
  std::uint64_t profile, launch, first, count;
  T *into;
};

// Calls fill(launch, index, into) for each wanted index below size(launch).
template <typename T, typename Size, typename Fill>
std::int64_t copy(const Wanted<T> &wanted, const Size &size, const Fill &fill) {
  const Launches launch = profiled_launch(wanted.profile, wanted.launch);
  if (launch == nullptr) return refuse(wanted.function, "launch: the profile has no launch of this number");
  if (wanted.into == nullptr && wanted.count != 0) return refuse(wanted.function, "expected a pointer, got NULL");
  const std::uint64_t all = size(*launch);
  const std::uint64_t number = wanted.first >= all ? 0 : std::min(wanted.count, all - wanted.first);
  for (std::uint64_t i = 0; i < number; ++i) {
    wanted.into[i] = T{};
    fill(*launch, wanted.first + i, &wanted.into[i]);
  }
  return static_cast<std::int64_t>(number);
}

std::uint64_t tallies_of(const LaunchProfile &launch) {
  std::uint64_t number = 0;
  for (const std::vector<Tally> &core : launch.tallies) {
    for (const Tally &tally : core) number += tally.calls != 0 ? 1 : 0;
  }
  return number;
}

void describe_site(const LaunchProfile &launch, std::uint64_t index, mlusimProfileSite *into) {
  const Site &site = launch.sites[index];
  const bool copy = site.work == Work::kOffChip || site.work == Work::kOnChip;
  put(into->name, site.name);
  put(into->file, launch.files[index]);
  into->line = launch.lines[index];
  into->unit = site.work == Work::kOffChip ? kIo : site.work == Work::kOnChip ? kMove : site.agent;
  into->waits = site.work == Work::kNone ? 1 : 0;
  into->holds = copy && site.agent == kCompute ? 1 : 0;
  into->element = static_cast<std::int32_t>(site.element);
  into->known = site.known ? 1 : 0;
  const auto end = [](Space space) {
    return space == Space::kHost ? "" : space == Space::kParam || space == Space::kCode ? "GDRAM" : name_of(space);
  };
  put(into->source, end(site.source));
  put(into->target, end(site.target));
}

void describe_core(const LaunchProfile &launch, std::uint64_t index, mlusimProfileCore *into) {
  const CoreTally &core = launch.cores[index];
  const int place = static_cast<int>(index);
  const int within = place % launch.places_per_cluster();
  into->cluster = place / launch.places_per_cluster();
  into->core = within == launch.cores_per_cluster ? kMpuCoreId : within;
  into->runs = core.runs;
  into->syncs = core.syncs;
  into->barriers = core.barriers;
  into->on_chip_loads = core.near_loads;
  into->on_chip_stores = core.near_stores;
  into->off_chip_loads = core.far_loads;
  into->off_chip_stores = core.far_stores;
  into->sync_wait_ns = core.sync_wait;
  into->barrier_wait_ns = core.barrier_wait;
  into->scalar_ns = core.scalar;
  into->end_ns = core.end;
}

}  // namespace
}  // namespace mlusim

using namespace mlusim;

std::uint64_t mlusimStartProfile(const mlusimTimeModel *model, std::uint64_t most_events) {
  if (model == nullptr) return refuse(__func__, "model: expected a pointer, got NULL"), 0;
  if (const char *figure = missing_figure(*model)) {
    explain(cnrtErrorArgsInvalid, "%s: model: %s: expected a number greater than 0", __func__, figure);
    return 0;
  }
  try {
    const std::uint64_t profile = start_profile(*model, most_events);
    if (profile == 0) refuse(__func__, "another profile runs; stop it first");
    return profile;
  } catch (const std::bad_alloc &) {
    explain(cnrtErrorSysNoMem, "%s: out of host memory", __func__);
    return 0;
  }
}

int mlusimStopProfile(std::uint64_t profile) {
  return stop_profile(profile) ? 0 : refuse(__func__, "profile: no profile of this number runs");
}

int mlusimFreeProfile(std::uint64_t profile) {
  return free_profile(profile) ? 0 : refuse(__func__, "profile: there is none of this number, or it still runs");
}

std::uint64_t mlusimGetProfileLaunchCount(std::uint64_t profile) { return profile_counts(profile).launches; }
std::uint64_t mlusimGetProfilePendingCount(std::uint64_t profile) { return profile_counts(profile).pending; }

int mlusimGetProfileLaunch(std::uint64_t profile, std::uint64_t launch, mlusimProfileLaunch *described) {
  if (described == nullptr) return refuse(__func__, "described: expected a pointer, got NULL");
  const Launches found = profiled_launch(profile, launch);
  if (found == nullptr) return refuse(__func__, "launch: the profile has no launch of this number");
  *described = {};
  put(described->kernel, found->kernel);
  put(described->unit, found->unit);
  put(described->card, found->card);
  described->arch = found->arch;
  described->dim_x = found->dim[0];
  described->dim_y = found->dim[1];
  described->dim_z = found->dim[2];
  described->type = found->type;
  described->clusters = found->clusters;
  described->cores_per_cluster = found->cores_per_cluster;
  described->failed = found->failed ? 1 : 0;
  described->instructions = found->instructions;
  described->modelled = found->modelled;
  described->argument_bytes = found->argument_bytes;
  described->estimate_ns = found->estimate;
  described->sites = found->sites.size();
  described->tallies = tallies_of(*found);
  described->cores = found->cores.size();
  described->events = found->events.size();
  described->arrays = found->arrays.size();
  return 0;
}

std::int64_t mlusimGetProfileSites(std::uint64_t profile, std::uint64_t launch, std::uint64_t first,
                                   std::uint64_t count, mlusimProfileSite *sites) {
  return copy(
      Wanted<mlusimProfileSite>{__func__, profile, launch, first, count, sites},
      [](const LaunchProfile &found) { return found.sites.size(); }, describe_site);
}

std::int64_t mlusimGetProfileTallies(std::uint64_t profile, std::uint64_t launch, std::uint64_t first,
                                     std::uint64_t count, mlusimProfileTally *tallies) {
  std::size_t core = 0;
  std::size_t site = 0;
  const auto skip = [&](const LaunchProfile &found) {
    while (core < found.tallies.size() &&
           (site >= found.tallies[core].size() || found.tallies[core][site].calls == 0)) {
      if (++site < found.tallies[core].size()) continue;
      ++core;
      site = 0;
    }
  };
  std::uint64_t next = 0;
  const auto fill = [&](const LaunchProfile &found, std::uint64_t index, mlusimProfileTally *into) {
    for (skip(found); next < index; ++next, ++site, skip(found)) {
    }
    const Tally &tally = found.tallies[core][site];
    *into = {static_cast<std::int32_t>(core),
             static_cast<std::int32_t>(site),
             tally.calls,
             tally.elements,
             tally.operations,
             tally.bytes,
             tally.charged,
             tally.pieces,
             tally.least,
             tally.most,
             tally.busy};
  };
  return copy(Wanted<mlusimProfileTally>{__func__, profile, launch, first, count, tallies}, tallies_of, fill);
}

std::int64_t mlusimGetProfileCores(std::uint64_t profile, std::uint64_t launch, std::uint64_t first,
                                   std::uint64_t count, mlusimProfileCore *cores) {
  return copy(
      Wanted<mlusimProfileCore>{__func__, profile, launch, first, count, cores},
      [](const LaunchProfile &found) { return found.cores.size(); }, describe_core);
}

std::int64_t mlusimGetProfileEvents(std::uint64_t profile, std::uint64_t launch, std::uint64_t first,
                                    std::uint64_t count, mlusimProfileEvent *events) {
  return copy(
      Wanted<mlusimProfileEvent>{__func__, profile, launch, first, count, events},
      [](const LaunchProfile &found) { return found.events.size(); },
      [](const LaunchProfile &found, std::uint64_t index, mlusimProfileEvent *into) { *into = found.events[index]; });
}

std::int64_t mlusimGetProfileArrays(std::uint64_t profile, std::uint64_t launch, std::uint64_t first,
                                    std::uint64_t count, mlusimArray *arrays) {
  return copy(
      Wanted<mlusimArray>{__func__, profile, launch, first, count, arrays},
      [](const LaunchProfile &found) { return found.arrays.size(); },
      [](const LaunchProfile &found, std::uint64_t index, mlusimArray *into) { *into = found.arrays[index]; });
}

int mlusimGetArray(std::uint64_t index, mlusimArray *array) {
  if (array == nullptr) return refuse(__func__, "array: expected a pointer, got NULL");
  const Array *found = array_number(index);
  if (found == nullptr) return refuse(__func__, "index: no array has this number");
  *array = describe(*found);
  return 0;
}
