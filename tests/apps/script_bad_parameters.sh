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
refused 2 good.yaml --inject 'slot=0,phase=never,step=1'
said '--inject'
refused 2 good.yaml --inject 'slot=0'
refused 2 good.yaml --sett lbm.omega=1
said_once "did you mean '--set'"
refused 2

# What only the driver and the modules can see.
for wrong in 'domain.block=[5, 8]:no whole number of blocks' 'domain.block=[8, 8, 8]:3 numbers' \
             'run.time=3:either run.steps or run.time' 'domain.length=2:' \
             'output.fields.quantities=[velosity]:velocity' 'output.forces.every=5:no bodies' \
             'resilience.scheme=pairwize:pairwise' 'resilience.memory.every=often:often' \
             'output.probes.every=3:output.points' 'boundaries.x_min.type=wall:periodic' \
             'boundaries.y_max.velocity=[0.3, 0]:Mach'; do
  setting=${wrong%%:*}
  case $setting in domain.length=2) extra=(--set domain.dx=1) ;; *) extra=() ;; esac
  refused 2 good.yaml --set "$setting" ${extra[@]+"${extra[@]}"}
  said "${wrong#*:}"
  check 2 good.yaml --set "$setting" ${extra[@]+"${extra[@]}"}
  said "${wrong#*:}"
done

# Fewer blocks than processes, with both numbers.
refused 3 good.yaml --set 'domain.block=[16, 16]'
said_once 'error:'
said '2'
said '3'
finish
