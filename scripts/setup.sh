#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Prepares this machine for building and running Gabion. Idempotent, asks nothing.
#   system packages   by apt, as root on a Debian-like system; otherwise lists missing ones
#   an MPI with ULFM  in this order: GABION_MPI=/prefix; the one on PATH; one built earlier; the
#                     distribution's; Open MPI 5.0.x built now into the cache folder (five to twenty minutes)
# Each candidate is tested: a process is killed and the others must continue. An MPI built here lacks the defects of
# Open MPI 5.0 that scripts/mpi/repairs/ corrects (doc/ulfm.md); one built before those repairs is built again, once.
#
#   scripts/setup.sh [--force] [--quiet]
#
#   --force   discard earlier choices and tests
#   --quiet   print nothing if all is present
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quiet=
for option in "$@"; do
  case $option in
    -h|--help) print_head "${BASH_SOURCE[0]}"; echo "Cache folder: $GABION_CACHE (GABION_CACHE=DIR moves it)"; exit 0 ;;
    --force) rm -f "$GABION_CHOICE" "$GABION_CACHE"/proved-* "$GABION_CACHE/not-available" ;;
    --quiet) quiet=1 ;;
    *) fail "unknown option $option (try --help)" ;;
  esac
done
mkdir -p "$GABION_CACHE" 2>/dev/null && [ -w "$GABION_CACHE" ] ||
  fail "cannot write to the cache folder $GABION_CACHE (GABION_CACHE=DIR chooses another)"
gabion_lock "$GABION_CACHE/setup.lock"

# ---------------------------------------------------------------- system packages
NEEDED=(gcc make cmake pkg-config libhdf5-dev libfyaml-dev)
OPTIONAL=(libxxhash-dev libpng-dev zlib1g-dev libmetis-dev libisal-dev libblosc-dev
          libhwloc-dev libcmocka-dev libmuparser-dev
          ocl-icd-libopencl1 pocl-opencl-icd # devices without a GPU, for tests (doc/devices.md)
          gdb                              # gdb: stack traces of runs that hang
          python3-matplotlib               # plots of scripts/paper-*.sh
          python3-h5py)                    # scripts/measure/spectrum.py
