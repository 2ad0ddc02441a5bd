#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up, builds and runs the benchmarks; one line of JSON per result on standard output, tables on standard
# error.
#
#   scripts/bench.sh [--quick] [--runs N] [--document]           the whole suite
#   scripts/bench.sh [-n PROCESSES] [-t THREADS] BENCH-OPTIONS   one run of gabion-bench (see its --help)
#
#   The suite: one process with one and with all threads; two processes; both in turn, for the ratio of
#   threads to processes; recoveries from real deaths on 2, 4 and 8 processes. Methods: doc/performance.md.
#   --quick        smaller domains, fewer repetitions
#   --runs N       deaths per number of processes, and pairs of threads and processes, default 10 (--quick: 3)
#   --count        only instructions per cell update, by callgrind, which supports AVX2
#   --speed        only the speed of flows: without transport, snapshots and deaths
#   --document     writes the results into doc/performance-figures.md
#   --render FILE  only writes the results of an earlier suite
#   -n PROCESSES   under gabion-launch with that number of processes; default: one process, no launcher
#   -t THREADS     OpenMP threads of each process, default: OMP_NUM_THREADS, or the share of the cores
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"
document=$GABION_ROOT/doc/performance-figures.md
processes='' threads=${OMP_NUM_THREADS:-} runs='' quick='' write='' render='' suite=1 deaths=1 count=''
while (($#)); do
  case $1 in
    -h|--help) print_head "${BASH_SOURCE[0]}"; exit 0 ;;
    -n|-t|--runs) [[ ${2:-} =~ ^[1-9][0-9]*$ ]] || fail "$1 needs a number of at least 1"
                  case $1 in -n) processes=$2 suite='' ;; -t) threads=$2 suite='' ;; *) runs=$2 ;; esac
                  shift 2 ;;
    --quick) quick=--quick; shift ;;
    --document) write=1; shift ;;
    --speed) deaths=''; shift ;;
    --count) count=1; shift ;;
    --render) render=${2:?--render needs a file} write=1; shift 2 ;;
    *) suite=''; break ;;
  esac
done

# For awk: the value of a key in a line of JSON.
awk_field='
function field(key,   at, rest) {
  at = index($0, "\"" key "\": ")
  rest = substr($0, at + length(key) + 4)
  if (substr(rest, 1, 1) == "\"") { rest = substr(rest, 2); return substr(rest, 1, index(rest, "\"") - 1) }
  sub(/[,}].*/, "", rest)
  return rest
}'

# Lines of equal name, processes and threads are merged: the median of the values and ceilings, the smallest minimum
# and the largest maximum.
merge() {
  awk "$awk_field"'
    function median(list, n,   i, j, t) {
      for (i = 2; i <= n; i++)
        for (j = i; j > 1 && list[j - 1] > list[j]; j--) { t = list[j]; list[j] = list[j - 1]; list[j - 1] = t }
      return n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
    }
    function middle(name, k,   i, list) {
      for (i = 1; i <= count[k]; i++) list[i] = all[name, k, i]
      return sprintf("%.6g", median(list, count[k]))
    }
    /"name"/ {
      k = field("name") SUBSEP field("processes") SUBSEP field("threads")
      if (!(k in count)) { order[++keys] = k; low[k] = field("min") + 0; high[k] = field("max") + 0 }
      n = ++count[k]
      all["value", k, n] = field("value") + 0
      ceiling[k] = field("ceiling")
      all["ceiling", k, n] = field("ceiling") + 0
      all["percent", k, n] = field("percent") + 0
      if (field("min") + 0 < low[k]) low[k] = field("min") + 0
      if (field("max") + 0 > high[k]) high[k] = field("max") + 0
      samples[k] += field("samples")
      unit[k] = field("unit"); cores[k] = field("cores")
    }
    END {
      for (i = 1; i <= keys; i++) {
        k = order[i]
        split(k, part, SUBSEP)
        printf "{\"name\": \"%s\", \"cores\": %s, \"value\": %s, \"unit\": \"%s\", ", part[1], cores[k],
               middle("value", k), unit[k]
        if (ceiling[k] == "null") printf "\"ceiling\": null, \"percent\": null, "
        else printf "\"ceiling\": %s, \"percent\": %s, ", middle("ceiling", k), middle("percent", k)
        printf "\"processes\": %s, \"threads\": %s, \"min\": %.6g, \"max\": %.6g, \"samples\": %d}\n", part[2],
               part[3], low[k], high[k], samples[k]
      }
    }' "$1"
}

