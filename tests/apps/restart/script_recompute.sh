# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# Blocks computed twice give the same results, for every family of kernels, both parities, changing levels, and the
# phase field; the result is that without recomputation. A bit that flips during a step, between two steps, or during
# the packing of a checkpoint is detected, all roll back, and the end is the undisturbed one.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"

watch=(--set 'resilience.monitors=[recompute]' --set resilience.recompute.every=1 --set resilience.recompute.share=1)
twice() { sed -n 's/.*recompute: \([0-9]*\) times a block was computed twice; \([0-9]*\) differed, \([0-9]*\) changed.*/\1 \2 \3/p' said.txt; }
# calm PROCESSES THREADS CASE [options]: no false alarm, all blocks of all steps were checked, the same result
calm() {
  local processes=$1 threads=$2
  shift 2
  run 0 1 "$@"
  expected=$(checksum)
  OMP_NUM_THREADS=$threads run 0 "$processes" "$@" "${watch[@]}"
  [ "$(checksum)" = "$expected" ] || complain "$*: computed twice, another checksum"
  grep -q '"suspicions": 0' out/summary.json || complain "$*: a false alarm: $(cat said.txt)"
  [[ $(twice) =~ ^[1-9][0-9]*\ 0\ 0$ ]] || complain "$*: it was not computed twice: $(twice)"
}
# disturbed CASE STEP FAULT [options]: one alarm that leads back to the undisturbed end
disturbed() {
  local case=$1 step=$2 injection=$3
  shift 3
  run 0 2 "$case" "${watch[@]}" --inject "$injection,step=$step" "$@"
  said 'flips at step'
  [ "$(checksum)" = "$expected" ] || complain "$case, $injection: another checksum: $(cat said.txt)"
  grep -q '"suspicions": 1' out/summary.json || complain "$case, $injection: not one alarm: $(cat said.txt)"
  grep -q '"event": "suspect"' out/events.jsonl || complain "$case, $injection: events.jsonl does not tell of it"
}

# Half of the blocks have little fluid, so `auto' makes them sparse ones.
sed 's/^resilience:.*/bodies:\n  - {name: rock, type: box, lo: [1, 1], hi: [14, 14]}\nresilience: {memory: {every: 10}}/' good.yaml >rock.yaml
for kernel in auto sparse vector reference; do calm 2 2 rock.yaml --set lbm.kernel=$kernel; done
calm 3 1 rock.yaml --set lbm.precision=float --set lbm.collision=mrt
[ "$(twice)" = '160 0 0' ] || complain "8 blocks in 20 steps: $(twice)"
sed '/^output:/,$d' "$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml" >levels.yaml
calm 3 2 levels.yaml
calm 2 1 levels.yaml --set lbm.kernel=reference --set refinement.every=7
calm 2 1 "$GABION_SOURCE/tests/faults/runs/flow_adaptive.yaml" --set run.steps=60 # forces and pictures between two looks
OMP_THREAD_LIMIT=1 calm 1 2 rock.yaml # fewer threads than were asked for
"$gabion" check rock.yaml --set 'resilience.monitors=[recompute]' --set run.check_every=0 >said.txt 2>&1 && complain 'a monitor that never looks'
said 'needs resilience.recompute.every'

calm 1 1 rock.yaml
for injection in rank=1,phase=recompute,flip=12345 rank=0,phase=exchange,flip=700 rank=1,phase=compute,flip=300; do
  disturbed rock.yaml 13 $injection
done
disturbed rock.yaml 14 rank=1,phase=recompute,flip=4000 # the other parity
disturbed rock.yaml 10 rank=1,phase=snapshot,flip=300 # in an image that does not count yet
said 'all go back to step 0'
disturbed rock.yaml 10 rank=1,phase=output,flip=300
# Only one of several sub-steps is checked: a bit flipped after another one may pass, but not after all.
calm 1 1 levels.yaml
for bit in 77777 2500000; do # of a block of level 0, and of level 2
  found=
  for visit in 1 2 3 4 5 6 7; do
    run 0 2 levels.yaml "${watch[@]}" --inject "rank=1,phase=recompute,flip=$bit,step=31,visit=$visit"
    said 'flips at step 31'
    grep -q '"suspicions": 1' out/summary.json && found=$visit && break
  done
  [ -n "$found" ] || complain "levels.yaml, bit $bit: not found behind any sub-step"
  [ "$(checksum)" = "$expected" ] || complain "levels.yaml, bit $bit, visit $found: another checksum"
done

calm 2 2 grow.yaml
calm 3 1 grow.yaml --set phasefield.kernel=reference --set phasefield.noise.amplitude=0.01
sed -e 's/steps: 240/steps: 100/; s/cells: \[24, 36\], block: \[12, 6\]/cells: [48, 144], block: [12, 12]/' \
  -e 's/^  window:/  refinement: {levels: 2, every: 10, margin: 8}\n&/; s/height: 14/height: 34/' \
  -e 's/row: 16, every: 10, rows: 2/row: 34, every: 10, rows: 4/' grow.yaml >grow_levels.yaml
calm 3 2 grow_levels.yaml
calm 1 1 grow.yaml
disturbed grow.yaml 117 rank=1,phase=recompute,flip=12345
disturbed grow.yaml 118 rank=0,phase=exchange,flip=999
disturbed grow.yaml 120 rank=0,phase=snapshot,flip=777

# A sample is the same on any number of processes, and the rest is left alone.
watch=(--set 'resilience.monitors=[recompute]' --set resilience.recompute.every=3 --set resilience.recompute.share=0.3)
calm 1 1 rock.yaml
few=$(twice)
calm 3 1 rock.yaml
[ "$(twice)" = "$few" ] || complain "three processes: $(twice), one: $few"
[ "${few%% *}" -lt 36 ] || complain "all blocks of a sample: $few"
check 2 grow.yaml --set 'resilience.monitors=[recompute, mass]'
said "resilience.monitors: no monitor 'mass' (there are: recompute)"
check 2 good.yaml --set 'resilience.monitors=[recompute, mass, recompute]'
said "'recompute' twice"
finish
