#!/usr/bin/env bash
# gabion-test: timeout=600 labels=long
# Runs each fuzz target for a minute (SECONDS_EACH) under sanitizers: with libFuzzer where clang has it, with
# the mutations of fuzz_main.h otherwise.
set -euo pipefail
source_folder=${GABION_SOURCE:-$(cd "$(dirname "$0")/../.." && pwd)}
seconds=${SECONDS_EACH:-60}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$source_folder"

sources=(core/status.c core/memory.c core/buffer.c core/hash.c core/log.c core/timer.c core/config*.c)
flags=(-std=c11 -D_GNU_SOURCE -O1 -g -I. -fno-sanitize-recover=undefined)
read -ra yaml <<<"$(pkg-config --cflags --libs libfyaml)"

for target in tests/fuzz/fuzz_*.c; do
  name=$(basename "$target" .c)
  "${CC:-gcc}" "${flags[@]}" -fsanitize=address,undefined "$target" "${sources[@]}" \
    -o "$work/$name" "${yaml[@]}" -lm -pthread
  if clang "${flags[@]}" -fsanitize=fuzzer,address,undefined -DGAB_LIBFUZZER "$target" "${sources[@]}" \
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
