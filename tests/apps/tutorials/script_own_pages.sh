# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100
# The pages doc/own-*.md about a user-defined collision, side, force and lattice: their code is that of
# apps/tutorial/, its output is that of the page, on 1 and 2 processes, and check refuses errors with the place.
. "$GABION_SOURCE/tests/apps/common.sh"

block() { awk -v kind="$2" '$0 == "```" kind { inside = 1; next } $0 == "```" { if (inside) exit } inside' "$1"; }
# value FILE COLUMN NUMBER RELATIVE: the last row has this value.
value() {
  awk -F, -v column="$2" -v wanted="$3" -v part="$4" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == column) at = i }
    END { d = $at / wanted - 1; if (d < 0) d = -d; printf "%s %.9g, expected %s\n", column, $at, wanted; exit !(at && d < part) }' out/"$1" ||
    complain "$name: $1 $2"
}
for name in collision boundary force lattice; do
  gabion=$GABION_BUILD/bin/own_$name
  case=$GABION_SOURCE/apps/tutorial/own_$name.yaml page=$GABION_SOURCE/doc/own-$name'.md'
  cmp <(block "$page" c) "$GABION_SOURCE/apps/tutorial/own_$name.c" || complain "$page: other code than apps/tutorial/own_$name.c"
  cmp <(block "$page" yaml) "$case" || complain "$page: another case than apps/tutorial/own_$name.yaml"
  check 0 "$case"
  run 0 1 "$case"
  expected=$(checksum)
  run 0 2 "$case"
  [ "$(checksum)" = "$expected" ] || complain "$name: another checksum on 2 processes"
  case $name in
    collision)
      value integrals.csv momentum.x 0.149717 6e-3 # density times mean velocity
      check 2 "$case" --set lbm.consistency=25
      said '--set lbm.consistency=25: lbm.consistency: is 6.25 in lattice units'
      sed 's/consistency: .*}/consistency: 25}/' "$case" >thick.yaml
      check 2 thick.yaml
      said 'thick.yaml:11:42: lbm.consistency: is 6.25 in lattice units: must be below 1'
      # Units are known without units.dt, from the viscosity: 0.4 m^2/s at omega = 1.6 gives the time step 0.026 s.
      sed -i '/^units:/d; s/omega: 1.6,/omega: 1.6, viscosity: 0.4,/' thick.yaml
      check 2 thick.yaml --set lbm.consistency=250
      said 'lbm.consistency: is 2.10' ;;
    boundary)
      value integrals.csv momentum.x 6.285e-3 2e-5
      check 2 "$case" --set boundaries.y_min.length=2000
      said 'boundaries.y_min.length: is 4000 cells' ;;
    force)
      value probes.csv a.velocity.x 3.0976e-3 3e-3
      value probes.csv b.velocity.x -2.4061e-3 3e-3
      check 2 "$case" --set kolmogorov.acceleration=0.5
      said 'kolmogorov.acceleration: is 0.0625 in lattice units'
      check 2 "$case" --set lbm.kernel=fast
      said 'lbm.kernel' ;;
    lattice) value probes.csv a.velocity.x 1.5525e-4 1e-5 ;;
  esac
done
finish
