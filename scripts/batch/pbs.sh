#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A campaign under PBS (PBS Pro, OpenPBS, Torque): jobs that continue one run until it is complete.
#
#   cp scripts/batch/pbs.sh my_run.sh; edit the lines marked with <<<; qsub my_run.sh
# Shortly before the end of its wall time the run writes a checkpoint to disk and ends with code 75. The job then
# submits the next one, in which the same command resumes from that checkpoint. Any other code ends the campaign: 0
# done, 2 invalid input, 3 lost data, 4 diverged, 1 other errors, with the reason in the last lines of the output. PBS
# sends no early signal, so the run gets its wall time as an option. A SIGTERM (from qdel, or a delayed end of the
# job) also causes a checkpoint, if time remains.
# When a node dies the launcher restarts the run on the other nodes from their memory (--relaunch), if PBS keeps the
# job alive. The run needs checkpoints on disk: resilience.disk.every in the case.

#PBS -N gabion
#PBS -l select=4:ncpus=32:mpiprocs=32:ompthreads=1
#PBS -l walltime=24:00:00
#PBS -j oe
#PBS -r y

set -u
# module load openmpi/5               # <<< the MPI of the build
walltime=${GABION_WALLTIME:-23:50:00} # <<< some minutes less than above: the job starts before the run
self=${GABION_SELF:-my_run.sh}        # <<< this file: it submits itself again (PBS runs a copy of it)
bin=${GABION_BIN:-build/bin}          # <<< folder of gabion and gabion-launch, relative to that of qsub
case_file=${GABION_CASE:-case.yaml}   # <<<
out=${GABION_OUT:-out/case}           # <<< on a file system that all nodes share
options=${GABION_OPTIONS:-}           # <<< more options of `gabion run', such as --set KEY=VALUE
launch_options=${GABION_LAUNCH_OPTIONS:-} # <<< more options of the launcher, such as --agent pbs_tmrsh instead of ssh
most_jobs=${GABION_MOST_JOBS:-1000}   # limit of a campaign
job=${GABION_JOB:-1}
stop_within=150                       # seconds for the last checkpoint after a signal

cd "${PBS_O_WORKDIR:-.}" || exit 2
# One line of the file for each process: "node7 node7 node9" becomes node7:2,node9:1.
hosts=$(sort "${PBS_NODEFILE:?no job of PBS}" | uniq -c | awk '{ printf "%s%s:%d", comma, $2, $1; comma = "," }')
processes=$(grep -c . "$PBS_NODEFILE")

# shellcheck disable=SC2086 # words on purpose
"$bin/gabion-launch" -n "$processes" --hosts "$hosts" --relaunch 10 --stop-within "$stop_within" $launch_options -- \
  "$bin/gabion" run "$case_file" --out "$out" --walltime "$walltime" $options &
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
  if [ "$job" -ge "$most_jobs" ]; then
    echo "not submitted again: this was job $job"
    exit 75
  fi
  echo "to be continued: submitting the next job"
  qsub -v GABION_JOB=$((job + 1)) "$self" && exit 0
fi
exit "$code"
