# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=400 needs=ulfm,png
# Some random cases, each alone and on several processes with deaths: the same checksums, tables and pictures.
# scripts/random-cases.sh runs more of them.
. "$GABION_SOURCE/tests/apps/common.sh"
python3 "$GABION_SOURCE/scripts/faults/random_cases.py" --build "$GABION_BUILD" --out cases --runs 7 --seed 11 --stall 60 >said.txt 2>&1 ||
  complain "$(cat said.txt; for log in cases/case-*/*.log; do tail -n 20 "$log"; done)"
said '7 cases, 0 complaints'
# The cases included deaths, stopped and resumed runs, and comparisons.
grep -q "^  stopped, and continued: [1-9]" said.txt || complain "nothing was stopped and continued: $(cat said.txt)"
deaths=$(sed -n 's/^  deaths: //p' said.txt) compared=$(sed -n 's/^  tables and pictures compared: //p' said.txt)
[ "${deaths:-0}" -ge 2 ] || complain "only ${deaths:-0} processes died"
[ "${compared:-0}" -ge 20 ] || complain "only ${compared:-0} files were compared"
# Stages, steps by a bound and staggered fields, each at least once with deaths, under local recovery, and on fewer processes after a restart.
python3 "$GABION_SOURCE/scripts/faults/random_cases.py" --build "$GABION_BUILD" --out waves --runs 4 --seed 3 --only waves --stall 60 >said.txt 2>&1 ||
  complain "$(cat said.txt; for log in waves/case-*/*.log; do tail -n 20 "$log"; done)"
said '4 cases, 0 complaints'
for what in 'cases of maxwell' 'cases of waves' 'cases under local recovery' 'of these by fewer processes' deaths; do
  grep -q "^  $what: [1-9]" said.txt || complain "none: $what: $(cat said.txt)"
done
# Shapes, sets, spinning walls, sides that vary in time, flow rates and mean velocities.
for seed in 12 14; do
  python3 "$GABION_SOURCE/scripts/faults/random_cases.py" --build "$GABION_BUILD" --out shapes --runs 2 --seed $seed --only geometry --stall 60 >said.txt 2>&1 ||
    complain "$(cat said.txt; for log in shapes/case-*/*.log; do tail -n 20 "$log"; done)"
  said '2 cases, 0 complaints'
  cat said.txt >>shapes.txt
done
for what in 'cases under local recovery' 'stopped, and continued' deaths; do
  grep -q "^  $what: [1-9]" shapes.txt || complain "none: $what: $(cat shapes.txt)"
done
finish
