# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900 labels=long
# Pressure and friction of a cylinder in a wide stream at Reynolds numbers of 20 and 40: coefficients within 1.5 % of Dennis & Chang (J. Fluid
# Mech. 42, 1970, 471; Re 20: 2.045 = 1.233 + 0.812, Re 40: 1.522 = 0.998 + 0.524), their sum that of momentum exchange within 0.5 %.
. "$GABION_SOURCE/tests/physics/common.sh"

# A case with 60 (Re 20) or 50 diameters of 20 or 40 cells. stream NAME DIAMETER CELLS VISCOSITY TIME
stream() {
  cat >"$work/$1.yaml" <<CASE
run: {title: cylinder, time: $5}
domain: {cells: [$3, $3], block: [10, 10], length: $3, origin: [-$(($3 / 2)), -$(($3 / 2))]}
fluid: {viscosity: $4, velocity: 1, length: $2}
units: {lattice_velocity: 0.06}
boundaries: {x_min: {type: velocity, velocity: [1, 0]}, x_max: {type: outflow}, y_min: {type: free_slip}, y_max: {type: free_slip}}
bodies: [{name: rod, type: cylinder, centre: [0, 0], radius: $(awk -v d="$2" 'BEGIN { print d / 2 }')}]
initial: {velocity: [1, 0]}
refinement:
  levels: 3
  criteria:
    - {type: box, level: 3, lo: [-4, -4], hi: [6, 4]}
    - {type: box, level: 2, lo: [-12, -9], hi: [20, 9]}
    - {type: box, level: 1, lo: [-25, -20], hi: [45, 20]}
output: {forces: {interval: 10, parts: true}}
CASE
  run_case "$1" 2 "$work/$1.yaml"
}

# parts NAME DIAMETER PRESSURE FRICTION
parts() {
  local pressure friction all
  pressure=$(last_of "$1/forces.csv" rod.pressure_fx) friction=$(last_of "$1/forces.csv" rod.friction_fx) all=$(last_of "$1/forces.csv" rod.fx)
  within "$1: pressure coefficient ($3)" "$(awk -v f="$pressure" -v d="$2" 'BEGIN { print 2 * f / d }')" \
      "$(awk -v c="$3" 'BEGIN { print 0.985 * c }')" "$(awk -v c="$3" 'BEGIN { print 1.015 * c }')"
  within "$1: friction coefficient ($4)" "$(awk -v f="$friction" -v d="$2" 'BEGIN { print 2 * f / d }')" \
      "$(awk -v c="$4" 'BEGIN { print 0.985 * c }')" "$(awk -v c="$4" 'BEGIN { print 1.015 * c }')"
  within "$1: sum over momentum exchange" "$(awk -v p="$pressure" -v f="$friction" -v a="$all" 'BEGIN { print (p + f) / a }')" 0.995 1.005
}

stream re20 2.5 150 0.125 150
parts re20 2.5 1.233 0.812
stream re40 5 250 0.125 300
parts re40 5 0.998 0.524
exit $failed
