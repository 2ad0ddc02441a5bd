#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Bodies of triangles: the drag of icospheres of equal volume relative to the exact sphere on the same grid, and the time of
# `gabion check` for a sphere of 300 cells in a box of 464^3.
#
#   scripts/measure/mesh.sh [TRIANGLES ...]      (default: 320 1280 5120 20480 1000000)
#
# It prints a table as Markdown. With the default it takes some minutes on 2 cores.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
case ${1:-} in -h|--help) sed -n '2,/^[^#]/{/^#/!d;/^# SPDX/d;s/^# \{0,1\}//;p;}' "${BASH_SOURCE[0]}"; exit 0 ;; esac
gabion=${GABION_BUILD:-$root/build}/bin/gabion
(($#)) || set -- 320 1280 5120 20480 1000000
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
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
