/* SPDX-License-Identifier: Apache-2.0 */
/* Prints a plan as text or as JSON. */
#include "apps/driver/plan/plan.h"

#include <math.h>
#include <string.h>

enum { ALL = GAB_BALANCE_LEVELS };

/* ---------------------------------------------------------------- for people */

static const char *bytes_text(double bytes, char text[24])
{
  static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
  int unit = 0;
  for (; bytes >= 999.5 && unit < 5; unit++) bytes /= 1000;
  snprintf(text, 24, "%.3g %s", bytes, units[unit]);
  return text;
}

static void print_bytes(FILE *out, const char *what, const plan_spread *spread)
{
  char text[3][24];
  fprintf(out, "  %-40s %10s %10s %10s\n", what, bytes_text(spread->least, text[0]),
          bytes_text(spread->mean, text[1]), bytes_text(spread->most, text[2]));
}

static void print_levels(const plan_numbers *numbers, FILE *out)
{
  fprintf(out, "  %-8s %12s %14s %28s %10s\n", "level", "blocks", "weight", "blocks per process",
          "imbalance");
  fprintf(out, "  %-8s %12s %14s %8s %9s %9s\n", "", "", "", "least", "mean", "most");
  for (int l = 0; l < numbers->balance.levels; l++) {
    const gab_balance_share *share = &numbers->balance.level[l];
    const plan_spread *blocks = &numbers->blocks[l];
    fprintf(out, "  %-8d %12" PRIu64 " %14" PRIu64 " %8.0f %9.2f %9.0f %10.3f\n", l, share->blocks,
            share->weight_total, blocks->least, blocks->mean, blocks->most, share->imbalance);
  }
  const plan_spread *all = &numbers->blocks[ALL];
  fprintf(out, "  %-8s %12" PRIu64 " %14" PRIu64 " %8.0f %9.2f %9.0f %10.3f\n", "all",
          numbers->balance.blocks, numbers->balance.weight_total, all->least, all->mean, all->most,
          numbers->balance.imbalance);
}

static void print_checkpoint(const plan_numbers *numbers, FILE *out)
{
  char text[24];
  char sentence[512];
  fprintf(out, "  %s\n", gab_placement_describe(&numbers->placement, sentence, sizeof sentence));
  if (gab_placement_warning(&numbers->placement, &numbers->redundancy, sentence, sizeof sentence))
    fprintf(out, "  warning: %s\n", sentence);
  fprintf(out, "  checkpoint: an image of %s,", bytes_text(numbers->image, text));
  fprintf(out, " %s sent, %.3g s at", bytes_text(numbers->network.most, text), numbers->cost);
  fprintf(out, " %s/s (%s)\n", bytes_text(numbers->bandwidth, text),
          numbers->is_measured ? "memory copy, measured here" : "given");
  if (!(numbers->interval > 0)) {
    fprintf(out, "  interval: unknown without the mean time between failures (--mtbf, resilience.mtbf)\n");
    return;
  }
  fprintf(out, "  interval: one every %.4g s for a failure every %.4g s, %.2g %% of the time",
          numbers->interval, numbers->mtbf, 100 * numbers->cost / numbers->interval);
  if (numbers->step_seconds > 0)
    fprintf(out, "; %.0f steps of %.3g s", numbers->interval / numbers->step_seconds, numbers->step_seconds);
  fprintf(out, "\n");
}

static const char *processes_text(int32_t processes, char text[24])
{
  if (processes == 0) snprintf(text, 24, "no number of them");
  else snprintf(text, 24, "%" PRId32 " process%s", processes, processes == 1 ? "" : "es");
  return text;
}

static void print_fewest(const plan_numbers *numbers, FILE *out)
{
  char text[3][24];
  fprintf(out, "  with %s each: %s would hold it, %s would survive a death\n",
          bytes_text(numbers->memory_given, text[0]), processes_text(numbers->fewest, text[1]),
          processes_text(numbers->fewest_at_peak, text[2]));
}

static void print_spares(const plan_numbers *numbers, FILE *out)
{
  char text[24];
  if (numbers->spares.count == 0) return;
  fprintf(out,
          "  spares: %" PRId32
          "%s; one that is idle holds no blocks, once called %s; nobody has to adopt blocks then\n",
          numbers->spares.count, numbers->spares.per_node ? " on each node" : "",
          bytes_text(numbers->memory.most, text));
  if (numbers->all_processes > 0)
    fprintf(out, "  processes to be started: %" PRId32 "\n", numbers->all_processes);
  else fprintf(out, "  processes to be started: unknown without the processes of a node (--per-node)\n");
}

