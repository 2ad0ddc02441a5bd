#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A campaign under SLURM: jobs that continue one run until it is complete.
#
#   cp scripts/batch/slurm.sh my_run.sh; edit the lines marked with <<<; sbatch my_run.sh
#
# Shortly before the time limit of the job, by its own clock (--walltime) or by the signal, the run writes a
# checkpoint to disk and ends with code 75. The job then requeues itself, and next time the same command resumes from
# that checkpoint. Any other code ends the campaign: 0 done, 2 invalid input, 3 lost data, 4 diverged, 1 other errors,
# with the reason in the last lines of the output. The number of nodes may change from job to job.
#
# When a node dies SLURM keeps the others running (--no-kill), and the launcher restarts the run on them from their
# memory (--relaunch). The run needs checkpoints on disk: resilience.disk.every in the case.

#SBATCH --job-name=gabion
#SBATCH --nodes=4                   # <<<
#SBATCH --ntasks-per-node=32        # <<< processes of a node
#SBATCH --cpus-per-task=1           # <<< threads of a process
#SBATCH --exclusive
#SBATCH --time=24:00:00             # <<<
#SBATCH --signal=B:TERM@180         # this script gets SIGTERM this number of seconds before the end
#SBATCH --requeue                   # also after the death of the first node
#SBATCH --no-kill                   # the death of another node does not end the job
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.txt

set -u
# module load openmpi/5             # <<< the MPI of the build
bin=${GABION_BIN:-build/bin}        # <<< folder of gabion and gabion-launch, relative to that of sbatch
case_file=${GABION_CASE:-case.yaml} # <<<
out=${GABION_OUT:-out/case}         # <<< on a file system that all nodes share
options=${GABION_OPTIONS:-}         # <<< more options of `gabion run`, such as --set KEY=VALUE
launch_options=${GABION_LAUNCH_OPTIONS:-}  # <<< more options of the launcher, such as --agent PROGRAM instead of ssh
most_jobs=${GABION_MOST_JOBS:-1000} # limit of a campaign
stop_within=150                     # seconds for the last checkpoint: less than in --signal

cd "${SLURM_SUBMIT_DIR:-.}" || exit 2
per_node=${SLURM_NTASKS_PER_NODE:?set --ntasks-per-node}
hosts='' processes=0
for node in $(scontrol show hostnames "$SLURM_JOB_NODELIST"); do
  hosts+=${hosts:+,}$node:$per_node
  processes=$((processes + per_node))
done
export OMP_NUM_THREADS=${SLURM_CPUS_PER_TASK:-1}

# Remaining time of the job as squeue prints it: 1-12:00:00, 30:00. Without a limit only the signal stops the run.
left=$(squeue --noheader --jobs="$SLURM_JOB_ID" --format=%L 2>/dev/null | tr -d ' ')
walltime=()
if [[ $left =~ ^[0-9:-]*:[0-9][0-9]$ ]]; then walltime=(--walltime "$left"); fi

# shellcheck disable=SC2086 # words on purpose
"$bin/gabion-launch" -n "$processes" --hosts "$hosts" --relaunch 10 --stop-within "$stop_within" $launch_options -- \
  "$bin/gabion" run "$case_file" --out "$out" ${walltime[@]+"${walltime[@]}"} $options &
launcher=$!
# On a signal the launcher asks the run to stop. The signal ends `wait' before the launcher has ended.
trap 'told=yes; kill -TERM "$launcher" 2>/dev/null' TERM
while :; do
  told=''
  wait "$launcher"
  code=$?
  [ -n "$told" ] || break
done

if [ "$code" = 75 ]; then
  if [ "${SLURM_RESTART_COUNT:-0}" -ge "$most_jobs" ]; then
    echo "not put into the queue again: this was job $((SLURM_RESTART_COUNT + 1))"
    exit 75
  fi
  echo "to be continued: back into the queue"
  scontrol requeue "$SLURM_JOB_ID" && exit 0
fi
exit "$code"
