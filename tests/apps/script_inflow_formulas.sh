# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm,formulas
# Velocities of sides by formulas of place and time and by series in files, and initial states by formulas: second
# order for a plate that oscillates in its plane, agreement with built-in types, the same bits on other numbers of
# processes, after deaths and on levels, and refusals with their place.
. "$GABION_SOURCE/tests/apps/common.sh"

# Stokes' second problem, u = U exp(-y) cos(t - y) with nu = 1/2, from its exact state to t = 6.
plate() { # plate CELLS: root mean square of errors over U at four heights
  cat >plate.yaml <<END
run: {time: 6}
domain: {cells: [4, $1], block: [4, $(($1 / 2))], dx: $(awk "BEGIN { print 14 / $1 }")}
fluid: {viscosity: 0.5}
units: {dt: $(awk "BEGIN { print (14 / $1) ^ 2 / 3 }")}
constants: {U: 0.3}
boundaries:
  y_min: {type: velocity, velocity: [0.3, 0], factor: cos(t)}
  y_max: {type: wall}
initial: {type: formula, velocity_x: U * exp(-y) * cos(y)}
output:
  probes: {every: 1000000, quantities: [velocity]}
  points: [{name: a, at: [0.5, 0.25]}, {name: b, at: [0.5, 0.75]}, {name: c, at: [0.5, 1.25]}, {name: d, at: [0.5, 2.25]}]
END
  run 0 1 plate.yaml
  awk -F, 'END { split("0.25 0.75 1.25 2.25", y, " "); for (i = 1; i <= 4; i++) { e = $(3 * i) / 0.3 - exp(-y[i]) * cos(6 - y[i]); sum += e * e }
      printf "%.4e ", sqrt(sum / 4) }' out/probes.csv
}
errors="$(plate 28)$(plate 84)"
echo "oscillating plate: $errors"
echo "$errors" | awk '{ p = log($1 / $2) / log(3); exit !($1 < 0.1 && $2 > 1e-6 && p > 1.7 && p < 2.5) }' ||
  complain "oscillating plate: errors $errors are not of second order"

cat >pulse.yaml <<'END'
run: {steps: 60}
domain: {cells: [32, 16], block: [8, 8], length: 2}
fluid: {viscosity: 0.01}
units: {dt: 0.0125}
boundaries:
  x_min: {type: velocity, velocity: [0.2, 0], shape: 4 * y * (1 - y)}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
resilience: {memory: {every: 7}}
output: {probes: {every: 10, quantities: [velocity, pressure]}, points: [{name: a, at: [0.3, 0.4]}, {name: b, at: [1.1, 0.7]}]}
END
same() { # same TABLE OTHER WHAT: numbers agree to 1e-9 of the largest
  paste -d, "$1" "$2" | awk -F, 'NR > 1 { for (i = 3; i <= NF / 2; i++) { d = $i - $(i + NF / 2); m = $i < 0 ? -$i : $i; if (m > most) most = m; if (d < 0) d = -d; if (d > worst) worst = d } }
    END { exit !(NR > 2 && most > 0.01 && worst < 1e-9 * most) }' || complain "$3: $(tail -n 1 "$1") and $(tail -n 1 "$2")"
}
run 0 1 pulse.yaml
cp out/probes.csv shape.csv
sed 's/shape: .*}/profile: parabolic}/' pulse.yaml >type.yaml
run 0 1 type.yaml
same shape.csv out/probes.csv 'a parabola as a formula and as a type'

# A triangle in time, as a formula and as a file; also with levels, other numbers of processes, and deaths.
printf '# pump\ntime,factor\n0,0\n0.25,1\n0.5,0\n' >pump.csv
run 0 1 pulse.yaml --set 'boundaries.x_min.factor="mod(t, 0.5) < 0.25 ? 4 * mod(t, 0.5) : 2 - 4 * mod(t, 0.5)"'
cp out/probes.csv formula.csv
sed -i 's/shape: /series: pump.csv, series_repeats: true, &/' pulse.yaml
run 0 1 pulse.yaml
same formula.csv out/probes.csv 'a factor as a formula and as a series'
expected=$(checksum)
run 0 3 pulse.yaml --inject rank=1,step=23,phase=exchange
said 'rank 1 died'
[ "$(checksum)" = "$expected" ] || complain 'series: another checksum after a death'
rm -rf out
timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run pulse.yaml --set 'resilience.strategies=[local, shrink]' \
  --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
said 'rank 0 died'
[ "$(checksum)" = "$expected" ] || complain 'series: another checksum under local'
cat >>pulse.yaml <<'END'
refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.5, 0.5]}]}
END
run 0 1 pulse.yaml
grep -Eq '"blocks_of_levels": \[[1-9][0-9]*, [1-9]' out/summary.json || complain "no two levels: $(cat said.txt)"
expected=$(checksum)
run 0 2 pulse.yaml
[ "$(checksum)" = "$expected" ] || complain 'series: another checksum on levels and 2 processes'
sed -i '/^refinement/d' pulse.yaml

# A resumed run with another end samples the peak of a factor at other instants: the speed bound of borders of levels
# is the same.
sed 's/series: pump.csv, series_repeats: true/factor: 1 + 0.4 * sin(3 * t)/' pulse.yaml >factor.yaml
echo 'refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [0.5, 0.5]}]}' >>factor.yaml
run 0 1 factor.yaml
expected=$(checksum)
run 0 1 factor.yaml --set run.steps=37 --set resilience.disk.every=1000
timeout 60 "$gabion" run factor.yaml --set resilience.disk.every=1000 --out out >said.txt 2>&1 || complain "factor.yaml, continued: $(cat said.txt)"
said 'step 37'
[ "$(checksum)" = "$expected" ] || complain "factor: another checksum after a shorter run"