/* Steps until the log of the process that sends most reaches `images` times the largest image. */
static double steps_to_log(const plan_numbers *numbers, double images)
{
  return images * numbers->image / numbers->sent.most;
}

/* Messages of a step are logged, as a copy or as the buffer itself, for at most three checkpoint intervals
 * (resilience/local/local_limit.c); so are sums over all processes, which are not counted. */
static void print_log(const plan_numbers *numbers, FILE *out)
{
  if (numbers->wants_local && !numbers->logs)
    fprintf(out, "  strategy local will not be in force: the program has its own communicators, its "
                 "faults are global\n");
  if (!numbers->logs || !(numbers->sent.most > 0)) return;
  print_bytes(out, numbers->logs_less ? "logged in it, if between clusters" : "logged in it", &numbers->sent);
  fprintf(out,
          "  log of local recovery: as much as the state after %.0f steps%s; kept for up to three intervals",
          steps_to_log(numbers, 1), numbers->logs_less ? " or more (--clusters says how many)" : "");
  if (numbers->log_limit > 0)
    fprintf(out, ", so a checkpoint comes every %.0f steps at the latest (log_limit %g)",
            fmax(1, floor(steps_to_log(numbers, numbers->log_limit) / 3)), numbers->log_limit);
  fprintf(out, "\n");
  if (numbers->own_every == 0) return;
  char log[24], image[24];
  fprintf(
      out,
      "  checkpoints of clusters every %" GAB_PRI_STEP
      " steps: the log is kept for up to three of these intervals, %s, and so much lies in each image of %s besides; "
      "up to four images of a process, instead of two, are kept by itself and by its holder\n",
      numbers->own_every, bytes_text(3 * (double)numbers->own_every * numbers->sent.most, log),
      bytes_text(numbers->image, image));
}

void gab_app_plan_print(const gab_app_case *which, const plan_numbers *numbers, FILE *out)
{
  char text[24], what[64];
  fprintf(out, "%s on %" PRId32 " process%s, blocks by %s, copies by %s\n", gab_config_name(which->config),
          numbers->ranks, numbers->ranks == 1 ? "" : "es", numbers->strategy->name,
          numbers->placement.scheme->name);
  print_levels(numbers, out);
  if (numbers->adapts_every > 0)
    fprintf(out, "  that is the grid of the start; it adapts every %" GAB_PRI_STEP " steps\n",
            numbers->adapts_every);
  fprintf(out, "  %-40s %10s %10s %10s\n", "per process", "least", "mean", "most");
  print_bytes(out, numbers->fields, &numbers->state);
  print_bytes(out, "kept of others, each snapshot", &numbers->held);
  if (numbers->shares) print_bytes(out, "of it in the memory of these others", &numbers->seen);
  snprintf(what, sizeof what, "%s and %s", numbers->fields,
           numbers->buffers == 1 ? "a snapshot" : "two snapshots");
  print_bytes(out, what, &numbers->memory);
  if (numbers->peak > 0)
    fprintf(out, "  %-40s %10s %10s %10s\n", "the same, recovering from one death", "", "",
            bytes_text(numbers->peak, text));
  else fprintf(out, "  %-40s\n", "no death is survived");
  fprintf(out, "  %-40s %10.0f %10.2f %10.0f\n", "processes that it exchanges with", numbers->partners.least,
          numbers->partners.mean, numbers->partners.most);
  print_bytes(out, "sent in a step of level 0", &numbers->sent);
  fprintf(out, "  %-40s %10.0f %10.2f %10.0f\n", "messages of it", numbers->messages.least,
          numbers->messages.mean, numbers->messages.most);
  print_log(numbers, out);
  print_checkpoint(numbers, out);
  print_spares(numbers, out);
  if (numbers->memory_given > 0) print_fewest(numbers, out);
  if (numbers->clusters.count > 0) gab_app_plan_clusters_print(&numbers->clusters, out);
  fprintf(out, "  planned in %.2f s with %s of proxies\n", numbers->planning_seconds,
          bytes_text((double)numbers->proxy_bytes, text));
}

/* ---------------------------------------------------------------- for programs */

static void put_spread(gab_json *json, const char *name, const plan_spread *spread)
{
  gab_json_object(json, name);
  gab_json_real(json, "least", spread->least);
  gab_json_real(json, "mean", spread->mean);
  gab_json_real(json, "most", spread->most);
  gab_json_close(json);
}

