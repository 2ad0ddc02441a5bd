/* A plan for people and for programs. */
#include "apps/driver/plan.h"

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
  fprintf(out, " %s sent, %.3g s at", bytes_text(numbers->wire.most, text), numbers->cost);
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

void plan_print(const run_case *which, const plan_numbers *numbers, FILE *out)
{
  char text[24];
  fprintf(out, "%s on %" PRId32 " process%s, blocks by %s, copies by %s\n", gab_config_name(which->config),
          numbers->slots, numbers->slots == 1 ? "" : "es", numbers->strategy->name,
          numbers->placement.scheme->name);
  print_levels(numbers, out);
  if (which->refinement.max_level > 0 && which->refinement.every > 0)
    fprintf(out, "  that is the grid of the start; it adapts to the flow every %" GAB_PRI_STEP " steps\n",
            which->refinement.every);
  fprintf(out, "  %-40s %10s %10s %10s\n", "per process", "least", "mean", "most");
  print_bytes(out, "populations", &numbers->state);
  print_bytes(out, "kept of others, each snapshot", &numbers->held);
  print_bytes(out, "populations and two snapshots", &numbers->memory);
  if (numbers->peak > 0)
    fprintf(out, "  %-40s %10s %10s %10s\n", "the same, recovering from one death", "", "",
            bytes_text(numbers->peak, text));
  else fprintf(out, "  %-40s\n", "no death is survived");
  fprintf(out, "  %-40s %10.0f %10.2f %10.0f\n", "processes that it exchanges with", numbers->partners.least,
          numbers->partners.mean, numbers->partners.most);
  print_bytes(out, "sent in a step of level 0", &numbers->sent);
  print_checkpoint(numbers, out);
  if (numbers->memory_given > 0) print_fewest(numbers, out);
  fprintf(out, "  planned in %.2f s with %s of proxies\n", numbers->planning_seconds,
          bytes_text((double)numbers->proxy_bytes, text));
}

/* ---------------------------------------------------------------- for programs */

static void json_text(FILE *out, const char *name, const char *text)
{
  fprintf(out, "  \"%s\": \"", name);
  for (const char *c = text; *c; c++) {
    if (*c == '"' || *c == '\\') fprintf(out, "\\%c", *c);
    else if ((unsigned char)*c < 32) fprintf(out, "\\u%04x", (unsigned)(unsigned char)*c);
    else fputc(*c, out);
  }
  fprintf(out, "\",\n");
}

static void json_spread(FILE *out, const char *name, const plan_spread *spread)
{
  fprintf(out, "\"%s\": {\"least\": %.17g, \"mean\": %.17g, \"most\": %.17g}", name, spread->least,
          spread->mean, spread->most);
}

static void json_share(FILE *out, const plan_spread *blocks, uint64_t count, uint64_t weight,
                       double imbalance)
{
  fprintf(out, "\"blocks\": %" PRIu64 ", \"weight\": %" PRIu64 ", \"imbalance\": %.17g, ", count, weight,
          imbalance);
  json_spread(out, "blocks_per_process", blocks);
}

static void json_levels(const plan_numbers *numbers, FILE *out)
{
  fprintf(out, "  \"levels\": [");
  for (int l = 0; l < numbers->balance.levels; l++) {
    const gab_balance_share *share = &numbers->balance.level[l];
    fprintf(out, "%s\n    {\"level\": %d, ", l ? "," : "", l);
    json_share(out, &numbers->blocks[l], share->blocks, share->weight_total, share->imbalance);
    fprintf(out, "}");
  }
  fprintf(out, "\n  ],\n  \"all\": {");
  json_share(out, &numbers->blocks[ALL], numbers->balance.blocks, numbers->balance.weight_total,
             numbers->balance.imbalance);
  fprintf(out, "},\n");
}

static void json_number(FILE *out, const char *name, double value, const char *end)
{
  if (value > 0) fprintf(out, "  \"%s\": %.17g%s\n", name, value, end);
  else fprintf(out, "  \"%s\": null%s\n", name, end);
}

void plan_print_json(const run_case *which, const plan_numbers *numbers, FILE *out)
{
  const struct {
    const char *name;
    const plan_spread *spread;
  } spreads[] = {{"state_bytes", &numbers->state},    {"memory_bytes", &numbers->memory},
                 {"redundant_bytes", &numbers->held}, {"sent_bytes_per_checkpoint", &numbers->wire},
                 {"partners", &numbers->partners},    {"sent_bytes_per_step", &numbers->sent}};
  fprintf(out, "{\n");
  json_text(out, "case", gab_config_name(which->config));
  fprintf(out, "  \"processes\": %" PRId32 ",\n", numbers->slots);
  json_text(out, "strategy", numbers->strategy->name);
  json_text(out, "scheme", numbers->placement.scheme->name);
  char sentence[512];
  fprintf(out, "  \"copies\": %d,\n", gab_placement_copies(&numbers->placement));
  json_text(out, "redundancy", gab_placement_describe(&numbers->placement, sentence, sizeof sentence));
  gab_placement_costs costs = gab_placement_get_costs(&numbers->placement, 1);
  fprintf(out, "  \"any_losses\": %d,\n  \"any_domain\": %s,\n", costs.any_losses,
          costs.any_domain ? "true" : "false");
  json_levels(numbers, out);
  for (size_t i = 0; i < sizeof spreads / sizeof spreads[0]; i++) {
    fprintf(out, "  ");
    json_spread(out, spreads[i].name, spreads[i].spread);
    fprintf(out, ",\n");
  }
  json_number(out, "recovery_peak_bytes", numbers->peak, ",");
  if (numbers->memory_given > 0) {
    json_number(out, "fewest_processes", numbers->fewest, ",");
    json_number(out, "fewest_processes_at_peak", numbers->fewest_at_peak, ",");
  }
  json_number(out, "checkpoint_bytes", numbers->image, ",");
  json_number(out, "bandwidth", numbers->bandwidth, ",");
  fprintf(out, "  \"bandwidth_measured\": %s,\n", numbers->is_measured ? "true" : "false");
  json_number(out, "checkpoint_seconds", numbers->cost, ",");
  json_number(out, "mtbf_seconds", numbers->mtbf, ",");
  json_number(out, "interval_seconds", numbers->interval, ",");
  json_number(out, "step_seconds", numbers->step_seconds, ",");
  json_number(out, "planning_seconds", numbers->planning_seconds, ",");
  fprintf(out, "  \"proxy_bytes\": %zu\n}\n", numbers->proxy_bytes);
}