# Lines team.* of pairs of runs, one with threads and one with processes, are merged to a line for each name: the
# median, smallest and largest ratio.
ratios() {
  awk "$awk_field"'
    /"name": "team\./ {
      name = field("name")
      if (!(name in threads)) order[++names] = name
      if (field("processes") == 1) of_threads[name, ++threads[name]] = field("value")
      else of_processes[name, ++processes[name]] = field("value")
      cores = field("cores"); all = field("threads") > all ? field("threads") : all
    }
    END {
      for (k = 1; k <= names; k++) {
        name = order[k]
        n = threads[name] < processes[name] ? threads[name] : processes[name]
        for (i = 1; i <= n; i++) {
          ratio = of_threads[name, i] / of_processes[name, i]
          for (j = i; j > 1 && list[j - 1] > ratio; j--) list[j] = list[j - 1]
          list[j] = ratio
        }
        if (n == 0) continue
        printf "{\"name\": \"team.threads-to-processes.%s\", \"cores\": %d, \"value\": %.4f, \"unit\": \"ratio\", ", \
               substr(name, 6), cores, n % 2 ? list[(n + 1) / 2] : (list[n / 2] + list[n / 2 + 1]) / 2
        printf "\"ceiling\": null, \"percent\": null, \"processes\": 1, \"threads\": %d, ", all
        printf "\"min\": %.4f, \"max\": %.4f, \"samples\": %d}\n", list[1], list[n], n
      }
    }' "$1"
}

# The gain of streaming in place: each line of a kernel with two grids and a counterpart in place, with the bytes per
# update of the model and the resulting bandwidth. The gain is the ratio of the shares of the ceiling: kernel and
# ceiling are measured in turn, since the machine may change. A column per processes × threads.
comparison() {
  awk "$awk_field"'
    function populations(name) { return match(name, /D[23]Q[0-9]+/) ? substr(name, RSTART + 3, RLENGTH - 3) + 0 : 9 }
    function bytes(name, grids) { return populations(name) * (name ~ /float/ ? 4 : 8) * (grids + 1) }
    /"name": "(sweep|step)\.(vector|in_place)\./ {
      name = field("name")
      split(name, word, ".")
      label = name; sub(/\.(vector|in_place)\./, ".", label)
      run = field("processes") " × " field("threads")
      if (word[2] == "vector") { before[label, run] = field("value"); was[label, run] = field("percent"); next }
      after[label, run] = field("value"); share[label, run] = field("percent")
      if (!(label in rank)) { rank[label] = ++labels; order[labels] = label }
      if (!(run in place)) { place[run] = ++runs; column[runs] = run }
    }
    END {
      for (i = 1; i <= labels; i++) {
        label = order[i]; row = ""; compared = 0
        for (r = 1; r <= runs; r++) {
          run = column[r]
          if (was[label, run] > 0 && (label, run) in after) {
            compared = 1
            row = row sprintf(" %.1f → %.1f | %.2f |", before[label, run] * bytes(label, 2) / 1000,
                              after[label, run] * bytes(label, 1) / 1000, share[label, run] / was[label, run])
          } else row = row "  |  |"
        }
        if (compared) body = body sprintf("| %s | %d → %d |%s\n", label, bytes(label, 2), bytes(label, 1), row)
      }
      if (body == "") exit
      printf "\n### two grids → in place\n\n| what | B/update |"
      for (r = 1; r <= runs; r++) printf " %s, GB/s | gain |", column[r]
      printf "\n|---|---:|"
      for (r = 1; r <= runs; r++) printf "---:|---:|"
      printf "\n%s", body
    }' "$1"
}

