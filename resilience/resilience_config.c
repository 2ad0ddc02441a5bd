/* SPDX-License-Identifier: Apache-2.0 */
#include "resilience/resilience_config.h"

#include "core/base/log.h"
#include "core/base/timer.h"
#include "resilience/reports/completion.h"
#include "resilience/checkpoint/compress.h"
#include "resilience/local/local_division_impl.h"
#include "resilience/loop/timeloop_impl.h"
#include "resilience/loop/fault_injection_impl.h"
#include "resilience/recovery/recovery_impl.h"
#include "resilience/schemes/domains_impl.h"
#include "resilience/checkpoint/checkpoint_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static gab_config_choice strategy_choice(int index)
{
  const gab_strategy *strategy = gab_strategy_at(index);
  return strategy ? (gab_config_choice){.name = strategy->name, .doc = strategy->doc}
                  : (gab_config_choice){0};
}

static gab_config_choice scheme_choice(int index)
{
  const gab_scheme *scheme = gab_scheme_at(index);
  return scheme ? (gab_config_choice){.name = scheme->name, .doc = scheme->doc} : (gab_config_choice){0};
}

static gab_config_choice monitor_choice(int index)
{
  const gab_monitor *monitor = gab_monitor_at(index);
  return monitor ? (gab_config_choice){.name = monitor->name, .doc = monitor->doc} : (gab_config_choice){0};
}

