#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=600 labels=long
# Runs each fuzz target for a minute (SECONDS_EACH) under sanitizers: with libFuzzer where clang has it, with
# the mutations of fuzz_main.h otherwise.
set -euo pipefail
source_folder=${GABION_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${SECONDS_EACH:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source_folder"

# A target that needs more than the plain parts of core/ says so in lines " * fuzz-sources: FILE...", and is
# compiled for MPI; leaks inside the MPI library are none of ours.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
printf 'leak:%s\n' libmpi libopen-pal libpmix libprrte libevent libhwloc >"$work/leaks"
export LSAN_OPTIONS="suppressions=$work/leaks:print_suppressions=0"
compile() { # COMPILER arguments: like the compiler, for MPI if the target needs it
  local compiler=$1
  shift
  if [ ${#more[@]} -gt 0 ]; then
    OMPI_CC=$compiler MPICH_CC=$compiler "${GABION_MPICC:-mpicc}" "$@" ${more[@]}
  else
    "$compiler" "$@" "${sources[@]}"
  fi
}

sources=(core/base/status.c core/memory/*.c core/base/{buffer,hash,log,timer}.c core/base/text/*.c core/system/*.c core/config/*.c)
flags=(-std=c11 -D_GNU_SOURCE -O1 -g -I. -fno-sanitize-recover=undefined)
read -ra yaml <<<"$(pkg-config --cflags --libs libfyaml)"
if pkg-config --exists muparser; then
  read -ra formulas <<<"-DGAB_HAVE_MUPARSER=1 $(pkg-config --cflags --libs muparser)"
  yaml+=("${formulas[@]}")
fi

for target in tests/fuzz/fuzz_*.c; do
  name=$(basename "$target" .c)
  read -ra more <<<"$(sed -n 's/^ \* fuzz-sources: //p' "$target" | tr '\n' ' ')"
  compile "${CC:-gcc}" "${flags[@]}" -fsanitize=address,undefined "$target" \
    -o "$work/$name" "${yaml[@]}" -lm -pthread
  if compile clang "${flags[@]}" -fsanitize=fuzzer,address,undefined -DGAB_LIBFUZZER "$target" \
    -o "$work/$name-libfuzzer" "${yaml[@]}" -lm -pthread 2>"$work/clang.txt"; then
    mkdir "$work/$name-seeds" "$work/$name-corpus"
    "$work/$name" -seeds="$work/$name-seeds"
    "$work/$name-libfuzzer" -max_total_time="$seconds" -timeout=10 -max_len=1500 \
      -artifact_prefix="$work/" "$work/$name-corpus" "$work/$name-seeds" >"$work/$name.txt" 2>&1 || {
      tail -n 40 "$work/$name.txt"
      for input in "$work"/crash-* "$work"/timeout-* "$work"/leak-* "$work"/oom-*; do
        [ -f "$input" ] && base64 "$input"
      done
      exit 1
    }
  else
    echo "$name: no libFuzzer here; mutations of the seeds instead"
    timeout $((seconds * 5)) "$work/$name" -runs=$((seconds * 1000))
  fi
done
