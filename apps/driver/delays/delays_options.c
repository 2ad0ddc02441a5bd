/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of gabion plan --delays: a table of options, from which help and parsing come. */
#include "apps/driver/delays/plan_delays.h"

#include "apps/driver/case/numbers.h"

#include <stdlib.h>
#include <string.h>

typedef gab_status (*take_fn)(delays_options *options, const char *name, const char *text);

/* How the value of an option is read. */
typedef enum option_kind { IS_REAL, IS_STEPS, IS_INT32, IS_WORD, IS_OTHER, IS_FLAG } option_kind;

typedef struct option_row {
  const char *name, *value, *doc;
  option_kind kind;
  size_t place;  /* in delays_options */
  double least;  /* of numbers */
  take_fn other; /* of IS_OTHER and IS_FLAG */
} option_row;

/* ---------------------------------------------------------------- values other than plain numbers */

static gab_status take_grid(delays_options *options, const char *name, const char *text)
{
  gab_neighbourhood *grid = &options->model.neighbourhood;
  const char *at = text;
  grid->dimension = 0;
  for (;;) {
    char *end;
    const long long count = strtoll(at, &end, 10);
    if (end == at || count < 1 || count > INT32_MAX || grid->dimension == 3) break;
    grid->extent[grid->dimension++] = (int32_t)count;
    if (*end == '\0') return GAB_OK;
    if (*end != 'x') break;
    at = end + 1;
  }
  GAB_FAIL(GAB_ERR_INPUT, "%s %s: processes along one to three axes, as 16x16x16", name, text);
}

static gab_status take_periodic(delays_options *options, const char *name, const char *text)
{
  (void)name;
  (void)text;
  for (int axis = 0; axis < 3; axis++) options->model.neighbourhood.periodic[axis] = true;
  return GAB_OK;
}

static gab_status take_form(delays_options *options, const char *name, const char *text)
{
  if (strcmp(text, "causal") == 0) options->model.form = GAB_DELAYS_CAUSAL;
  else if (strcmp(text, "printed") == 0) options->model.form = GAB_DELAYS_PRINTED;
  else GAB_FAIL(GAB_ERR_INPUT, "%s %s: causal or printed", name, text);
  return GAB_OK;
}

static gab_status take_drawn(delays_options *options, const char *name, const char *text)
{
  if (strcmp(text, "local") == 0) options->drawn = GAB_DELAYS_LOCAL;
  else if (strcmp(text, "global") == 0) options->drawn = GAB_DELAYS_GLOBAL;
  else if (strcmp(text, "none") == 0) options->drawn = GAB_DELAYS_UNDISTURBED;
  else GAB_FAIL(GAB_ERR_INPUT, "%s %s: local, global or none", name, text);
  return GAB_OK;
}

/* "1e-5,0.01%": a list of numbers from `least` to `most`; with a sign of per cent if that is allowed. */
static gab_status take_list(const char *name, const char *text, double least, double most, bool per_cent,
                            delays_values *values)
{
  for (const char *at = text;;) {
    char *end;
    double value = strtod(at, &end);
    bool is_good = end != at;
    if (per_cent && *end == '%') value /= 100, end++;
    is_good = is_good && value >= least && value <= most && (*end == ',' || *end == '\0');
    if (!is_good || values->count == DELAYS_MOST_VALUES)
      GAB_FAIL(GAB_ERR_INPUT, "%s %s: up to %d numbers from %g to %g with commas in between", name, text,
               DELAYS_MOST_VALUES, least, most);
    values->value[values->count++] = value;
    if (*end == '\0') return GAB_OK;
    at = end + 1;
  }
}

static gab_status take_rate(delays_options *options, const char *name, const char *text)
{
  return take_list(name, text, 0, 1, true, &options->rates);
}

static gab_status take_mtbf(delays_options *options, const char *name, const char *text)
{
  return take_list(name, text, 1e-9, 1e18, false, &options->mtbfs);
}