# Tables in Markdown, one for each first component of the names; a row per name, a column per processes × threads.
tables() {
  awk "$awk_field"'
    function short(number) { return number >= 1000 ? sprintf("%.0f", number) : sprintf("%.3g", number) }
    /"name"/ {
      name = field("name")
      split(name, word, ".")
      group = word[1]
      if (group == "ceiling" || name ~ /^bandwidth.*float/) next # ceilings are part of the other lines
      run = field("processes") " × " field("threads")
      if (!(group in names)) order[++groups] = group
      if (!(name in unit)) { unit[name] = field("unit"); member[group, ++names[group]] = name }
      if (!((group, run) in seen)) { seen[group, run] = 1; column[group, ++runs[group]] = run }
      low = short(field("min") + 0); high = short(field("max") + 0)
      value[name, run] = short(field("value") + 0) (low == high ? "" : " (" low " … " high ")")
      if (field("ceiling") == "null") next
      limited[group] = 1
      share[name, run] = sprintf("%.0f %% of %s", field("percent"), short(field("ceiling") + 0))
    }
    END {
      for (g = 1; g <= groups; g++) {
        group = order[g]
        head = "| name | unit |"; rule = "|---|---|"
        for (r = 1; r <= runs[group]; r++) {
          head = head " " column[group, r] " |" (limited[group] ? " of the ceiling |" : "")
          rule = rule "---:|" (limited[group] ? "---:|" : "")
        }
        printf "\n### %s\n\n%s\n%s\n", group, head, rule
        for (i = 1; i <= names[group]; i++) {
          name = member[group, i]
          printf "| %s | %s |", substr(name, length(group) + 2), unit[name]
          for (r = 1; r <= runs[group]; r++) {
            run = column[group, r]
            printf " %s |%s", value[name, run], limited[group] ? " " share[name, run] " |" : ""
          }
          print ""
        }
      }
    }' "$1"
}

# Conditions of the measurement: comments at the start of the results.
machine() {
  printf '# %s cores of %s, %s of memory; %s; Gabion %s; %s%s\n' "$(nproc)" \
    "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo 2>/dev/null | head -n 1)" \
    "$(awk '/MemTotal/ {printf "%.0f GB", $2 / 1e6}' /proc/meminfo)" "$(gabion_mpi_name)" \
    "$(git -C "$GABION_ROOT" describe --always 2>/dev/null || echo '(no git)')" "$(date -u +%Y-%m-%d)" "${quick:+; quick}"
}
gabion_mpi_name() { "$(gabion_mpi_prefix)/bin/mpirun" --version 2>/dev/null | head -n 1 | sed 's/mpirun (\(.*\))/\1/'; }
load() { printf '# load averages %s: %s\n' "$1" "$(cut -d' ' -f1-3 /proc/loadavg)"; }

write_document() { # FILE: between the two marks of the document
  local begin='<!-- results: written by scripts/bench.sh --document -->' end='<!-- end of results -->'
  if ! grep -qF "$begin" "$document" || ! grep -qF "$end" "$document"; then fail "$document has lost its marks"; fi
  { sed "/^<!-- results:/q" "$document"
    echo; sed -n 's/^# //p' "$1" | sed 's/$/  /'
    comparison "$1"
    tables "$1"
    echo; sed -n '/^<!-- end of results -->/,$p' "$document"; } >"$document.new"
  mv "$document.new" "$document"
  say "results written to ${document#"$GABION_ROOT"/}" >&2
}