static void put_share(gab_json *json, const plan_spread *blocks, uint64_t count, uint64_t weight,
                      double imbalance)
{
  gab_json_uint(json, "blocks", count);
  gab_json_uint(json, "weight", weight);
  gab_json_real(json, "imbalance", imbalance);
  put_spread(json, "blocks_per_process", blocks);
}

static void put_levels(const plan_numbers *numbers, gab_json *json)
{
  gab_json_list(json, "levels");
  for (int l = 0; l < numbers->balance.levels; l++) {
    const gab_balance_share *share = &numbers->balance.level[l];
    gab_json_object(json, NULL);
    gab_json_int(json, "level", l);
    put_share(json, &numbers->blocks[l], share->blocks, share->weight_total, share->imbalance);
    gab_json_close(json);
  }
  gab_json_close(json);
  gab_json_object(json, "all");
  put_share(json, &numbers->blocks[ALL], numbers->balance.blocks, numbers->balance.weight_total,
            numbers->balance.imbalance);
  gab_json_close(json);
}

/* Omits 0, which means unknown. */
static void put_number(gab_json *json, const char *name, double value)
{
  if (value > 0) gab_json_real(json, name, value);
  else gab_json_null(json, name);
}

static void put_redundancy(const plan_numbers *numbers, gab_json *json)
{
  char sentence[512];
  const gab_placement_costs costs = gab_placement_get_costs(&numbers->placement, 1);
  gab_json_text(json, "strategy", numbers->strategy->name);
  gab_json_text(json, "scheme", numbers->placement.scheme->name);
  gab_json_int(json, "copies", gab_placement_copies(&numbers->placement));
  gab_json_text(json, "redundancy", gab_placement_describe(&numbers->placement, sentence, sizeof sentence));
  gab_json_int(json, "any_losses", costs.any_losses);
  gab_json_bool(json, "any_domain", costs.any_domain);
}

gab_status gab_app_plan_print_json(const gab_app_case *which, const plan_numbers *numbers, FILE *out)
{
  const struct {
    const char *name;
    const plan_spread *spread;
  } spreads[] = {{"state_bytes", &numbers->state},
                 {"memory_bytes", &numbers->memory},
                 {"redundant_bytes", &numbers->held},
                 {"shared_bytes", &numbers->seen},
                 {"sent_bytes_per_checkpoint", &numbers->network},
                 {"partners", &numbers->partners},
                 {"sent_bytes_per_step", &numbers->sent},
                 {"messages_per_step", &numbers->messages}};
  gab_buffer text = {0};
  gab_json *json = gab_json_begin(GAB_JSON_PAGE);
  gab_json_text(json, "case", gab_config_name(which->config));
  gab_json_int(json, "processes", numbers->ranks);
  gab_json_int(json, "spares", numbers->spares.count);
  gab_json_text(json, "spares_per", numbers->spares.per_node ? "node" : "run");
  put_number(json, "all_processes", numbers->all_processes);
  put_redundancy(numbers, json);
  put_levels(numbers, json);
  for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++)
    put_spread(json, spreads[i].name, spreads[i].spread);
  put_number(json, "recovery_peak_bytes", numbers->peak);
  if (numbers->memory_given > 0) {
    put_number(json, "fewest_processes", numbers->fewest);
    put_number(json, "fewest_processes_at_peak", numbers->fewest_at_peak);
  }
  put_number(json, "checkpoint_bytes", numbers->image);
  if (numbers->wants_local) gab_json_bool(json, "local_in_force", numbers->logs);
  if (numbers->logs && numbers->sent.most > 0) {
    put_number(json, "steps_to_log_the_state", steps_to_log(numbers, 1));
    put_number(json, "log_limit", numbers->log_limit);
    put_number(json, "own_every", (double)numbers->own_every);
  }
  put_number(json, "bandwidth", numbers->bandwidth);
  gab_json_bool(json, "bandwidth_measured", numbers->is_measured);
  put_number(json, "checkpoint_seconds", numbers->cost);
  put_number(json, "mtbf_seconds", numbers->mtbf);
  put_number(json, "interval_seconds", numbers->interval);
  put_number(json, "updates_per_step", numbers->updates);
  put_number(json, "step_seconds", numbers->step_seconds);
  put_number(json, "planning_seconds", numbers->planning_seconds);
  gab_json_uint(json, "proxy_bytes", numbers->proxy_bytes);
  if (numbers->clusters.count > 0) gab_app_plan_clusters_put(&numbers->clusters, json);
  gab_status status = gab_json_end(&json, &text);
  if (status == GAB_OK) fwrite(text.data, 1, text.size, out);
  gab_buffer_release(&text);
  return status;
}