# Vortices as formulas and as a type.
cat >vortices.yaml <<'END'
run: {steps: 40}
domain: {cells: [32, 32], block: [16, 16], length: 6.283185307179586}
fluid: {viscosity: 0.02}
units: {dt: 0.02}
initial: {type: formula, velocity_x: 0.3 * sin(x) * cos(y), velocity_y: -0.3 * cos(x) * sin(y), pressure: 0.0225 * (cos(2*x) + cos(2*y))}
output: {probes: {every: 10, quantities: [velocity]}, points: [{name: a, at: [1, 2]}, {name: b, at: [4, 3]}]}
END
run 0 1 vortices.yaml
cp out/probes.csv formula.csv
sed 's/^initial: .*/initial: {type: taylor_green, velocity: 0.3}/' vortices.yaml >type.yaml
run 0 1 type.yaml
same formula.csv out/probes.csv 'vortices as formulas and as a type'

# Meaningless values.
refused 2 vortices.yaml --set 'initial.velocity_x=0.3 * sin(x)'
said_once 'initial: the velocity is not free of divergence'
refused 2 vortices.yaml --set 'initial.velocity_y=1 / (x - 1.0799224746714913)'
said_once "initial.velocity_y: the formula '1 / (x - 1.0799224746714913)' is inf at (1.07992, 0.0981748)"
refused 1 pulse.yaml --set 'boundaries.x_min.shape=sqrt(y - 0.5)'
said 'boundaries.x_min.shape: the formula '"'sqrt(y - 0.5)'"
refused 1 pulse.yaml --set 'boundaries.x_min.factor=1 / (t - 0.375)'
said 'boundaries.x_min.factor: the formula '"'1 / (t - 0.375)' is"
refused 1 pulse.yaml --set 'boundaries.x_min.factor=20'
said 'Mach'
# A period that divides the distances of equidistant instants.
check 2 pulse.yaml --set run.time=1600 --set 'boundaries.x_min.factor=1 + 19 * sin(2 * pi * t / 0.8)'
said 'Mach'
sed 's/shape: /profile: parabolic, &/' pulse.yaml >both.yaml
refused 1 both.yaml
said 'give either'
cat >box.yaml <<'END'
run: {steps: 10}
domain: {cells: [16, 8], block: [8, 8], dx: 1}
fluid: {viscosity: 0.1}
units: {dt: 1}
boundaries:
  x_min: {type: velocity, velocity: [0.01, 0], factor: cos(t)}
  x_max: {type: velocity, velocity: [0.01, 0], factor: cos(t)}
END
run 0 1 box.yaml
refused 1 box.yaml --set 'boundaries.x_max.factor=cos(2 * t)'
said 'boundaries'

# A factor without a value at one step, or at half of one, missed by the samples of a check: refused there, within a
# temporal block and on a finer level, too.
cat >gap.yaml <<'END'
run: {steps: 31}
domain: {cells: [128, 64], block: [64, 32], dx: 1}
fluid: {viscosity: 0.1}
units: {dt: 1}
boundaries:
  x_min: {type: velocity, velocity: [0.01, 0], factor: "abs(t - 16) < 1e-9 ? sqrt(0 - 1) : 1"}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: wall}
END
run 2 1 gap.yaml --set lbm.temporal_blocking=4
said 'is -nan at time 16'
grep -q '"temporally_blocked_steps": [1-9]' out/summary.json || complain 'no temporal block before the gap'
sed -i 's/t - 16/t - 16.5/' gap.yaml
run 0 1 gap.yaml
printf 'refinement: {levels: 1, criteria: [{type: box, lo: [0, 0], hi: [9, 9]}]}\n' >>gap.yaml
run 2 2 gap.yaml
said_once 'is -nan at time 16.5'

# Sides with separate factors that move in their plane conserve mass, with any levels at them.
cat >lids.yaml <<'END'
run: {steps: 60}
domain: {cells: [32, 32], block: [8, 8], dx: 1}
fluid: {viscosity: 0.1}
units: {dt: 1}
boundaries:
  x_min: {type: velocity, velocity: [0, 0.02], factor: sin(t / 7)}
  x_max: {type: wall}
  y_min: {type: velocity, velocity: [0.03, 0], factor: "mod(t, 10) < 5 ? mod(t, 10) / 5 : 2 - mod(t, 10) / 5"}
  y_max: {type: velocity, velocity: [-0.02, 0], shape: sin(x / 5)^2, factor: cos(t)}
refinement: {levels: 2, criteria: [{type: box, lo: [0, 0], hi: [10, 10]}, {type: box, lo: [20, 12], hi: [32, 20]}]}
output: {integrals: {every: 1}}
END
run 0 1 lids.yaml
awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "mass") c = i } NR == 2 { first = $c } NR > 1 { d = $c / first - 1; if (d < 0) d = -d; if (!(d < 1e-13)) exit 1 }
    END { if (NR < 60) exit 1 }' out/integrals.csv || complain "lids give mass: $(tail -n 2 out/integrals.csv)"

# Another series under the same name is another case.
run 0 1 pulse.yaml --set resilience.disk.every=20
sed 's/^0.25,1/0.25,0.9/' pump.csv >other.csv && mv other.csv pump.csv
"$gabion" run pulse.yaml --set resilience.disk.every=20 --set run.steps=80 --out out >said.txt 2>&1 && complain 'another series: resumed'
said 'has a checkpoint (step 60) of another case'
said 'boundaries.x_min.series: content '

printf '0 1\n0 2\n' >pump.csv
refused 1 pulse.yaml
said 'pump.csv:2: time 0 does not come after 0'
finish
