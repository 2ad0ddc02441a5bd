# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=240
# The templates for batch systems lead a run through several jobs to the undisturbed result: stopped by a signal or by
# the wall time it queues itself again, completed or refused it does not. Scripts play the commands of the batch
# systems.
. "$GABION_SOURCE/tests/apps/common.sh"
batch=$GABION_SOURCE/scripts/batch
if command -v shellcheck >/dev/null; then shellcheck "$batch"/*.sh || complain 'shellcheck'; fi

mkdir fake
fake() { { echo '#!/usr/bin/env bash'; cat; } >"fake/$1"; chmod +x "fake/$1"; }
fake scontrol <<SH
case "\$1 \$2" in
"show hostnames") for node in \${3//,/ }; do echo "\$node"; done ;;
"requeue 4711") echo "\$2" >>"$work/queue" ;;
*) exit 1 ;;
esac
SH
fake squeue <<SH
[[ \$* = *--jobs=4711* ]] && cat "$work/left"
SH
fake qsub <<SH
[ "\$1" = -v ] && [[ \$2 = GABION_JOB=* ]] && [ "\$3" = "$batch/pbs.sh" ] && echo "\$2" >>"$work/queue"
SH
fake srun <<SH
echo "srun is not to be called: \$*" >&2; exit 1
SH
export PATH=$work/fake:$PATH GABION_BIN=$GABION_BUILD/bin GABION_CASE=$work/long.yaml GABION_OUT=$work/out
here=$(hostname)
sed 's/steps: 20,/steps: 60,/; s/{memory: {every: 10}}/{memory: {every: 10}, disk: {every: 30}}/' good.yaml >long.yaml
run 0 2 long.yaml
mv out whole

slurm() { # as sbatch would: in the background
  SLURM_JOB_ID=4711 SLURM_JOB_NODELIST=$here SLURM_NTASKS_PER_NODE=2 SLURM_CPUS_PER_TASK=1 SLURM_SUBMIT_DIR=$work \
    "$batch/slurm.sh" >said.txt 2>&1 &
  job=$!
}
pbs() {
  printf '%s\n' "$here" "$here" >nodes
  PBS_NODEFILE=$work/nodes PBS_O_WORKDIR=$work GABION_SELF=$batch/pbs.sh "$batch/pbs.sh" >said.txt 2>&1 &
  job=$!
}
ended() { # ended CODE: the job has, and queued itself again or not
  local code
  wait $job; code=$?
  [ $code = "$1" ] || complain "the job ended with $code instead of $1: $(cat said.txt)"
}
queued() { # queued TIMES
  local times=0
  [ ! -e queue ] || times=$(grep -c . queue)
  [ "$times" = "$1" ] || complain "queued again $times times instead of $1: $(cat said.txt)"
}
told_while_stopped() { # whether to stop is asked after the first step, and the fault injection holds the run up in that
  for _ in $(seq 600); do grep -qs '"stopped"' out/events.jsonl && break; sleep 0.05; done
  kill -TERM $job
}
same() { [ "$(checksum out)" = "$(checksum whole)" ] || complain "$1: another checksum"; }

for system in slurm pbs; do
  rm -rf out queue
  echo 1:00:00 >left
  export GABION_OPTIONS='--inject rank=1,step=0,stopped=2' GABION_WALLTIME=1:00:00
  $system
  told_while_stopped
  ended 0
  said 'asking the run to stop'
  said 'to be continued'
  queued 1
  ! grep -qs '"exit_code": 0' out/summary.json || complain "$system: the run that was told to stop has gone on to its end"
  export GABION_OPTIONS='' GABION_WALLTIME=0:01
  echo 0:01 >left
  $system
  ended 0
  said 'the wall time is used up'
  queued 2
  export GABION_OPTIONS='' GABION_WALLTIME=1:00:00
  echo UNLIMITED >left
  $system
  ended 0
  said 'resuming from step'
  same $system
  queued 2
  export GABION_OPTIONS='--set fluid.omega=7'
  $system
  ended 2
  queued 2
done
[ "$(sort -u queue)" = GABION_JOB=2 ] || complain "jobs of PBS are numbered $(cat queue)"
# The limit of an endless campaign.
rm -rf out queue
export GABION_OPTIONS='--inject rank=1,step=0,stopped=2' GABION_MOST_JOBS=1
pbs
told_while_stopped
ended 75
said 'not submitted again'
queued 0
finish
