# Functions and settings of the steps; each script in steps/ sources this file first.
# shellcheck shell=bash
#
# After it a step stands in the root of the clone, $repo, and has a folder for its files, $work. `.ci/run` gives all steps the same
# folder, CI_WORK, in which a step finds the wheel of another. A step that a person runs alone makes its own and removes it.
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
export repo=$PWD
work=${CI_WORK:-}
if [[ -z $work ]]; then
  work=$(mktemp -d)
  trap 'rm -rf "$work"' EXIT
fi

export PIP_DISABLE_PIP_VERSION_CHECK=1 MPLBACKEND=Agg
export TMPDIR="$work/tmp" # nothing stays of tests that a signal ends
mkdir -p "$TMPDIR"
export PYTHONPYCACHEPREFIX="$work/bytecode" # the clone stays clean, and tests are compiled once
export PYTEST_ADDOPTS=${PYTEST_ADDOPTS:---numprocesses=${CI_WORKERS:-2} --dist=worksteal}
export SKBUILD_CMAKE_DEFINE=MLUOPS_WERROR=ON # a warning is an error, and all optimised builds share objects in the cache
if command -v ccache >/dev/null; then
  export CCACHE_NOHASHDIR=1 CMAKE_C_COMPILER_LAUNCHER=ccache CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi

# With lines for reports. -Og compiles instrumented kernels in about three quarters of the time that -O1 takes.
export sanitizer_flags=(-DCMAKE_C_FLAGS_RELWITHDEBINFO='-Og -g1' -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-Og -g1')

say() { printf -- '-- %s\n' "$*"; }

# venv NAME [REQUIREMENT...]: a fresh environment $work/NAME, first on PATH from then on.
venv() {
  local name=$1
  shift
  python3 -m venv "$work/$name"
  PATH="$work/$name/bin:$PATH"
  export VIRTUAL_ENV="$work/$name" # another one, which the caller is in, does not count
  if (($#)); then
    python3 -m pip install --quiet "$@"
  fi
}

# Installs the package and the requirements of its tests. Uses the wheel of the step `wheel` if there is one, else builds one.
install_package() {
  local wheels
  exec {lock}>"$work/wheel.lock"
  flock "$lock" # another step may be at it
  wheels=("$work"/dist/*.whl)
  [[ -e ${wheels[0]} ]] || python3 -m pip wheel --quiet --no-deps --wheel-dir "$work/dist" .
  exec {lock}>&-
  wheels=("$work"/dist/*.whl)
  python3 -m pip install --quiet "${wheels[0]}[test]"
}

# The part of the tests that this run takes; all parts run before a release.
share() { echo "${MLUOPS_CI_SHARE:-5/16}"; }

# replace_libraries FOLDER...: the installed package uses the shared libraries of these build folders. Links stay links, so that
# each library is loaded once, whichever of its names is asked for.
replace_libraries() {
  local folder installed
  installed=$(cd "$work" && python3 -c 'import importlib.resources as r; print(r.files("pymluops"))')
  for folder in "$@"; do
    cp --no-dereference --remove-destination "$folder"/libml*.so* "$installed/"
  done
}

# Only one step has objects for a sanitizer, so a cache that begins empty costs more than it gives.
without_new_cache() {
  if [[ ${CMAKE_CXX_COMPILER_LAUNCHER:-} == *sccache ]]; then
    unset CMAKE_C_COMPILER_LAUNCHER CMAKE_CXX_COMPILER_LAUNCHER
  fi
}