static const gab_config_key resilience_keys[] = {
    {.name = "strategies",
     .type = GAB_CONFIG_STRING,
     .length_min = 1,
     .length_max = GAB_MOST_STRATEGIES,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Recovery strategies, in the order in which they are tried after a death. Default: "
            "[shrink], preceded by spare if there are spares and followed by disk with checkpoints on"
            " disk.",
     .choice_at = strategy_choice},
    {.name = "scheme",
     .type = GAB_CONFIG_STRING,
     .default_text = "pairwise",
     .outside = true,
     .doc = "Redundancy scheme: which ranks store each rank's checkpoint copies.",
     .choice_at = scheme_choice},
    {.name = "copies",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 16,
     .default_text = "1",
     .outside = true,
     .doc = "Number of copies in the memory of other processes, in addition to the own image; for "
            "schemes that copy."},
    {.name = "group",
     .type = GAB_CONFIG_INT,
     .min = 2,
     .max = GAB_MOST_GROUP / 2,
     .default_text = "8",
     .outside = true,
     .doc = "Maximum number of processes in a group of the schemes parity and reed-solomon. With n "
            "processes and k tolerated losses each stores k / (n - k) of a state in addition to its "
            "own."},
    {.name = "losses",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = GAB_MOST_LOSSES,
     .default_text = "2",
     .outside = true,
     .doc = "Simultaneous losses per group that the scheme reed-solomon survives."},
    {.name = "separate",
     .type = GAB_CONFIG_CHOICE,
     .choices = "auto|none|node|chassis|island",
     .default_text = "auto",
     .outside = true,
     .doc = "Failure domain that must not hold the state of a process together with all of its "
            "redundancy, at the cost of memory if needed. auto: nodes, where that costs nothing."},
    {.name = "within",
     .type = GAB_CONFIG_CHOICE,
     .choices = "none|node|chassis|island",
     .default_text = "none",
     .outside = true,
     .doc = "Domain that redundancy must not leave, e.g. an island of a network that is slower "
            "between islands."},
    {.name = "scrub",
     .type = GAB_CONFIG_STRING,
     .default_text = "never",
     .outside = true,
     .doc = "Interval of verifications of all images in memory (a number of steps, or never); damaged"
            " parts are replaced from a copy or from parities."},
    {.name = "monitors",
     .type = GAB_CONFIG_STRING,
     .choice_at = monitor_choice,
     .length_min = 1,
     .length_max = 16,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Monitors of the state, evaluated at intervals and before each checkpoint, for possible "
            "hardware faults. After an alarm all ranks roll back to the last checkpoint; a second "
            "alarm ends the run as diverged."},
    {.name = "domains",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_WORK,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "File with the failure domains: lines like \"island1/chassis4/node17: 0-15\". Default: "
            "host names (or the environment variable GABION_NODE of each process, which holds such a "
            "name), and the chassis where hwloc knows it."},
    {.name = "mtbf",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = 1e12,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Mean time between failures of the whole run, for automatic intervals; a guess that "
            "observed failures soon outweigh."},
    {.name = "tries",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "10",
     .outside = true,
     .doc = "Maximum number of consecutive recoveries without a new checkpoint, and of consecutive "
            "jobs that resumed from the same checkpoint on disk and died before the next one."},
    {.name = "fence_wait",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0.1,
     .max = 3600,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Waiting time of a part of a run that has lost half of its processes or more, after a "
            "network cut, before it continues; so the larger part is first. Default: 5 s, or "
            "gabion-launch --cut-after if that is more; doubled if the part cannot restore the state."
            " Only on several nodes, or with gabion-launch --dead-after, and not after deaths without"
            " a cut."},
    {.name = "rebalance",
     .type = GAB_CONFIG_BOOL,
     .default_text = "true",
     .outside = true,
     .doc = "Rebalance after processes were lost."},
};
static const gab_config_key spares_keys[] = {
    {.name = "count",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1000000,
     .default_text = "0",
     .outside = true,
     .doc = "Number of spares. `gabion-launch -- gabion run CASE` starts them in addition to the "
            "processes of -n; a job with fewer is refused."},
    {.name = "per",
     .type = GAB_CONFIG_CHOICE,
     .choices = "run|node",
     .default_text = "run",
     .outside = true,
     .doc = "run: count is the total, and spares are the last processes of the job. node: count is "
            "per node, and spares are the last processes there, so that a node can replace its own "
            "processes."},
};
static const gab_config_key memory_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_STRING,
     .default_text = "100",
     .outside = true,
     .doc = "Interval of checkpoints in memory: a number of steps (100), a time (30 s, 10 min, 1 h), "
            "auto (from mtbf and the measured cost, Daly 2006) or never (only one at the start)."},
    {.name = "overlap",
     .type = GAB_CONFIG_CHOICE,
     .choices = "false|true|auto",
     .default_text = "false",
     .outside = true,
     .doc = "Send copies during the next steps, so that a checkpoint stops the run only for the own "
            "copy; it counts some steps later. auto: the cheaper mode as measured, since copies slow "
            "down concurrent steps. Parities of coded schemes are always waited for."},
    {.name = "within_node",
     .type = GAB_CONFIG_CHOICE,
     .choices = "copy|share|send",
     .default_text = "copy",
     .outside = true,
     .doc = "Transfer of an image to a holder on the same node (of the failure domains). copy: the "
            "holder copies it from shared memory. share: the holder stores none, but maps the "
            "original, also after the death of its process; half of the memory, and a checkpoint "
            "costs only the own copy, but a flipped bit affects both. send: by messages, as between "
            "nodes, and wherever processes cannot map each other's memory."},
    {.name = "buffers",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 2,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Number of snapshots in memory. 1: the new one overwrites the old one; half of the "
            "memory, but a death during a checkpoint is survived from disk only. Default: 2; 1 where "
            "no process stores data of another (scheme none, or one process) without "
            "resilience.monitors, scrub, checkpoints on disk, node memory, and the strategies local "
            "and reconstruct."},
    {.name = "compression",
     .type = GAB_CONFIG_CHOICE,
     .choices = "none|auto|lz4|zstd",
     .default_text = "none",
     .outside = true,
     .doc = "Lossless compression of copies, in transit and in memory. auto: lz4 if a sample shrinks "
            "by at least an eighth and takes less time than it saves in transit."},
};
static const gab_config_key local_keys[] = {
    {.name = "log_limit",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1e6,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Maximum size of the message logs of a process, in units of its state (the largest image "
            "of a process). Checkpoints are then taken earlier than resilience.memory.every where "
            "needed. All ranks agree on it before each checkpoint, so none passes a checkpoint that a"
            " restored rank has not reached. Default: no limit."},
    {.name = "own_every",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1000000000,
     .default_text = "0",
     .outside = true,
     .unit = "steps",
     .doc = "Interval of each cluster's own checkpoints (resilience.local.clusters), in steps, "
            "between those of resilience.memory.every, which remain common to all. Clusters take them"
            " at different steps and do not wait for others. After a death, the cluster restores the "
            "newest of both, and the next strategy the newest common one. An image then includes the "
            "message log of its process, and up to two more images of each are stored (gabion plan "
            "reports the memory); logs for a cluster are freed when it has committed. Must be less "
            "than resilience.memory.every; not with log_limit, nor in programs with mailboxes "
            "(doc/clusters.md). 0: none."},
    {.name = "verify",
     .type = GAB_CONFIG_BOOL,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Verify that a restored rank computes the same values: it sends the hash of each message "
            "that its neighbours already have, and they compare it with the received message. A "
            "difference (a program that depends on a clock, or damaged memory) ends the run with an "
            "error that names rank, port and step. Costs a hash per received message, and 16 bytes "
            "for it until the next common checkpoint but one. Default: only in debug builds."},
    {.name = "commit_wait",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = 1,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Maximum time that a checkpoint waits for its commit, as a share of the time since the "
            "last one. The commit also arrives along a tree during the steps, but later where steps "
            "are long, and until then a death restores the checkpoint before. Default: 0.01; 0: do "
            "not wait."},
    {.name = "clusters",
     .type = GAB_CONFIG_STRING,
     .default_text = "rank",
     .outside = true,
     .doc = "Processes that roll back together after a death; messages between them are not logged "
            "(doc/clusters.md; gabion plan --clusters reports the cost). rank: each alone. node: "
            "those of a node. A number: that many clusters of processes with neighbouring numbers. Or"
            " a file with lines like \"cluster1: 0-3\", which names each process once: gabion plan "
            "--clusters K --write FILE writes the one that logs least."},
};
static const gab_config_key disk_keys[] = {
    {.name = "every",
     .type = GAB_CONFIG_STRING,
     .default_text = "never",
     .outside = true,
     .doc = "Interval of checkpoints on disk, in OUT/checkpoints: a number of steps (1000), a time "
            "(30 min), auto (from resilience.disk.mtbf and the measured cost, Daly 2006) or never. "
            "The last state is written too. The same command in the same folder resumes from the "
            "newest one."},
    {.name = "group",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "64",
     .outside = true,
     .doc = "Number of processes per file, which the lowest of them writes."},
    {.name = "keep",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "2",
     .outside = true,
     .doc = "Number of checkpoints on disk to keep."},
    {.name = "mtbf",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = 1e12,
     .min_excluded = true,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Mean time between losses that copies in memory do not survive (power, file system, the "
            "whole job), for an automatic interval; a guess that the earlier jobs in the same folder "
            "outweigh (events.jsonl)."},
};
static const gab_config_key injection_keys[] = {
    {.name = "ranks",
     .instead_of = "random",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 2147483647,
     .length_min = 1,
     .length_max = GAB_INJECTION_RANKS,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Ranks to kill. Those of one fault injection are lost together: a rank that lags behind "
            "when another has died dies before anything is restored."},
    {.name = "random",
     .instead_of = "ranks",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = GAB_INJECTION_RANKS,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Instead of a list: number of ranks to kill, drawn at random."},
    {.name = "seed",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = "1",
     .outside = true,
     .doc = "Seed of the draw."},
    {.name = "step",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .outside = true,
     .doc = "Step of the kill, or the next step that reaches the fault point."},
    {.name = "phase",
     .type = GAB_CONFIG_CHOICE,
     .choices =
         "compute|exchange|reduction|snapshot|commit|swap|repair|recovery|hand-over|migration|output|"
         "adapt-mark|adapt-balance|adapt-migrate|adapt-rebuild|disk-write|disk-commit|respawn|recompute",
     .default_text = "compute",
     .outside = true,
     .doc = "Fault point of the kill."},
    {.name = "visit",
     .type = GAB_CONFIG_INT,
     .min = 1,
     .max = 1000000,
     .default_text = "1",
     .outside = true,
     .doc = "Number of the visit of the fault point, counted from that step on."},
    {.name = "incarnation",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1000000,
     .default_text = "0",
     .outside = true,
     .doc = "Incarnation of these ranks: 0 the initial processes, 1 those that replaced them, and so "
            "on."},
    {.name = "attempt",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 1000000,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Restrict to one attempt of gabion-launch: 0 the first, 1 the job that it starts when "
            "that has ended or hung (--relaunch, --start-retries), and so on. Default: every attempt "
            "that reaches the step."},
    {.name = "stopped",
     .instead_of = "flip",
     .type = GAB_CONFIG_REAL,
     .unit = "s",
     .min = 0,
     .max = 1e6,
     .default_text = "0",
     .outside = true,
     .doc = "Stop the processes for this time instead of killing them (gabion-launch --dead-after); "
            "0: kill."},
    {.name = "flip",
     .instead_of = "stopped",
     .type = GAB_CONFIG_INT,
     .min = 0,
     .max = 9e15,
     .default_text = GAB_CONFIG_OPTIONAL,
     .outside = true,
     .doc = "Instead of killing, flip this bit of the state of their blocks (modulo the number of "
            "bits)."},
};
#define KEYS(table) .keys = (table), .count = sizeof(table) / sizeof((table)[0])
static const gab_config_section sections[] = {
    {.path = "resilience", .doc = "Fault tolerance.", KEYS(resilience_keys)},
    {.path = "resilience.spares",
     .doc = "Spare processes, which take the ranks of dead ones (strategy spare).",
     KEYS(spares_keys)},
    {.path = "resilience.memory", .doc = "Checkpoints in memory.", KEYS(memory_keys)},
    {.path = "resilience.local", .doc = "Recovery strategy `local`.", KEYS(local_keys)},
    {.path = "resilience.disk", .doc = "Checkpoints on disk, written during the run.", KEYS(disk_keys)},
    {.path = "faults",
     .doc = "Fault injection: kills processes by SIGKILL, to test that the run survives.",
     .is_list = true,
     KEYS(injection_keys)},
};

static gab_domain_kind read_domain(const gab_config *config, const char *path)
{
  const char *name = gab_config_string(config, path);
  for (int kind = GAB_DOMAIN_NONE; kind < GAB_DOMAIN_COUNT; kind++)
    if (strcmp(name, gab_domain_name((gab_domain_kind)kind)) == 0) return (gab_domain_kind)kind;
  return GAB_DOMAIN_UNSET;
}

gab_status gab_resilience_declare(gab_config *config)
{
  for (size_t i = 0; i < sizeof sections / sizeof sections[0]; i++)
    GAB_TRY(gab_config_declare(config, &sections[i]));
  return GAB_OK;
}

/* The last message, with the place in the file in front. */
static gab_status blame(const gab_config *config, const char *path)
{
  char message[1024];
  snprintf(message, sizeof message, "%s", gab_error_message());
  return gab_config_fail(config, path, "%s", message);
}

static gab_status read_strategies(const gab_config *config, gab_protection *protection)
{
  size_t count;
  if (!gab_config_is_set(config, "resilience.strategies")) return GAB_OK;
  const char *const *names = gab_config_strings(config, "resilience.strategies", &count);
  for (size_t i = 0; i < count; i++) {
    protection->strategies[i] = gab_strategy_by_name(names[i]);
    if (!protection->strategies[i]) return blame(config, "resilience.strategies");
  }
  if (gab_strategies_check(protection->strategies, (int)count) != GAB_OK)
    return blame(config, "resilience.strategies");
  return GAB_OK;
}

gab_spares_asked gab_resilience_spares(const gab_config *config)
{
  return (gab_spares_asked){.count = (int32_t)gab_config_int(config, "resilience.spares.count"),
                            .per_node =
                                strcmp(gab_config_string(config, "resilience.spares.per"), "node") == 0};
}

/* Spares that nobody would ever call are not what was meant. */
static gab_status check_spares(const gab_config *config, const gab_protection *protection)
{
  bool used = protection->strategies[0] == NULL; /* by default they are */
  for (int i = 0; i < GAB_MOST_STRATEGIES && protection->strategies[i]; i++)
    used = used || protection->strategies[i]->replacement != GAB_REPLACEMENT_NONE;
  if (used || gab_resilience_spares(config).count == 0) return GAB_OK;
  return gab_config_fail(
      config, "resilience.spares.count",
      "no strategy of resilience.strategies calls spare processes: `spare' is missing there");
}

gab_status gab_resilience_check_spares(const gab_config *config, const gab_world *world)
{
  const gab_spares_asked asked = gab_resilience_spares(config);
  const char *each = asked.per_node ? "/node" : "";
  const int32_t have = asked.per_node ? gab_world_spares_per_node(world) : gab_world_spares(world);
  if (have >= asked.count) return GAB_OK;
  if (gab_launch_attempt() > 0) { /* the remaining nodes have no places for more */
    gab_log(GAB_LOG_WARNING, "continuing with %" PRId32 "%s of %" PRId32 "%s spare processes", have, each,
            asked.count, each);
    return GAB_OK;
  }
  return gab_config_fail(config, "resilience.spares.count",
                         "this job has %" PRId32 "%s spare processes instead of %" PRId32
                         "%s: start it by `gabion-launch "
                         "-n %" GAB_PRI_RANK " --spares %" PRId32 "%s -- PROGRAM ...'",
                         have, each, asked.count, each, gab_world_members(world)->ranks, asked.count, each);
}

static gab_status read_injection(const gab_config *config, size_t index, gab_fault_injection *injection)
{
  char path[GAB_CONFIG_PATH_CAPACITY], item[GAB_CONFIG_PATH_CAPACITY];
  gab_config_path(item, "faults.%zu", index);
  *injection = (gab_fault_injection){
      .step = gab_config_int(config, gab_config_path(path, "faults.%zu.step", index)),
      .visit = (int)gab_config_int(config, gab_config_path(path, "faults.%zu.visit", index)),
      .incarnation =
          (gab_incarnation)gab_config_int(config, gab_config_path(path, "faults.%zu.incarnation", index)),
      .seed = (uint64_t)gab_config_int(config, gab_config_path(path, "faults.%zu.seed", index)),
      .random = (int)gab_config_int(config, gab_config_path(path, "faults.%zu.random", index)),
      .stopped = gab_config_real(config, gab_config_path(path, "faults.%zu.stopped", index))};
  injection->point =
      gab_fault_point_from_name(gab_config_string(config, gab_config_path(path, "faults.%zu.phase", index)));
  injection->flips = gab_config_is_set(config, gab_config_path(path, "faults.%zu.flip", index));
  if (injection->flips) injection->bit = (uint64_t)gab_config_int(config, path);
  injection->once = gab_config_is_set(config, gab_config_path(path, "faults.%zu.attempt", index));
  if (injection->once) injection->attempt = (int)gab_config_int(config, path);
  size_t count;
  const int64_t *ranks = gab_config_ints(config, gab_config_path(path, "faults.%zu.ranks", index), &count);
  for (size_t i = 0; i < count; i++) {
    for (size_t k = 0; k < i; k++)
      if (ranks[k] == ranks[i]) return gab_config_fail(config, path, "has rank %" PRId64 " twice", ranks[i]);
    injection->ranks[injection->rank_count++] = (gab_rank)ranks[i];
  }
  if (injection->rank_count == 0 && injection->random == 0)
    return gab_config_fail(config, item, "a fault injection needs either ranks or random");
  return GAB_OK;
}

gab_status gab_resilience_redundancy(const gab_config *config, gab_redundancy *redundancy)
{
  *redundancy = (gab_redundancy){.copies = (int)gab_config_int(config, "resilience.copies"),
                                 .group = (int)gab_config_int(config, "resilience.group"),
                                 .losses = (int)gab_config_int(config, "resilience.losses"),
                                 .separate = read_domain(config, "resilience.separate"),
                                 .within = read_domain(config, "resilience.within"),
                                 .domains_file = gab_config_string(config, "resilience.domains")};
  redundancy->scheme = gab_scheme_by_name(gab_config_string(config, "resilience.scheme"));
  if (!redundancy->scheme) return blame(config, "resilience.scheme");
  gab_members one;
  gab_placement placement;
  gab_members_init(&one, 1);
  gab_placement_init(&placement);
  gab_status status = gab_placement_make(&placement, redundancy, &one, NULL);
  gab_placement_release(&placement);
  gab_members_release(&one);
  return status == GAB_ERR_ARGUMENT ? blame(config, "resilience.group") : status;
}

/* Names that the program does not know would be monitors that never look. */
static gab_status check_monitors(const gab_config *config, gab_monitor_list monitors)
{
  size_t count = 0;
  const char *const *names = NULL;
  if (gab_config_is_set(config, "resilience.monitors"))
    names = gab_config_strings(config, "resilience.monitors", &count);
  for (size_t i = 0; i < count; i++) {
    if (!gab_monitor_find(monitors, names[i])) return blame(config, "resilience.monitors");
  }
  return GAB_OK;
}

/* After check_monitors(). */
static gab_status add_monitors(gab_timeloop *loop, const gab_config *config,
                               const gab_resilience_context *context)
{
  size_t count = 0;
  const char *const *names = NULL;
  if (gab_config_is_set(config, "resilience.monitors"))
    names = gab_config_strings(config, "resilience.monitors", &count);
  for (size_t i = 0; i < count; i++)
    GAB_TRY(gab_monitor_find(context->monitors, names[i])->add(context->monitor_user, loop));
  return GAB_OK;
}

static gab_status read_compression(const gab_config *config, gab_protection *protection)
{
  const char *name = gab_config_string(config, "resilience.memory.compression");
  while (strcmp(name, gab_compression_name(protection->compression)) != 0) protection->compression++;
  const gab_codec codec = gab_codec_from_name(name);
  if (codec < GAB_CODEC_COUNT && !gab_codec_is_built(codec))
    return gab_config_fail(config, "resilience.memory.compression",
                           "'%s' is not part of this build (it needs Blosc)", name);
  return GAB_OK;
}

static gab_within_node read_within_node(const gab_config *config)
{
  gab_within_node way = GAB_WITHIN_NODE_COPY;
  while (strcmp(gab_config_string(config, "resilience.memory.within_node"), gab_within_node_name(way)) != 0)
    way++;
  return way;
}

static gab_status read_disk(const gab_config *config, gab_protection *protection)
{
  double mtbf =
      gab_config_is_set(config, "resilience.disk.mtbf") ? gab_config_real(config, "resilience.disk.mtbf") : 0;
  protection->disk.group = (int)gab_config_int(config, "resilience.disk.group");
  protection->disk.keep = (int)gab_config_int(config, "resilience.disk.keep");
  if (gab_interval_parse(gab_config_string(config, "resilience.disk.every"), mtbf, &protection->disk_every) !=
      GAB_OK)
    return blame(config, "resilience.disk.every");
  return GAB_OK;
}

static gab_status read_clusters(const gab_config *config, gab_protection *protection)
{
  const char *text = gab_config_string(config, "resilience.local.clusters");
  gab_division division;
  if (gab_division_parse(text, &division) != GAB_OK) return blame(config, "resilience.local.clusters");
  if (division.kind == GAB_DIVISION_RANK) return GAB_OK;
  if (!gab_strategies_local(protection->strategies))
    return gab_config_fail(config, "resilience.local.clusters",
                           "has a meaning with strategy 'local' in resilience.strategies only");
  if (division.kind == GAB_DIVISION_NODE && protection->redundancy.separate == GAB_DOMAIN_NONE &&
      protection->redundancy.within <= GAB_DOMAIN_NONE)
    return gab_config_fail(config, "resilience.local.clusters",
                           "resilience.separate: none ignores which processes share a node");
  protection->local_clusters = text;
  return GAB_OK;
}

static gab_status read_local(const gab_config *config, gab_protection *protection)
{
  static const char *const paths[] = {"resilience.local.log_limit", "resilience.local.verify",
                                      "resilience.local.commit_wait", "resilience.local.own_every"};
  GAB_TRY(read_clusters(config, protection));
  for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++)
    if (gab_config_is_set(config, paths[i]) && !gab_strategies_local(protection->strategies))
      return gab_config_fail(config, paths[i],
                             "has a meaning with strategy 'local' in resilience.strategies only");
  protection->own_every = gab_config_int(config, paths[3]);
  if (gab_config_is_set(config, paths[0])) protection->log_limit = gab_config_real(config, paths[0]);
  if (gab_config_is_set(config, paths[1]))
    protection->verify = gab_config_bool(config, paths[1]) ? GAB_VERIFY_ALWAYS : GAB_VERIFY_NEVER;
  if (gab_config_is_set(config, paths[2])) {
    protection->commit_wait = gab_config_real(config, paths[2]);
    if (protection->commit_wait == 0) protection->commit_wait = -1;
  }
  return GAB_OK;
}

static gab_status read_scrub(const gab_config *config, gab_protection *protection)
{
  gab_interval scrub;
  if (gab_interval_parse(gab_config_string(config, "resilience.scrub"), 0, &scrub) != GAB_OK)
    return blame(config, "resilience.scrub");
  if (scrub.mode != GAB_INTERVAL_STEPS)
    return gab_config_fail(config, "resilience.scrub", "the interval must be a number of steps, or never");
  protection->scrub = scrub.steps;
  return GAB_OK;
}

/* Where monitors look, an older image is what is left if a bit of the newest one has changed. */
static int read_buffers(const gab_config *config)
{
  if (gab_config_is_set(config, "resilience.memory.buffers"))
    return (int)gab_config_int(config, "resilience.memory.buffers");
  return gab_config_is_set(config, "resilience.monitors") ? 2 : 0;
}

int gab_resilience_buffers(const gab_config *config, const gab_placement *placement)
{
  gab_protection protection = {.buffers = read_buffers(config)};
  gab_status status = read_strategies(config, &protection);
  if (status == GAB_OK) status = read_scrub(config, &protection);
  if (status == GAB_OK) status = read_disk(config, &protection);
  const gab_buffer_needs needs = {.asked = protection.buffers,
                                  .strategies = protection.strategies,
                                  .scrubs = protection.scrub > 0,
                                  .writes = protection.disk_every.mode != GAB_INTERVAL_STEPS ||
                                            protection.disk_every.steps > 0};
  return status == GAB_OK ? gab_buffers_needed(&needs, placement) : 2;
}

bool gab_resilience_shares(const gab_config *config)
{
  return read_within_node(config) == GAB_WITHIN_NODE_SHARE &&
         strcmp(gab_config_string(config, "resilience.memory.compression"), "none") == 0;
}

bool gab_resilience_logs(const gab_config *config, double *limit, bool *clusters, gab_step *own_every)
{
  gab_protection protection = {0};
  *limit = 0;
  *clusters = false;
  *own_every = 0;
  if (read_strategies(config, &protection) != GAB_OK || read_local(config, &protection) != GAB_OK)
    return false;
  *limit = protection.log_limit;
  *clusters = protection.local_clusters != NULL;
  *own_every = protection.own_every;
  return gab_strategies_local(protection.strategies) != NULL;
}

static gab_overlap_mode read_overlap(const gab_config *config)
{
  const char *text = gab_config_string(config, "resilience.memory.overlap");
  if (strcmp(text, "auto") == 0) return GAB_OVERLAP_AUTO;
  return strcmp(text, "true") == 0 ? GAB_OVERLAP_ALWAYS : GAB_OVERLAP_NEVER;
}

static gab_status read_protection(const gab_config *config, gab_monitor_list monitors,
                                  gab_protection *protection)
{
  GAB_TRY(read_strategies(config, protection));
  GAB_TRY(check_spares(config, protection));
  GAB_TRY(gab_resilience_redundancy(config, &protection->redundancy));
  GAB_TRY(read_scrub(config, protection));
  protection->overlap = read_overlap(config);
  protection->tries = (int)gab_config_int(config, "resilience.tries");
  if (gab_config_is_set(config, "resilience.fence_wait"))
    protection->fence_wait = gab_config_real(config, "resilience.fence_wait");
  double mtbf = gab_config_is_set(config, "resilience.mtbf") ? gab_config_real(config, "resilience.mtbf") : 0;
  if (gab_interval_parse(gab_config_string(config, "resilience.memory.every"), mtbf, &protection->every) !=
      GAB_OK)
    return blame(config, "resilience.memory.every");
  GAB_TRY(check_monitors(config, monitors));
  GAB_TRY(read_compression(config, protection));
  protection->within_node = read_within_node(config);
  protection->buffers = read_buffers(config);
  GAB_TRY(read_disk(config, protection));
  GAB_TRY(read_local(config, protection));
  const gab_local_recovery *local = gab_strategies_local(protection->strategies);
  return !local || local->check(protection) == GAB_OK ? GAB_OK : blame(config, "resilience.strategies");
}

gab_status gab_resilience_check(const gab_config *config, gab_monitor_list monitors)
{
  gab_protection protection = {0};
  gab_fault_injection injection;
  GAB_TRY(read_protection(config, monitors, &protection));
  for (size_t i = 0; i < gab_config_count(config, "faults"); i++)
    GAB_TRY(read_injection(config, i, &injection));
  return GAB_OK;
}

/* The fault injection of a number, those of the file first. */
static gab_status nth_injection(const gab_config *config, const char *const *inject, size_t index,
                                gab_fault_injection *injection)
{
  const size_t in_file = gab_config_count(config, "faults");
  return index < in_file ? read_injection(config, index, injection)
                         : gab_fault_injection_parse(inject[index - in_file], injection);
}

/* What is wrong with a fault injection, with its place. */
static gab_status blame_injection(const gab_config *config, const char *const *inject, size_t index)
{
  const size_t in_file = gab_config_count(config, "faults");
  char item[GAB_CONFIG_PATH_CAPACITY], message[1024];
  if (index < in_file) return blame(config, gab_config_path(item, "faults.%zu", index));
  snprintf(message, sizeof message, "%s", gab_error_message());
  GAB_FAIL(GAB_ERR_INPUT, "--inject %s: %s", inject[index - in_file], message);
}

gab_status gab_resilience_check_ranks(const gab_config *config, const char *const *inject,
                                      size_t inject_count, int32_t ranks, int32_t spares)
{
  const char *file = gab_config_string(config, "resilience.domains");
  gab_domains *domains = NULL;
  gab_fault_injection injection;
  for (size_t i = 0; i < gab_config_count(config, "faults") + inject_count; i++) {
    GAB_TRY(nth_injection(config, inject, i, &injection));
    if (gab_fault_injection_is_over(&injection)) continue;
    if (gab_fault_injection_check(&injection, ranks) != GAB_OK) return blame_injection(config, inject, i);
  }
  if (gab_division_check(gab_config_string(config, "resilience.local.clusters"), ranks, spares) != GAB_OK)
    return blame(config, "resilience.local.clusters");
  if (!file[0]) return GAB_OK;
  gab_status status = gab_domains_load(file, ranks, spares, &domains);
  gab_domains_destroy(&domains);
  return status == GAB_ERR_INPUT ? blame(config, "resilience.domains") : status;
}

/* A file that names processes, under that key. */
static gab_status check_names(const gab_config *config, const char *key, const char *file, int32_t most)
{
  int32_t ranks = 0;
  const gab_status status = gab_domains_count(file, &ranks);
  if (status == GAB_ERR_INPUT) return blame(config, key);
  if (status == GAB_OK && ranks > most)
    return gab_config_fail(config, key,
                           "%s is for %" PRId32 " processes, but there are blocks for %" PRId32 " only", file,
                           ranks, most);
  return status;
}

static gab_status check_clusters(const gab_config *config, int32_t most)
{
  static const char key[] = "resilience.local.clusters";
  const char *text = gab_config_string(config, key);
  gab_division division;
  if (gab_division_parse(text, &division) != GAB_OK) return blame(config, key);
  if (division.kind == GAB_DIVISION_NUMBER && gab_division_check(text, most, 0) != GAB_OK)
    return blame(config, key);
  return division.kind == GAB_DIVISION_FILE ? check_names(config, key, text, most) : GAB_OK;
}

gab_status gab_resilience_check_any_ranks(const gab_config *config, const char *const *inject,
                                          size_t inject_count, int32_t most)
{
  const char *file = gab_config_string(config, "resilience.domains");
  gab_fault_injection injection;
  for (size_t i = 0; i < gab_config_count(config, "faults") + inject_count; i++) {
    GAB_TRY(nth_injection(config, inject, i, &injection));
    if (gab_fault_injection_check(&injection, most) == GAB_OK) continue;
    (void)blame_injection(config, inject, i);
    gab_log(GAB_LOG_WARNING, "%s, on any number of processes that these blocks allow", gab_error_message());
  }
  GAB_TRY(check_clusters(config, most));
  return file[0] ? check_names(config, "resilience.domains", file, most) : GAB_OK;
}

/* Wall time counts from the start of the launcher, which a restart of the run does not move. */
static double deadline_after(double walltime)
{
  if (walltime <= 0) return 0;
  const char *started = getenv("GABION_STARTED");
  const double start = started ? strtod(started, NULL) : 0;
  return (start > 0 ? start : gab_seconds_since_1970()) + walltime;
}

static bool begins_with(const unsigned char *line, size_t length, const char *key)
{
  return length > strlen(key) && memcmp(line, key, strlen(key)) == 0 && line[strlen(key)] == ' ';
}

gab_status gab_resilience_state_text(const gab_config *config, gab_buffer *text)
{
  gab_buffer all = {0};
  gab_status status = gab_config_canonical_state(config, &all);
  for (size_t start = 0; start < all.size && status == GAB_OK;) {
    const unsigned char *line = all.data + start, *end = memchr(line, '\n', all.size - start);
    size_t length = end ? (size_t)(end - line) + 1 : all.size - start;
    if (!begins_with(line, length, "run.steps") && !begins_with(line, length, "run.time"))
      status = gab_put_bytes(text, line, length);
    start += length;
  }
  gab_buffer_release(&all);
  return status;
}

/* What stays alive while the protection is turned on: fault injections, and the texts of checkpoints on disk. */
typedef struct material {
  gab_fault_injection *injections;
  char checkpoints[1100];
  gab_buffer state, parameters;
} material;

static gab_status gather_injections(const gab_config *config, const gab_resilience_context *context,
                                    gab_protection *protection, material *have)
{
  size_t in_file = gab_config_count(config, "faults");
  GAB_TRY(GAB_NEW_ARRAY(&have->injections, in_file + context->inject_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < in_file; i++) GAB_TRY(read_injection(config, i, &have->injections[i]));
  for (size_t i = 0; i < context->inject_count; i++)
    GAB_TRY(gab_fault_injection_parse(context->inject[i], &have->injections[in_file + i]));
  protection->injections = have->injections;
  protection->injection_count = in_file + context->inject_count;
  return GAB_OK;
}

static gab_status gather_disk(const gab_config *config, const gab_resilience_context *context,
                              gab_protection *protection, material *have)
{
  if (!context->folder) return GAB_OK;
  if (snprintf(have->checkpoints, sizeof have->checkpoints, "%s/checkpoints", context->folder) >=
      (int)sizeof have->checkpoints)
    GAB_FAIL(GAB_ERR_INPUT, "the name of folder %.80s… is too long", context->folder);
  GAB_TRY(gab_resilience_state_text(config, &have->state));
  GAB_TRY(gab_config_canonical(config, &have->parameters));
  GAB_TRY(gab_put_u8(&have->state, 0));
  GAB_TRY(gab_put_u8(&have->parameters, 0));
  protection->disk.folder = have->checkpoints;
  protection->disk.state = (const char *)have->state.data;
  protection->disk.parameters = (const char *)have->parameters.data;
  return GAB_OK;
}

gab_status gab_resilience_protect(gab_timeloop *loop, const gab_config *config,
                                  const gab_resilience_context *context)
{
  gab_protection protection = {.folder = context->folder,
                               .lock = context->lock,
                               .deadline = deadline_after(context->walltime),
                               .node_memory = getenv("GABION_NODE_MEMORY")};
  material have = {0};
  GAB_TRY(read_protection(config, context->monitors, &protection));
  GAB_TRY(add_monitors(loop, config, context));
  if (gab_config_bool(config, "resilience.rebalance")) {
    protection.rebalance = context->rebalance;
    protection.rebalance_user = context->rebalance_user;
  }
  gab_status status = gather_injections(config, context, &protection, &have);
  if (status == GAB_OK) status = gather_disk(config, context, &protection, &have);
  if (status == GAB_OK) status = gab_timeloop_protect(loop, &protection);
  gab_buffer_release(&have.state);
  gab_buffer_release(&have.parameters);
  gab_free(&have.injections);
  return status;
}
