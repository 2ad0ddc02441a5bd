# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240
# The proxy programs compute what is known: the solution of the linear system is 1; the energy of the fcc crystal at this
# density is -6.7733681 per atom with this cutoff (LAMMPS, bench/in.lj), and the energy of the liquid stays; the blast wave is
# where Sedov's solution has it, and mass and energy stay. On several numbers of processes, by MPI alone.
set -u
wrong=0
run() { # run PROCESSES PROGRAM ARGUMENTS
  local np=$1 name=$2; shift 2
  said=$("$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$np" "$GABION_BUILD/bin/proxy-$name" "$@" 2>&1 </dev/null)
}
# holds WHAT PATTERN CONDITION: the numbers that the pattern finds, as a, b, c, d
holds() {
  local numbers
  numbers=$(sed -nE "s/$2/\1 \2 \3 \4/p" <<<"$said")
  awk -v line="$numbers" "BEGIN { n = split(line, v, \" \"); a = v[1]; b = v[2]; c = v[3]; d = v[4]; exit !(n > 0 && ($3)) }" &&
    return
  echo "$1: not so: $3: $said"
  wrong=1
}
number='([-+0-9.e]+)' none='()()' # always four groups
for np in 1 2 5; do
  run $np cg --size 16 --steps 20
  before=$(sed -nE "s/cg: residual $number,.*/\1/p" <<<"$said")
  run $np cg --size 16 --steps 120
  holds "cg on $np" "cg: residual $number, distance from the solution $number$none" "b < 1e-9 && a < 1e-8 && a < 1e-5 * ${before:-0}"
done
for np in 1 3 8; do
  run $np md --size 4 --steps 60
  holds "md on $np, crystal" "md: at the start, .* potential $number total $number$none" "a == -6.7733681"
  holds "md on $np" "md: per atom: .* drift $number; $number of $number atoms()" "a < 2e-4 && a > -2e-4 && b == c && c == 256 * $np"
done
for np in 1 8; do
  run $np sedov --size 16 --steps 25
  early=$(sed -nE "s/sedov: time $number, radius $number,.*/\1 \2/p" <<<"$said")
  run $np sedov --size 16 --steps $((25 + 25 * (np == 8)))
  holds "sedov on $np" "sedov: time [^;]*; mass $number, energy $number$none since.*" "a^2 < 1e-24 && b^2 < 1e-20"
  holds "sedov on $np" "sedov: time $number, radius $number, exact $number;().*" "b / c > 0.95 && b / c < 1.09"
  [ $np = 8 ] || continue
  set -- $early
  holds "sedov on $np, growth" "sedov: time $number, radius $number,$none.*" "log(b / $2) / log(a / $1) > 0.36 && log(b / $2) / log(a / $1) < 0.42"
done
exit $wrong
