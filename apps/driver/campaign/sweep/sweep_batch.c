/* SPDX-License-Identifier: Apache-2.0 */
/* Job scripts of a sweep: arrays of SLURM and PBS, a point in each task. */
#include "apps/driver/campaign/sweep/sweep_impl.h"

#include <string.h>
#include <unistd.h>

/* A word of the shell. */
static void put_word(const char *word)
{
  putchar('\'');
  for (; *word; word++) {
    if (*word == '\'') fputs("'\\''", stdout);
    else putchar(*word);
  }
  putchar('\'');
}

static const char head[] =
    "#!/usr/bin/env bash\n"
    "# A sweep under %s: each task of the array runs one point.\n"
    "#\n"
    "#   edit the lines marked with <<<; %s this file; at the end, for the table:\n"
    "#   gabion sweep FILE --out FOLDER --table, with the words below\n"
    "#\n"
    "# Shortly before its time limit a run writes a checkpoint and ends with code 75; %s. Points that are\n"
    "# done end at once, so the same array may be submitted again after failures.\n"
    "\n";

static const char slurm_head[] =
    "#SBATCH --job-name=gabion-sweep\n"
    "#SBATCH --array=1-%zu               # points; a list such as 3,7 runs some again\n"
    "#SBATCH --nodes=1                   # <<<\n"
    "#SBATCH --ntasks-per-node=%" PRId64 "         # <<< processes of a run, divided by the nodes\n"
    "#SBATCH --cpus-per-task=%" PRId64 "           # threads of a process\n"
    "#SBATCH --time=24:00:00             # <<<\n"
    "#SBATCH --signal=B:TERM@180         # this script gets SIGTERM this number of seconds before the end\n"
    "#SBATCH --requeue\n"
    "#SBATCH --open-mode=append\n"
    "#SBATCH --output=%%x-%%A_%%a.txt\n";

static const char slurm_start[] =
    "point=${SLURM_ARRAY_TASK_ID:?no task of an array}\n"
    "cd \"${SLURM_SUBMIT_DIR:-.}\" || exit 2\n"
    "# Remaining time of the job as squeue prints it. Without a limit only the signal stops the run.\n"
    "left=$(squeue --noheader --jobs=\"$SLURM_JOB_ID\" --format=%L 2>/dev/null | tr -d ' ')\n"
    "walltime=()\n"
    "if [[ $left =~ ^[0-9:-]*:[0-9][0-9]$ ]]; then walltime=(--walltime \"$left\"); fi\n";

static const char slurm_hosts[] = "hosts=''\n"
                                  "for node in $(scontrol show hostnames \"$SLURM_JOB_NODELIST\"); do\n"
                                  "  hosts+=${hosts:+,}$node:${SLURM_NTASKS_PER_NODE:-1}\n"
                                  "done\n";

static const char pbs_head[] =
    "#PBS -N gabion-sweep\n"
    "#PBS -J 1-%zu\n"
    "#PBS -l select=1:ncpus=%" PRId64 ":mpiprocs=%" PRId64 ":ompthreads=%" PRId64 "   # <<<\n"
    "#PBS -l walltime=24:00:00                     # <<<\n"
    "#PBS -j oe\n"
    "#PBS -r y\n";

static const char pbs_start[] =
    "point=${PBS_ARRAY_INDEX:?no task of an array}\n"
    "cd \"${PBS_O_WORKDIR:-.}\" || exit 2\n"
    "walltime=(--walltime 23:50:00)                # <<< some minutes less than above\n";

static const char pbs_hosts[] =
    "# One line of the file for each process: \"node7 node7 node9\" becomes node7:2,node9:1.\n"
    "hosts=$(sort \"${PBS_NODEFILE:?no job of PBS}\" | uniq -c | awk '{ printf \"%s%s:%d\", comma, $2, $1; comma = \",\" }')\n";

static const char wait_for_it[] =
    "run=$!\n"
    "# On a signal the run saves its state. The signal ends `wait' before the run has ended.\n"
    "trap 'told=yes; kill -TERM \"$run\" 2>/dev/null' TERM\n"
    "while :; do\n"
    "  told=''\n"
    "  wait \"$run\"\n"
    "  code=$?\n"
    "  [ -n \"$told\" ] || break\n"
    "done\n";

static const char slurm_end[] = "if [ \"$code\" = 75 ]; then\n"
                                "  echo \"to be continued: back into the queue\"\n"
                                "  scontrol requeue \"$SLURM_JOB_ID\" && exit 0\n"
                                "fi\n"
                                "exit \"$code\"\n";
static const char pbs_end[] =
    "if [ \"$code\" = 75 ]; then echo \"to be continued: submit this array again\"; fi\n"
    "exit \"$code\"\n";

/* "gabion sweep FILE --out FOLDER --set ... --point K &" */
static gab_status put_command(const gab_app_sweep *sweep)
{
  const gab_app_options *options = sweep->options;
  char program[GAB_APP_PATH_LENGTH];
  const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
  if (length <= 0) GAB_FAIL(GAB_ERR_INPUT, "the file of this program cannot be found");
  program[length] = '\0';
  put_word(program);
  fputs(" sweep ", stdout);
  put_word(options->word);
  fputs(" --out ", stdout);
  put_word(sweep->folder);
  for (size_t i = 0; i < options->setting_count; i++) {
    fputs(" --set ", stdout);
    put_word(options->settings[i]);
  }
  if (options->redo) fputs(" --redo", stdout);
  if (options->quiet) fputs(" --quiet", stdout);
  fputs(" --point \"$point\" ${walltime[@]+\"${walltime[@]}\"}", stdout);
  if (sweep->processes > 1 || options->launch) fputs(" \\\n  --launch ", stdout);
  if (sweep->processes > 1) fputs("\"--hosts $hosts --relaunch 10 --stop-within 150 \"", stdout);
  if (options->launch) put_word(options->launch);
  fputs(" &\n", stdout);
  return GAB_OK;
}

gab_status gab_app_sweep_script_print(const gab_app_sweep *sweep)
{
  const bool is_slurm = sweep->options->slurm;
  const int64_t processes = sweep->processes, threads = sweep->threads;
  printf(head, is_slurm ? "SLURM" : "PBS", is_slurm ? "sbatch" : "qsub",
         is_slurm ? "the task requeues itself" : "submit the array again");
  if (is_slurm) printf(slurm_head, sweep->point_count, processes, threads);
  else printf(pbs_head, sweep->point_count, processes * threads, processes, threads);
  printf("\nset -u\n# module load openmpi/5             # <<< the MPI of the build\n%s\n",
         is_slurm ? slurm_start : pbs_start);
  if (processes > 1) fputs(is_slurm ? slurm_hosts : pbs_hosts, stdout);
  GAB_TRY(put_command(sweep));
  printf("%s%s", wait_for_it, is_slurm ? slurm_end : pbs_end);
  return GAB_OK;
}