static gab_status take_mtbf_each(delays_options *options, const char *name, const char *text)
{
  options->mtbf_each = true;
  return take_mtbf(options, name, text);
}

static gab_status take_at(delays_options *options, const char *name, const char *text)
{
  return take_list(name, text, 0, 1e9, false, &options->at);
}

static gab_status take_fail(delays_options *options, const char *name, const char *text)
{
  char *colon, *end = NULL;
  const long long step = strtoll(text, &colon, 10);
  const long long process = colon != text && *colon == ':' ? strtoll(colon + 1, &end, 10) : -1;
  if (!end || end == colon + 1 || *end || step < 1 || process < 0 || process > INT32_MAX)
    GAB_FAIL(GAB_ERR_INPUT, "%s %s: a step from 1 and a process from 0, as 10:3", name, text);
  return gab_failures_add(&options->listed, step, (int32_t)process);
}

static gab_status take_reach(delays_options *options, const char *name, const char *text)
{
  if (strcmp(text, "centre") == 0) {
    options->reach = -2;
    return GAB_OK;
  }
  return gab_app_count_read(name, text, 0, INT32_MAX, &options->reach);
}

static gab_status take_spares(delays_options *options, const char *name, const char *text)
{
  return gab_app_count_read(name, text, 0, INT64_MAX, &options->model.spares);
}

static gab_status take_seed(delays_options *options, const char *name, const char *text)
{
  int64_t seed;
  GAB_TRY(gab_app_count_read(name, text, 0, INT64_MAX, &seed));
  options->model.seed = (uint64_t)seed;
  return GAB_OK;
}

static gab_status take_json(delays_options *options, const char *name, const char *text)
{
  (void)name;
  (void)text;
  options->common.json = true;
  return GAB_OK;
}

static gab_status take_help(delays_options *options, const char *name, const char *text)
{
  (void)name;
  (void)text;
  options->common.help = true;
  return GAB_OK;
}

static gab_status take_setting(delays_options *options, const char *name, const char *text)
{
  if (options->common.setting_count == GAB_APP_MOST_SETTINGS)
    GAB_FAIL(GAB_ERR_INPUT, "%s is given more than %d times", name, GAB_APP_MOST_SETTINGS);
  options->common.settings[options->common.setting_count++] = text;
  return GAB_OK;
}

/* ---------------------------------------------------------------- the table */

#define AT(member) offsetof(delays_options, member)