as_root() { [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; }
# lacking PACKAGE...: packages that are not installed, by one query
lacking() {
  local installed
  installed=$(dpkg-query -W -f '${db:Status-Status} ${binary:Package}\n' "$@" 2>/dev/null |
              sed -n 's/^installed \([^:]*\).*/\1/p' || true)
  printf '%s\n' "$@" | grep -vxF -f <(printf '%s\n' "$installed" | sed '/^$/d') || true
}
APT_UPDATED=
apt_try() {
  local log=$GABION_CACHE/apt.log
  if [ -z "$APT_UPDATED" ]; then apt-get update >"$log" 2>&1 || true; APT_UPDATED=1; fi
  DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "$@" >>"$log" 2>&1
}
apt_install() {
  apt_try "$@" || { tail -n 15 "$GABION_CACHE/apt.log" >&2
                    fail "apt-get install $* failed; the whole log is $GABION_CACHE/apt.log"; }
}
if command -v dpkg-query >/dev/null 2>&1; then
  mapfile -t needed < <(lacking "${NEEDED[@]}")
  mapfile -t optional < <(lacking "${OPTIONAL[@]}")
  if as_root; then
    if ((${#needed[@]})); then say "installing ${needed[*]}"; apt_install "${needed[@]}"; fi
    for package in ${optional[@]+"${optional[@]}"}; do
      if grep -qsxF "$package" "$GABION_CACHE/not-available"; then continue; fi # tried before
      say "installing $package"
      apt_try "$package" || { say "warning: $package cannot be installed; Gabion does without"
                              echo "$package" >>"$GABION_CACHE/not-available"; }
    done
  elif ((${#needed[@]})); then
    say "not installed as packages, and not root: ${needed[*]} (no harm if modules provide them)"
  fi
elif [ -z "$quiet" ]; then
  say "no dpkg here: please provide gcc, make, cmake, pkg-config, HDF5 and libfyaml with headers by hand"
fi

# ---------------------------------------------------------------- an MPI that survives
proves_itself() { # proves_itself PREFIX: compiles and runs the probe; the proof is remembered by compiler identity
  local prefix=$1 stamp out dir ok=1
  [ -x "$prefix/bin/mpicc" ] && [ -x "$prefix/bin/mpirun" ] || return 1
  stamp=$GABION_CACHE/proved-$(stat -L -c '%n %i %s %Y' "$prefix/bin/mpicc" "$prefix/bin/mpirun" | cksum | cut -d' ' -f1)
  [ -e "$stamp" ] && return 0
  dir=$(mktemp -d)
  if "$prefix/bin/mpicc" "$GABION_ROOT/scripts/mpi/ulfm_probe.c" -o "$dir/probe" >"$dir/log" 2>&1; then
    # Files of the killed process are in a folder that is removed afterwards.
    out=$(TMPDIR=$dir timeout -k 5 60 "$prefix/bin/mpirun" --with-ft ulfm --oversubscribe --mca coll ^han \
          --mca async_mpi_finalize 1 --mca btl_sm_backing_directory "$dir" -n 4 "$dir/probe" \
          2>>"$dir/log" </dev/null 9>&- || true)
    if grep -q 'ulfm-probe: survived' <<<"$out"; then ok=0; fi
  fi
  rm -rf "$dir"
  if ((ok == 0)); then echo "$prefix" >"$stamp"; fi
  return $ok
}
# An MPI built here has the number of its recipe, which changes with the repairs and the options of configure.
RECIPE=5
old= # one of an earlier recipe: used if no other is available
outdated() { case $1 in "$GABION_CACHE"/openmpi-*-r$RECIPE) return 1 ;; "$GABION_CACHE"/openmpi-*) return 0 ;; *) return 1 ;; esac; }
give_up() { # give_up WHY: no MPI can be built
  [ -n "$old" ] || fail "$1"
  echo "openmpi-r$RECIPE" >>"$GABION_CACHE/not-available"
  say "warning: $1"
  choose "$old" "built here earlier, with a defect less repaired: see doc/ulfm.md; --force tries again to build it"
}
record() { printf '%s\n' "$1" >"$GABION_CHOICE.new"; mv "$GABION_CHOICE.new" "$GABION_CHOICE"; }
choose() { # choose PREFIX WHY
  local before=
  if [ -s "$GABION_CHOICE" ]; then before=$(cat "$GABION_CHOICE"); fi
  if [ "$before" != "$1" ]; then record "$1"; quiet=; fi
  [ -n "$quiet" ] || say "MPI with fault tolerance: $1 ($2)"
  exit 0
}

if [ -n "${GABION_MPI:-}" ]; then
  if proves_itself "$GABION_MPI"; then choose "$GABION_MPI" "GABION_MPI, proved by a killed process"; fi
  if [ -x "$GABION_MPI/bin/mpicc" ]; then
    say "warning: the MPI in GABION_MPI=$GABION_MPI does not survive a killed process; runs will not either"
    record "$GABION_MPI"; exit 0
  fi
  fail "GABION_MPI=$GABION_MPI has no bin/mpicc"
fi
if [ -s "$GABION_CHOICE" ] && proves_itself "$(cat "$GABION_CHOICE")"; then
  old=$(cat "$GABION_CHOICE")
  if ! outdated "$old" || grep -qsxF "openmpi-r$RECIPE" "$GABION_CACHE/not-available"; then
    choose "$old" "chosen before, proved by a killed process"
  fi
fi
if [ -z "$old" ] && command -v mpicc >/dev/null 2>&1; then
  on_path=$(dirname "$(dirname "$(command -v mpicc)")")
  if ! proves_itself "$on_path"; then say "the MPI on PATH ($on_path) does not survive a killed process; looking further"
  elif outdated "$on_path"; then old=$on_path
  else choose "$on_path" "on PATH, proved by a killed process"; fi
fi
for built in "$GABION_CACHE"/openmpi-[5-9]*/; do # built earlier, though the choice was forgotten
  proves_itself "${built%/}" || continue
  outdated "${built%/}" || choose "${built%/}" "built here earlier, proved by a killed process"
  old=${built%/}
done
if [ -z "$old" ] && as_root; then
  [ -n "$APT_UPDATED" ] || { apt-get update >"$GABION_CACHE/apt.log" 2>&1 || true; APT_UPDATED=1; }
  candidate=$(apt-cache policy libopenmpi-dev 2>/dev/null | awk '/Candidate:/{print $2}')
  case "$candidate" in
    [5-9].*|[1-9][0-9].*)
      say "installing the distribution's Open MPI $candidate"
      apt_install libopenmpi-dev openmpi-bin
      if proves_itself /usr; then choose /usr "the distribution's, proved by a killed process"; fi
      say "the distribution's Open MPI $candidate does not survive a killed process; building one" ;;
    *) say "the distribution offers Open MPI ${candidate:-none}: no fault tolerance before 5.0; building one" ;;
  esac
fi

# ---------------------------------------------------------------- build one, once
# The source package of a newer release of the same distribution, fetched with a separate apt configuration: lists and
# sources of the system are not changed.
. /etc/os-release 2>/dev/null || true
case "${ID:-}" in
  debian) SUITES=(trixie forky sid); COMPONENT=main ;;
  ubuntu) SUITES=(plucky questing resolute devel); COMPONENT=universe ;;
  *) SUITES=() ;;
