#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bodies of triangles: the drag of icospheres of equal volume relative to the exact sphere on the same grid, and the time of
# `gabion check` for a sphere of 300 cells in a box of 464^3.
#
#   scripts/measure/mesh.sh [TRIANGLES ...]      (default: 320 1280 5120 20480 1000000)
#   scripts/measure/mesh.sh --memory [PROCESSES ...]      (default: 1 2 4)
#
# The second form measures the memory of processes with a mesh of 10^6 triangles, shared by them and not: the largest resident
# memory of one, and the sum of their proportional shares (/proc/PID/smaps_rollup), in all and of the shared file; wall time and processor
# time of all processes from the start to the first report of steps. Both print a table as Markdown and take some minutes on 2 cores.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${1:-} in -h|--help) sed -n '2,/^[^#]/{/^#/!d;/^# SPDX/d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
gabion=${GABION_BUILD:-$root/build}/bin/gabion
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
if [ "${1:-}" = --memory ]; then
  shift
  (($#)) || set -- 1 2 4
  python3 "$root/scripts/meshes.py" sphere ball.stl --triangles 1000000
  cat >case.yaml <<'YAML'
run: {title: a sphere of 10^6 triangles, steps: 1000000, check_every: 20}
domain: {cells: [96, 64, 64], block: [16, 16, 16]}
fluid: {omega: 1.5, acceleration: [1e-6, 0, 0]}
bodies:
  - {name: ball, type: mesh, file: ball.stl, scale: 20, translate: [48.1, 31.7, 32.3]}
YAML
  echo '| processes | mesh | largest RSS | sum of PSS | RSS of the shared file | sum of its PSS | start, wall | start, processor |'
  echo '|---|---|---|---|---|---|---|---|'
  for processes; do
    for place in '' "$work/shared"; do
      export GABION_SHARED_FILES=$place
      [ -z "$place" ] || GABION_SHARED_FILES=/dev/shm/gabion-measure-$$
      rm -f said.txt
      begin=$(date +%s.%N)
      "${gabion%/*}/gabion-launch" -n "$processes" "$gabion" run case.yaml --fresh --out out >said.txt 2>&1 &
      launcher=$!
      for _ in $(seq 1200); do ! grep -qs MLUPS said.txt || break; sleep 0.1; done
      end=$(date +%s.%N)
      for at in /proc/[0-9]*; do
        [ "$(readlink "$at/cwd" 2>/dev/null)" = "$work" ] && [ "$(readlink "$at/exe")" = "$(readlink -f "$gabion")" ] || continue
        cat "$at/smaps_rollup" <(grep -A 5 gabion-measure "$at/smaps" | sed 's/^\([RP]ss:\)/of_file_\1/')
        sed 's/.*) /ticks /' "$at/stat"
      done >found.txt
      LC_ALL=C awk -v n="$processes" -v place="$place" -v t="$begin" -v u="$end" -v hertz="$(getconf CLK_TCK)" '
        $1 == "Rss:" && $2 > rss {rss = $2}
        $1 == "Pss:" {pss += $2}
        $1 == "of_file_Rss:" && $2 > of_rss {of_rss = $2}
        $1 == "of_file_Pss:" {of_pss += $2}
        $1 == "ticks" {ticks += $13 + $14}
        function mb(kib) { return sprintf("%.0f MB", kib * 1.024e-3) }
        END {printf "| %d | %s | %s | %s | %s | %s | %.1f s | %.1f s |\n", n, place ? "shared" : "own", mb(rss), mb(pss), mb(of_rss),
                    mb(of_pss), u - t, ticks / hertz}' found.txt
      kill "$launcher"
      wait "$launcher" || true
    done
  done
  exit 0
fi
(($#)) || set -- 320 1280 5120 20480 1000000
cat >sphere.yaml <<'YAML'
run: {title: sphere, steps: 400, check_every: 100}
domain: {cells: [64, 48, 48], block: [16, 16, 16], dx: 0.08333333333333333}
fluid: {reynolds: 50, velocity: 1, length: 1}
units: {lattice_velocity: 0.08}
boundaries:
  x_min: {type: velocity, velocity: [1, 0, 0]}
  x_max: {type: outflow}
  y_min: {type: free_slip}
  y_max: {type: free_slip}
  z_min: {type: free_slip}
  z_max: {type: free_slip}
bodies:
  - {name: ball, type: sphere, centre: [1.8, 2, 2.03], radius: 0.5}
output: {forces: {every: 100, area: 0.785}}
YAML
sed 's/type: sphere.*}/type: mesh, file: ball.stl, scale: 0.5, translate: [1.8, 2, 2.03]}/' sphere.yaml >mesh.yaml
cat >large.yaml <<'YAML'
run: {title: a sphere of 300 cells, steps: 1}
domain: {cells: [464, 464, 464], block: [16, 16, 16]}
fluid: {omega: 1.5}
bodies:
  - {name: ball, type: mesh, file: ball.stl, scale: 150, translate: [232.1, 231.7, 232.3]}
YAML
drag() { "$gabion" run "$1" --out "out-$1" >said.txt 2>&1 || { cat said.txt >&2; exit 1; }
  tail -n 1 "out-$1/forces.csv" | cut -d , -f 3; rm -rf "out-$1"; }
exact=$(drag sphere.yaml)
echo "| triangles | drag, exact sphere: $exact N | check of 464^3 cells |"
echo '|---|---|---|'
for triangles; do
  python3 "$root/scripts/meshes.py" sphere ball.stl --triangles "$triangles" --match volume
  found=$(drag mesh.yaml)
  begin=$(date +%s.%N)
  "$gabion" check large.yaml >said.txt 2>&1 || { cat said.txt >&2; exit 1; }
  end=$(date +%s.%N)
  count=$(sed -n 's/.*mesh ball: \([0-9]*\) triangles.*/\1/p' said.txt)
  LC_ALL=C awk -v n="$count" -v a="$found" -v b="$exact" -v t="$begin" -v u="$end" \
    'BEGIN { printf "| %d | %+.5f %% | %.1f s |\n", n, 100 * (a / b - 1), u - t }'
done