static const option_row rows[] = {
    {"--delays", NULL, "this command", IS_FLAG, 0, 0, NULL},
    {"--grid", "NxNxN", "a box of processes of 1 to 3 dimensions (default 16x16x16), instead of a case",
     IS_OTHER, 0, 0, take_grid},
    {"--neighbours", "N",
     "neighbours of an inner process: 2 in 1D; 4, 8 in 2D; 6, 18, 26 in 3D (default: the "
     "least)",
     IS_INT32, AT(model.neighbourhood.neighbours), 2, NULL},
    {"--periodic", NULL, "periodic box: a ring, a torus", IS_FLAG, 0, 0, take_periodic},
    {"-n", "PROCESSES", "processes of the case (default: its recommendation)", IS_STEPS, AT(ranks), 1, NULL},
    {"--set", "KEY=VALUE", "override the file of the case; may be repeated", IS_OTHER, 0, 0, take_setting},
    {"--steps", "N", "steps of a run (default 100)", IS_STEPS, AT(model.steps), 1, NULL},
    {"--t1", "TIME", "time of a step (default 1); unit of all times", IS_REAL, AT(model.step_time), 0, NULL},
    {"--t2", "TIME", "time of a step with a failure, recovery included (default 5)", IS_REAL,
     AT(model.failed_step_time), 0, NULL},
    {"--noise", "TIME", "maximum of the random time added to each step (default 0)", IS_REAL, AT(model.noise),
     0, NULL},
    {"--form", "NAME", "causal (default): a process waits for itself, too; printed: as the paper has it",
     IS_OTHER, 0, 0, take_form},
    {"--rate", "P,...", "probability that a process fails in a step, as 1e-5 or 0.001%", IS_OTHER, 0, 0,
     take_rate},
    {"--mtbf", "TIME,...", "mean time between failures of the whole run instead", IS_OTHER, 0, 0, take_mtbf},
    {"--mtbf-each", "TIME,...",
     "of each process (of each group with --group) instead; of N together the N-th part", IS_OTHER, 0, 0,
     take_mtbf_each},
    {"--fail", "STEP:PROCESS", "one failure; may be repeated", IS_OTHER, 0, 0, take_fail},
    {"--group", "N", "number of processes that fail together, as on a node", IS_INT32, AT(group), 1, NULL},
    {"--spares", "N", "spare processes; without one left, recovery is global (default: unlimited)", IS_OTHER,
     0, 0, take_spares},
    {"--ghost-depth", "N", "layers of ghost cells: an exchange every N steps (default 1)", IS_INT32,
     AT(model.ghost_depth), 1, NULL},
    {"--reduce-every", "N", "interval of global reductions in steps (default: never)", IS_STEPS,
     AT(model.reduce_every), 1, NULL},
    {"--checkpoint-every", "N", "steps between checkpoints (default: one at the start)", IS_STEPS,
     AT(model.checkpoint_every), 1, NULL},
    {"--checkpoint-time", "TIME", "time of each checkpoint (default 0)", IS_REAL, AT(model.checkpoint_time),
     0, NULL},
    {"--rework", "F",
     "steps since the last checkpoint are repeated, in F t1 each (default 0: included in "
     "t2)",
     IS_REAL, AT(model.rework), 0, NULL},
    {"--runs", "N", "number of runs to average (default 30 with random numbers)", IS_STEPS, AT(runs), 1,
     NULL},
    {"--seed", "N", "seed of random numbers (default 1)", IS_OTHER, 0, 0, take_seed},
    {"--reach", "PROCESS",
     "instead: processes that the delay of one failure reaches; `centre': the central one", IS_OTHER, 0, 0,
     take_reach},
    {"--at", "N,...", "steps reported by --reach", IS_OTHER, 0, 0, take_at},
    {"--picture", "FILE.png", "of the first run: processes against time, a line per step", IS_WORD,
     AT(picture), 0, NULL},
    {"--recovery", "NAME", "recovery in the picture: local (default), global, none", IS_OTHER, 0, 0,
     take_drawn},
    {"--csv", "FILE", "time of each process at the end, averaged over the runs", IS_WORD, AT(csv), 0, NULL},
    {"--json", NULL, "machine-readable", IS_FLAG, 0, 0, take_json},
    {"--help", NULL, "this text", IS_FLAG, 0, 0, take_help},
};
enum { ROW_COUNT = sizeof rows / sizeof rows[0] };

void gab_app_delays_options_print(FILE *out)
{
  for (int k = 1; k < ROW_COUNT; k++) {
    char words[48];
    snprintf(words, sizeof words, "%s%s%s", rows[k].name, rows[k].value ? " " : "",
             rows[k].value ? rows[k].value : "");
    fprintf(out, "  %-24s %s\n", words, rows[k].doc);
  }
}

/* ---------------------------------------------------------------- parsing */

static gab_status take_value(delays_options *options, const option_row *row, const char *text)
{
  char *place = (char *)options + row->place;
  int64_t count;
  switch (row->kind) {
  case IS_REAL:
    return gab_app_real_read(row->name, text, row->least, (double *)(void *)place);
  case IS_STEPS:
    return gab_app_count_read(row->name, text, (int64_t)row->least, (int64_t)1 << 53,
                              (int64_t *)(void *)place);
  case IS_INT32:
    GAB_TRY(gab_app_count_read(row->name, text, (int64_t)row->least, INT32_MAX, &count));
    *(int32_t *)(void *)place = (int32_t)count;
    return GAB_OK;
  case IS_WORD:
    *(const char **)(void *)place = text;
    return GAB_OK;
  case IS_FLAG:
  case IS_OTHER:
    break;
  }
  return row->other ? row->other(options, row->name, text) : GAB_OK;
}