esac
command -v apt-get >/dev/null 2>&1 && ((${#SUITES[@]})) ||
  give_up "no Open MPI >= 5 found. Load a module that has it or build it, then: GABION_MPI=/prefix scripts/setup.sh"
mirror=$(apt-get indextargets --format '$(REPO_URI) $(ORIGIN)' 'Created-By: Packages' 2>/dev/null |
         awk -v id="$ID" 'tolower($2)==id && $1 !~ /security/ {print $1; exit}')
[ -n "$mirror" ] || give_up "cannot tell this machine's package mirror (apt-get indextargets names none)"

work=$GABION_CACHE/openmpi-build; log=$GABION_CACHE/openmpi-build.log
rm -rf "$work"; mkdir -p "$work"/{lists/partial,cache/archives/partial,etc,state}
: >"$log"; : >"$work/state/status"
aptp=(-o Dir::Etc::sourcelist="$work/etc/sources.list" -o Dir::Etc::sourceparts=/dev/null
      -o Dir::Etc::preferencesparts=/dev/null -o Dir::State="$work/state" -o Dir::State::lists="$work/lists"
      -o Dir::State::status="$work/state/status" -o Dir::Cache="$work/cache" -o APT::Sandbox::User=
      -o Acquire::Languages=none)
found=
for suite in "${SUITES[@]}"; do
  printf 'deb-src %s %s %s\n' "$mirror" "$suite" "$COMPONENT" >"$work/etc/sources.list"
  apt-get "${aptp[@]}" update >>"$log" 2>&1 || continue
  (cd "$work" && apt-get "${aptp[@]}" source --download-only openmpi) >>"$log" 2>&1 || continue
  found=$(ls "$work"/openmpi_5*.orig.tar.* 2>/dev/null | grep -v '\.asc$' | head -n 1 || true)
  [ -n "$found" ] && break
done
[ -n "$found" ] || { tail -n 20 "$log" >&2; give_up "no Open MPI 5 source package to be had; the whole log is $log"; }
version=$(basename "$found" | sed -E 's/openmpi_([0-9.]+[0-9]).*/\1/')
prefix=$GABION_CACHE/openmpi-$version-r$RECIPE
say "building Open MPI $version into $prefix, once, five to twenty minutes (log: $log)"
if as_root; then
  mapfile -t missing < <(lacking gcc g++ make perl xz-utils bzip2)
  ((${#missing[@]} == 0)) || apt_install "${missing[@]}"
fi
tar -C "$work" -xf "$found" >>"$log" 2>&1
src=$(find "$work" -mindepth 1 -maxdepth 1 -type d -name 'openmpi-*' | head -n 1)

for repair in "$GABION_ROOT"/scripts/mpi/repairs/[0-9]*.sh; do
  bash "$repair" "$src" >>"$log" 2>&1 ||
    say "  Open MPI $version differs from what scripts/mpi/repairs/${repair##*/} expects; not repaired there (doc/ulfm.md)"
done

step() { # step NAME COMMAND...: a progress line that counts seconds on a terminal, plain lines elsewhere
  local name=$1 t0=$SECONDS pid; shift
  setsid "$@" >>"$log" 2>&1 & pid=$!
  trap 'kill -- -'$pid' 2>/dev/null; exit 130' INT TERM HUP # a background job does not receive Ctrl-C
  while kill -0 $pid 2>/dev/null; do
    if [ -t 1 ]; then printf '\rgabion:   %s … %d s ' "$name" $((SECONDS - t0)); fi
    sleep 1
  done
  trap - INT TERM HUP
  wait $pid || { tail -n 30 "$log" >&2; give_up "$name failed; the whole log is $log"; }
  if [ -t 1 ]; then printf '\r'; fi
  say "  $name took $((SECONDS - t0)) s"
}
cd "$src"
step configure ./configure --with-ft=ulfm --disable-mpi-fortran --disable-oshmem \
  --disable-sphinx --disable-man-pages --disable-io-romio --with-libevent=internal --with-hwloc=internal \
  --with-pmix=internal --with-prrte=internal --without-ucx --without-ofi --without-psm2 --prefix="$prefix" CFLAGS=-O2
step compile make -j "$(nproc)"
step install make install
cd /
rm -rf "$work"
proves_itself "$prefix" || give_up "the Open MPI just built does not survive a killed process; the build log is $log"
choose "$prefix" "Open MPI $version built here, proved by a killed process"