# Inclusive instructions per cell update, of functions with at least a hundredth of an instruction.
count_instructions() {
  local folder=$GABION_BUILD-count out updates
  command -v valgrind >/dev/null || fail "--count needs valgrind"
  gabion_build "$folder" -DGABION_NATIVE=OFF -DCMAKE_C_FLAGS="-march=x86-64-v3" -DBUILD_TESTING=OFF >&2
  out=$folder/callgrind.out
  updates=$(OMP_NUM_THREADS=1 valgrind -q --tool=callgrind --callgrind-out-file="$out" --fair-sched=yes \
    "$folder/bin/gabion-bench" --only count 2>"$folder/count.log" | awk "$awk_field"'/count.updates/ {print field("value")}')
  [ -n "$updates" ] || fail "no count; see $folder/count.log"
  printf 'instructions per cell update (%s updates, AVX2)\n' "$updates"
  callgrind_annotate --inclusive=yes --threshold=100 --show-percs=no "$out" | awk -v updates="$updates" '
    /:(gab_lbm_step|gab_lbm_collide|gab_lbm_collide_inner|gab_links_apply|gab_lbm_fill_ghosts|gab_exchange_start|gab_exchange_finish|d3q19_[a-z_]*) / {
      gsub(",", "", $1); name = $2; sub(/.*:/, "", name)
      if (!seen[name]++ && $1 / updates >= 0.01) printf "%10.2f  %s\n", $1 / updates, name
    }'
}

if [ -n "$render" ]; then write_document "$render"; exit 0; fi
gabion_setup >&2
if [ -n "$count" ]; then count_instructions; exit 0; fi
gabion_build "$GABION_BUILD" >&2
bin=$GABION_BUILD/bin
export GABION_LAUNCH=$bin/gabion-launch

if [ -z "$suite" ]; then
  if [ -n "$threads" ]; then export OMP_NUM_THREADS=$threads; fi
  if [ -z "$processes" ]; then exec "$bin/gabion-bench" $quick "$@"; fi
  export OMP_NUM_THREADS=${threads:-$((($(nproc) + processes - 1) / processes))}
  exec "$GABION_LAUNCH" -n "$processes" -- "$bin/gabion-bench" $quick "$@"
fi

runs=${runs:-${quick:+3}} runs=${runs:-10}
folder=$GABION_BUILD/bench; mkdir -p "$folder"
raw=$folder/raw.jsonl results=$folder/results.jsonl
: >"$raw"
{ machine; load before; } >"$results"
share=$((($(nproc) + 1) / 2)) failed=0
launch() { # PROCESSES BENCHMARKS THREADS
  OMP_NUM_THREADS=$3 "$GABION_LAUNCH" -n "$1" -- "$bin/gabion-bench" $quick --only "$2" --json "${json:-$raw}" >&2
}
flows=sweeps,steps,blocks,temporal-blocking,porous,levels,regrid,proxies,phasefield,growth,bandwidth,kernels
OMP_NUM_THREADS=$(nproc) "$bin/gabion-bench" $quick --only $flows,exchange --json "$raw" >&2
launch 2 $flows,exchange "$share"
pairs=$folder/pairs.jsonl
: >"$pairs"
if (($(nproc) > 1)); then # in turn, so that a slow change of the machine affects both
  for ((run = 0; run < runs; run++)); do
    OMP_NUM_THREADS=$((2 * share)) "$bin/gabion-bench" $quick --only team --json "$pairs" >&2
    json=$pairs launch 2 team "$share"
  done
fi
cat "$pairs" >>"$raw"
ratios "$pairs" >>"$raw"
if [ -n "$deaths" ]; then
  launch 2 transport,checkpoint,overlap,schemes,restore "$share"
  for n in 2 4 8; do
    for ((run = 0; run < runs; run++)); do launch "$n" recovery 1 || failed=$((failed + 1)); done
  done
  for ((run = 0; run < runs; run++)); do launch 2 adoption 1 || failed=$((failed + 1)); done
fi
if ((failed)); then say "$failed of the runs with a death did not end well and do not count" >&2; fi
{ load after; merge "$raw"; } >>"$results"
grep -v '^#' "$results"
if [ -n "$write" ]; then write_document "$results"; fi