static gab_status refuse(const char *word)
{
  const char *names[ROW_COUNT + 1];
  for (int k = 0; k < ROW_COUNT; k++) names[k] = rows[k].name;
  names[ROW_COUNT] = NULL;
  GAB_FAIL(GAB_ERR_INPUT, "unknown option '%s'; did you mean '%s'? (gabion plan --delays --help lists them)",
           word, gab_app_closest(word, names));
}

/* The row of `word`, its value behind a sign of equality if there is one. */
static const option_row *find_row(const char *word, const char **value)
{
  *value = NULL;
  if (strcmp(word, "-h") == 0) word = "--help";
  if (strcmp(word, "-s") == 0) word = "--set";
  for (int k = 0; k < ROW_COUNT; k++) {
    const size_t length = strlen(rows[k].name);
    if (strncmp(word, rows[k].name, length) != 0) continue;
    if (word[length] == '\0') return &rows[k];
    if (word[length] != '=' || rows[k].kind == IS_FLAG) continue;
    *value = word + length + 1;
    return &rows[k];
  }
  return NULL;
}

static gab_status take_words(int argc, char **argv, delays_options *options)
{
  for (int i = 0; i < argc; i++) {
    const char *value;
    if (argv[i][0] != '-') {
      if (options->common.word)
        GAB_FAIL(GAB_ERR_INPUT, "unexpected argument '%s' after '%s'", argv[i], options->common.word);
      options->common.word = argv[i];
      continue;
    }
    const option_row *row = find_row(argv[i], &value);
    if (!row) return refuse(argv[i]);
    if (row->kind != IS_FLAG && !value) {
      if (i + 1 == argc) GAB_FAIL(GAB_ERR_INPUT, "%s needs a value", row->name);
      value = argv[++i];
    }
    GAB_TRY(take_value(options, row, value));
  }
  return GAB_OK;
}

/* Checks combinations of options, and derives the others. */
static gab_status settle(delays_options *options)
{
  static const int least[] = {2, 4, 6};
  gab_neighbourhood *grid = &options->model.neighbourhood;
  if (options->common.word && (grid->dimension || grid->neighbours || grid->periodic[0]))
    GAB_FAIL(GAB_ERR_INPUT,
             "a case defines its neighbours: --grid, --neighbours and --periodic are for a box");
  if (!options->common.word && (options->ranks || options->common.setting_count))
    GAB_FAIL(GAB_ERR_INPUT, "-n and --set are of a case, and none is named");
  if (grid->dimension == 0) {
    grid->dimension = 3;
    for (int axis = 0; axis < 3; axis++) grid->extent[axis] = 16;
  }
  if (grid->neighbours == 0) grid->neighbours = least[grid->dimension - 1];
  const bool random = options->rates.count || options->mtbfs.count || options->model.noise > 0;
  if (options->runs == 0) options->runs = random ? 30 : 1;
  if (options->reach == -1 && !options->common.help &&
      options->rates.count + options->mtbfs.count + options->listed.count == 0)
    GAB_FAIL(GAB_ERR_INPUT, "no failures: give --rate, --mtbf, --mtbf-each, --fail or --reach");
  if (options->at.count && options->reach == -1) GAB_FAIL(GAB_ERR_INPUT, "--at is of --reach");
  gab_failures_put_in_order(&options->listed);
  return GAB_OK;
}

gab_status gab_app_delays_options_parse(int argc, char **argv, delays_options *options)
{
  *options = (delays_options){.reach = -1, .drawn = GAB_DELAYS_LOCAL};
  options->model =
      (gab_delay_model){.steps = 100, .step_time = 1, .failed_step_time = 5, .spares = -1, .seed = 1};
  GAB_TRY(take_words(argc, argv, options));
  return settle(options);
}

void gab_app_delays_options_release(delays_options *options) { gab_failures_release(&options->listed); }
