# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick
# Bad parameters are refused with place, reason and exit code 2, before anything is written.
. "$GABION_SOURCE/tests/apps/common.sh"

run 0 2 good.yaml
[ -s out/summary.json ] && [ -s out/case.yaml ] && [ -s out/log.txt ] || complain "a good run left only $(ls out)"
cmp -s good.yaml out/case.yaml || complain "out/case.yaml is not the file that was given"

# Several mistakes come at once, each with its place, from one process only.
sed -e 's/steps: 20/stepps: 20/' -e 's/omega: 1.5/omega: fast/' good.yaml >bad.yaml
refused 3 bad.yaml
said_once 'bad.yaml:1:'
said 'stepps'
said "did you mean"
said_once 'bad.yaml:3:'
said 'fast'

sed 's/omega: 1.5/omega: 2.5/' good.yaml >bad.yaml
refused 2 bad.yaml
said 'bad.yaml:3:16'
said 'omega'

# Truncated in the middle of a word, and in the middle of a flow collection.
head -c 135 good.yaml >bad.yaml
refused 2 bad.yaml
said 'bad.yaml:'
printf 'run: {steps: 20' >bad.yaml
refused 2 bad.yaml
said "bad.yaml:"

refused 2 missing.yaml
said_once 'missing.yaml'

refused 2 good.yaml --set lbm.omegga=1
said '--set lbm.omegga=1'
refused 2 good.yaml --set nonsense
refused 2 good.yaml --inject 'rank=0,phase=never,step=1'
said '--inject'
refused 2 good.yaml --inject 'rank=0'
refused 2 good.yaml --sett lbm.omega=1
said_once "did you mean '--set'"
refused 2

# Errors that only the driver and the modules detect.
for wrong in 'domain.block=[5, 8]:not a multiple of blocks of 5' 'domain.block=[8, 8, 8]:3 numbers' \
             'output.fields.quantities=[velosity]:velocity' 'output.forces.every=5:no bodies' \
             'resilience.scheme=pairwize:pairwise' 'resilience.memory.every=often:often' \
             'output.probes.every=3:output.points' 'boundaries.x_min.type=wall:periodic' \
             'boundaries.y_max.velocity=[0.3, 0]:boundaries.y_max.velocity: the Mach number'; do
  setting=${wrong%%:*}
  refused 2 good.yaml --set "$setting"
  said "${wrong#*:}"
  check 2 good.yaml --set "$setting"
  said "${wrong#*:}"
done
for key in fused_blocks temporal_blocking; do # alike: both are for one field
  refused 2 good.yaml --set lbm.kernel=vector --set lbm.$key=2
  said "lbm.$key: has no effect above 1: the kernel vector keeps two fields"
  check 0 good.yaml --set lbm.kernel=vector --set lbm.$key=1
  check 0 good.yaml --set lbm.kernel=sparse --set lbm.$key=2
done

# Equivalent keys: a file may not give both, and --set of one replaces the other.
both() { # both WHERE WORDS SED_EXPRESSION: a file with both; then --set SETTING of the other one, and the resulting value
  sed -e "$3" good.yaml >bad.yaml
  check 2 bad.yaml
  said "bad.yaml:$1"
  said "$2"
}
both 1:32 'give either run.steps or run.time, not both' 's/steps: 20/steps: 20, time: 3/'
both 2: 'give either domain.dx or domain.length, not both' 's/block:/dx: 1, length: 5, block:/'
both 3: 'give either fluid.viscosity or fluid.reynolds, not both' 's/omega: 1.5/viscosity: 1, reynolds: 10/'
both 10: 'give either output.integrals.every or output.integrals.interval, not both' 's/{every: 5}/{every: 5, interval: 3}/'
check 0 good.yaml --set run.time=3
said '3 steps of dt 1'
check 0 good.yaml --set domain.length=16 --set domain.dx=2
said 'domain 64 x 32'
check 0 good.yaml --set domain.dx=2 --set domain.length=16
said 'domain 16 x 8'
check 0 good.yaml --set output.integrals.interval=3
check 0 good.yaml --set 'faults=[{ranks: [1], step: 5}]' --set faults.0.random=1

# Invalid refinement: place in the file, and reason. Lines are those of refined.yaml.
cat >refined.yaml <<'YAML'
run: {steps: 10}
domain: {cells: [32, 16], block: [8, 8]}
fluid: {omega: 1.5}
bodies:
  - {name: ball, type: sphere, centre: [12, 8], radius: 3}
refinement:
  levels: 2
  every: 5
  criteria:
    - {type: bodies, level: 1, distance: 1}
    - {type: box, level: 2, lo: [20, 2], hi: [24, 6]}
    - {type: vorticity, above: 0.02, below: 0.01}
YAML
check 0 refined.yaml
said 'blocks of levels 0 to 2'
said 'adapts to the flow every 5 steps'
refuse_refined() { # refuse_refined PLACE WORDS SED-COMMANDS: the changed file is refused there, with these words
  sed -e "$3" refined.yaml >bad.yaml
  cmp -s bad.yaml refined.yaml && complain "sed '$3' changes nothing"
  check 2 bad.yaml
  said "bad.yaml:$1"
  said "$2"
}
refuse_refined 12:45 'is not smaller than above' 's/below: 0.01/below: 0.03/'
refuse_refined 12: 'is not smaller than above' 's/below: 0.01/below: 0.02/'
refuse_refined 11: 'the box is empty along x' 's/lo: .20, 2./lo: [25, 2]/'
refuse_refined 11: 'outside of the domain' 's/lo: .20, 2., hi: .24, 6./lo: [40, 2], hi: [44, 6]/'
refuse_refined 12: 'outside of the domain' 's/below: 0.01/below: 0.01, hi: [40, -1]/'
refuse_refined 11: '3 numbers' 's/lo: .20, 2./lo: [20, 2, 0]/'
refuse_refined 11: 'more than refinement.levels' 's/level: 2/level: 3/'
refuse_refined 10: 'the case has no bodies' '4,5d
s/^run:/\n\nrun:/'
refuse_refined 12: 'refinement.every is 0' 's/every: 5/every: 0/'
refuse_refined 7: 'no criterion' '9,12d'
refuse_refined 10: 'refinement.levels is 0' 's/levels: 2/levels: 0/'
refuse_refined 7: 'out of range' 's/levels: 2/levels: 12/'
refuse_refined 2: 'cannot be split evenly' 's/cells: .32, 16., block: .8, 8./cells: [35, 16], block: [7, 8]/'
refuse_refined 12: 'above' 's/above: 0.02, //'
refuse_refined 12: 'vortexity' 's/type: vorticity/type: vortexity/'
sed 's/below: 0.01/below: 0.03/' refined.yaml >bad.yaml
refused 3 bad.yaml
said_once 'is not smaller than above'

# Fewer blocks than processes, with both numbers.
refused 3 good.yaml --set 'domain.block=[16, 16]'
said_once 'error: the grid has 2 blocks for 3 processes'
finish
