/* SPDX-License-Identifier: Apache-2.0 */
#include "phasefield/setup/phasefield_config.h"

#include "core/base/log.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void gab_phasefield_periodic_from_config(const gab_config *config, int dimension, bool periodic[3])
{
  const bool lateral = gab_config_choice_index(config, "phasefield.boundaries.lateral") == 0;
  for (int axis = 0; axis < 3; axis++) periodic[axis] = axis < dimension - 1 && lateral;
}

/* The same status at another place in the file. */
static gab_status blame(const gab_config *config, const char *path, gab_status status)
{
  char message[1024];
  if (status != GAB_ERR_INPUT) return status;
  snprintf(message, sizeof message, "%s", gab_error_message());
  return gab_config_fail(config, path, "%s", message);
}

/* ------------------------------------------------------------------------------------------ lists of numbers
 */

/* A list of exactly `wanted` numbers, or none. */
static gab_status read_list(const gab_config *config, const char *path, size_t wanted, double *values,
                            bool *is_set)
{
  size_t count;
  const double *found = gab_config_reals(config, path, &count);
  *is_set = gab_config_is_set(config, path);
  if (!*is_set) return GAB_OK;
  if (count != wanted) return gab_config_fail(config, path, "has %zu numbers, it needs %zu", count, wanted);
  memcpy(values, found, count * sizeof *values);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ phases */

static gab_status read_tables(const gab_config *config, const char *item, int n, gab_phase_energy *phase)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t points;
  const double *temperatures =
      gab_config_reals(config, gab_config_path(path, "%s.temperatures", item), &points);
  if (points > GAB_THERMO_TABLE_LENGTH)
    return gab_config_fail(config, path, "has %zu points, at most %d", points, (int)GAB_THERMO_TABLE_LENGTH);
  gab_of_temperature *const tables[] = {&phase->constant, &phase->linear[0], &phase->linear[1],
                                        &phase->linear[2]};
  double values[GAB_MOST_INDEPENDENTS * GAB_THERMO_TABLE_LENGTH];
  for (int t = 0; t < 2; t++) {
    bool is_set;
    const size_t count = t == 0 ? 1 : (size_t)n;
    gab_config_path(path, "%s.%s", item, t == 0 ? "constant_table" : "linear_table");
    GAB_TRY(read_list(config, path, count * points, values, &is_set));
    for (size_t k = 0; is_set && k < count; k++) {
      gab_of_temperature *table = tables[t == 0 ? 0 : 1 + k];
      table->count = (int)points;
      memcpy(table->temperatures, temperatures, points * sizeof *temperatures);
      memcpy(table->values, values + k * points, points * sizeof *values);
    }
  }
  return GAB_OK;
}

static gab_status read_energy(const gab_config *config, const char *item, int n, gab_phase_energy *phase)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  double xi[GAB_MOST_INDEPENDENTS] = {0}, slope[GAB_MOST_INDEPENDENTS] = {0};
  double curvature[GAB_MOST_INDEPENDENTS * GAB_MOST_INDEPENDENTS];
  bool is_set;
  GAB_TRY(
      read_list(config, gab_config_path(path, "%s.curvature", item), (size_t)(n * n), curvature, &is_set));
  for (int i = 0; is_set && i < n; i++)
    for (int j = 0; j < n; j++) phase->curvature[i][j] = curvature[i * n + j];
  GAB_TRY(read_list(config, gab_config_path(path, "%s.linear", item), (size_t)n, xi, &is_set));
  GAB_TRY(read_list(config, gab_config_path(path, "%s.linear_slope", item), (size_t)n, slope, &is_set));
  for (int i = 0; i < n; i++) phase->linear[i] = (gab_of_temperature){.value = xi[i], .slope = slope[i]};
  phase->constant = (gab_of_temperature){
      .value = gab_config_real(config, gab_config_path(path, "%s.constant", item)),
      .slope = gab_config_real(config, gab_config_path(path, "%s.constant_slope", item))};
  return read_tables(config, item, n, phase);
}

static gab_status read_phase(const gab_config *config, gab_thermo *thermo, int index)
{
  char item[GAB_CONFIG_PATH_CAPACITY], path[GAB_CONFIG_PATH_CAPACITY];
  gab_phase_energy *phase = &thermo->phase[index];
  gab_config_path(item, "phasefield.phases.%d", index);
  const char *name = gab_config_string(config, gab_config_path(path, "%s.name", item));
  if (strlen(name) >= sizeof phase->name)
    return gab_config_fail(config, path, "the name `%s' has more than %zu letters", name,
                           sizeof phase->name - 1);
  memcpy(phase->name, name, strlen(name) + 1);
  phase->diffusivity = gab_config_real(config, gab_config_path(path, "%s.diffusivity", item));
  gab_config_path(path, "%s.curvature", item);
  gab_config_path(item, "phasefield.phases.%d.slopes", index);
  if (!gab_config_is_set(config, path) && !gab_config_is_set(config, item)) {
    gab_config_path(item, "phasefield.phases.%d", index);
    return gab_config_fail(config, item, "%s has neither a curvature nor slopes", name);
  }
  gab_config_path(item, "phasefield.phases.%d", index);
  return read_energy(config, item, thermo->independents, phase);
}

/* Fractions of the components: none is negative, nor is the dependent one. */
static gab_status check_composition(const gab_config *config, const char *path, const double *c, size_t n)
{
  const double rounding = 1e-9;
  double sum = 0;
  for (size_t i = 0; i < n; i++) {
    if (c[i] < 0 || c[i] > 1)
      return gab_config_fail(config, path, "the concentration %g is outside [0, 1]", c[i]);
    sum += c[i];
  }
  if (sum > 1 + rounding)
    return gab_config_fail(
        config, path, "the concentrations sum to %g: that of the last component would be %g", sum, 1 - sum);
  return GAB_OK;
}

/* Solids that are given by the phase diagram. */
static gab_status read_diagram(const gab_config *config, gab_thermo *thermo, int index)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  const size_t n = (size_t)thermo->independents;
  double c_solid[GAB_MOST_INDEPENDENTS], c_melt[GAB_MOST_INDEPENDENTS], slopes[GAB_MOST_INDEPENDENTS];
  bool is_set;
  GAB_TRY(read_list(config, gab_config_path(path, "phasefield.phases.%d.slopes", index), n, slopes, &is_set));
  if (!is_set) return GAB_OK;
  GAB_TRY(read_list(config, gab_config_path(path, "phasefield.phases.%d.composition", index), n, c_solid,
                    &is_set));
  if (!is_set) return gab_config_fail(config, path, "slopes need the composition of the solid");
  GAB_TRY(check_composition(config, path, c_solid, n));
  GAB_TRY(read_list(config, gab_config_path(path, "phasefield.phases.%d.composition", thermo->phases - 1), n,
                    c_melt, &is_set));
  if (!is_set) return gab_config_fail(config, path, "slopes need the composition of the melt");
  GAB_TRY(check_composition(config, path, c_melt, n));
  if (!gab_config_is_set(config, "phasefield.eutectic_temperature"))
    return gab_config_fail(config, "phasefield", "slopes need phasefield.eutectic_temperature");
  gab_config_path(path, "phasefield.phases.%d", index);
  return blame(config, path,
               gab_thermo_linear_solid(thermo, index,
                                       gab_config_real(config, "phasefield.eutectic_temperature"), c_solid,
                                       c_melt, slopes));
}

/* The phase with an invalid energy; the melt first, since solids may have its curvature. @return -1: each by itself
 * is valid */
static int wrong_phase(const gab_thermo *thermo)
{
  for (int k = 0; k < thermo->phases; k++) {
    const int a = k == 0 ? thermo->phases - 1 : k - 1;
    gab_thermo pair = {.phases = 2, .independents = thermo->independents};
    pair.phase[0] = pair.phase[1] = thermo->phase[a];
    memcpy(pair.phase[1].name, "-", 2);
    if (gab_thermo_prepare(&pair) != GAB_OK) return a;
  }
  return -1;
}

static gab_status read_thermo(const gab_config *config, gab_thermo *thermo)
{
  const size_t phases = gab_config_count(config, "phasefield.phases");
  if (phases < 2 || phases > GAB_MOST_PHASES)
    return gab_config_fail(config, "phasefield.phases", "%zu phases: expected 2 to %d", phases,
                           (int)GAB_MOST_PHASES);
  thermo->phases = (int)phases;
  thermo->independents = (int)gab_config_count(config, "phasefield.components") - 1;
  for (int a = 0; a < thermo->phases; a++) GAB_TRY(read_phase(config, thermo, a));
  for (int a = 0; a < thermo->phases - 1; a++) GAB_TRY(read_diagram(config, thermo, a));
  char item[GAB_CONFIG_PATH_CAPACITY] = "phasefield.phases";
  const int wrong = wrong_phase(thermo);
  if (wrong < 0) return blame(config, item, gab_thermo_prepare(thermo));
  return blame(config, gab_config_path(item, "phasefield.phases.%d", wrong), GAB_ERR_INPUT);
}

/* The index of a phase by name. */
static gab_status find_phase(const gab_config *config, const gab_thermo *thermo, const char *path,
                             const char *name, int *index)
{
  char names[GAB_MOST_PHASES * (GAB_PHASE_NAME_LENGTH + 2)] = "";
  for (int a = 0; a < thermo->phases; a++) {
    if (strcmp(thermo->phase[a].name, name) == 0) {
      *index = a;
      return GAB_OK;
    }
    snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", a ? ", " : "",
             thermo->phase[a].name);
  }
  return gab_config_fail(config, path, "unknown phase `%s'; known are %s", name, names);
}

/* ------------------------------------------------------------------------------------------ pairs */

static gab_status read_pair(const gab_config *config, size_t item, gab_phasefield_options *options)
{
  char path[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  int pair[2];
  gab_config_path(path, "phasefield.pairs.%zu.phases", item);
  const char *const *names = gab_config_strings(config, path, &count);
  for (int k = 0; k < 2; k++) GAB_TRY(find_phase(config, &options->thermo, path, names[k], &pair[k]));
  if (pair[0] == pair[1]) return gab_config_fail(config, path, "%s has no interface with itself", names[0]);
  gab_config_path(path, "phasefield.pairs.%zu.gamma", item);
  if (gab_config_is_set(config, path))
    options->gamma[pair[0]][pair[1]] = options->gamma[pair[1]][pair[0]] = gab_config_real(config, path);
  gab_config_path(path, "phasefield.pairs.%zu.tau", item);
  if (gab_config_is_set(config, path))
    options->tau[pair[0]][pair[1]] = options->tau[pair[1]][pair[0]] = gab_config_real(config, path);
  double(*const deltas[2])[GAB_MOST_PHASES] = {options->anisotropy, options->kinetic_anisotropy};
  for (int k = 0; k < 2; k++) {
    gab_config_path(path, "phasefield.pairs.%zu.%s", item, k == 0 ? "anisotropy" : "kinetic_anisotropy");
    if (gab_config_is_set(config, path))
      deltas[k][pair[0]][pair[1]] = deltas[k][pair[1]][pair[0]] = gab_config_real(config, path);
  }
  return GAB_OK;
}

static gab_status read_pairs(const gab_config *config, gab_phasefield_setup *setup)
{
  gab_phasefield_options *o = &setup->options;
  const int melt = o->thermo.phases - 1;
  const bool gamma = gab_config_is_set(config, "phasefield.gamma"),
             tau = gab_config_is_set(config, "phasefield.tau");
  for (int a = 0; a <= melt; a++)
    for (int b = 0; b <= melt; b++) {
      o->gamma[a][b] = gamma ? gab_config_real(config, "phasefield.gamma") : 0;
      o->tau[a][b] = tau ? gab_config_real(config, "phasefield.tau") : 0;
    }
  for (int a = 0; a < melt; a++) {
    o->anisotropy[a][melt] = o->anisotropy[melt][a] = gab_config_real(config, "phasefield.anisotropy");
    o->kinetic_anisotropy[a][melt] = o->kinetic_anisotropy[melt][a] =
        gab_config_real(config, "phasefield.kinetic_anisotropy");
  }
  for (size_t i = 0; i < gab_config_count(config, "phasefield.pairs"); i++) GAB_TRY(read_pair(config, i, o));
  for (int a = 0; a <= melt; a++)
    for (int b = 0; b < a; b++)
      if (o->gamma[a][b] == 0)
        return gab_config_fail(config, "phasefield", "gamma of %s and %s is not given",
                               o->thermo.phase[b].name, o->thermo.phase[a].name);
  const double t = setup->has_eutectic ? setup->eutectic_temperature : o->temperature.value;
  GAB_TRY(blame(config, "phasefield.phases",
                gab_phasefield_fill_tau(o, t, setup->has_eutectic ? setup->eutectic_mu : o->mu)));
  for (int a = 0; a < melt; a++)
    for (int b = 0; b < a; b++)
      if (o->tau[a][b] == 0) o->tau[a][b] = o->tau[b][a] = 0.5 * (o->tau[a][melt] + o->tau[b][melt]);
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ the start */

static gab_status read_solids(const gab_config *config, const gab_thermo *thermo, gab_phasefield_start *start)
{
  size_t count, shares;
  const char *const *names = gab_config_strings(config, "phasefield.initial.solids", &count);
  const bool several = start->shape == GAB_START_LAMELLAE || start->shape == GAB_START_VORONOI;
  start->solids = count > 0 ? (int)count : several ? thermo->phases - 1 : 1;
  for (int k = 0; k < start->solids; k++) {
    start->solid[k] = k;
    start->share[k] = 1.0 / start->solids;
    if (count > 0)
      GAB_TRY(find_phase(config, thermo, "phasefield.initial.solids", names[k], &start->solid[k]));
  }
  if (!several || !gab_config_is_set(config, "phasefield.initial.shares")) return GAB_OK;
  const double *share = gab_config_reals(config, "phasefield.initial.shares", &shares);
  if ((int)shares != start->solids)
    return gab_config_fail(config, "phasefield.initial.shares", "%zu shares for %d solids", shares,
                           start->solids);
  memcpy(start->share, share, shares * sizeof *share);
  return GAB_OK;
}

static gab_status read_start_file(const gab_config *config, const gab_forest_options *forest,
                                  const gab_thermo *thermo, gab_phasefield_start *start)
{
  char path[1024];
  const char *given = gab_config_string(config, "phasefield.initial.path"), *name = gab_config_name(config);
  const char *slash = strrchr(name, '/');
  const int folder = given[0] == '/' || !slash ? 0 : (int)(slash - name + 1);
  if ((size_t)snprintf(path, sizeof path, "%.*s%s", folder, name, given) >= sizeof path)
    return gab_config_fail(config, "phasefield.initial.path", "is too long");
  start->path = path;
  start->thermo = thermo;
  gab_status status = gab_phasefield_start_prepare(start, forest, thermo->phases - 1);
  start->path = NULL;
  return blame(config, "phasefield.initial.path",
               status == GAB_ERR_IO || status == GAB_ERR_CORRUPT ? GAB_ERR_INPUT : status);
}

static gab_status read_start(const gab_config *config, const gab_forest_options *forest,
                             const gab_thermo *thermo, gab_phasefield_start *start)
{
  static const char *const shapes[] = {"plane", "sphere", "lamellae", "voronoi", "file"};
  const char *type = gab_config_string(config, "phasefield.initial.type");
  int shape = 0;
  while (shape < 5 && strcmp(type, shapes[shape]) != 0) shape++;
  if (shape == 5) return gab_config_fail(config, "phasefield", "the section phasefield.initial is missing");
  start->shape = (gab_start_shape)shape;
  if (start->shape == GAB_START_FILE) return read_start_file(config, forest, thermo, start);
  GAB_TRY(read_solids(config, thermo, start));
  if (start->shape != GAB_START_SPHERE) start->height = gab_config_real(config, "phasefield.initial.height");
  if (start->shape == GAB_START_SPHERE) {
    size_t count;
    const double *centre = gab_config_reals(config, "phasefield.initial.centre", &count);
    if ((int)count != forest->grid.dimension)
      return gab_config_fail(config, "phasefield.initial.centre", "%zu coordinates in %d dimensions", count,
                             forest->grid.dimension);
    memcpy(start->centre, centre, count * sizeof *centre);
    start->radius = gab_config_real(config, "phasefield.initial.radius");
  }
  if (start->shape == GAB_START_LAMELLAE)
    start->period = gab_config_real(config, "phasefield.initial.period");
  if (start->shape == GAB_START_VORONOI) {
    start->seeds = (int)gab_config_int(config, "phasefield.initial.seeds");
    start->seed = (uint64_t)gab_config_int(config, "phasefield.initial.seed");
  }
  return blame(config, "phasefield.initial", gab_phasefield_start_prepare(start, forest, thermo->phases - 1));
}

/* ------------------------------------------------------------------------------------------ main */

static void read_sides(const gab_config *config, int dimension, gab_phasefield_options *options)
{
  const bool periodic = gab_config_choice_index(config, "phasefield.boundaries.lateral") == 0;
  const bool bottom = gab_config_choice_index(config, "phasefield.boundaries.bottom") == 1;
  const bool top = gab_config_choice_index(config, "phasefield.boundaries.top") == 1;
  for (int side = 0; side < 2 * dimension; side++) {
    gab_phasefield_side *made = &options->sides[side];
    const bool end = side / 2 == dimension - 1, held = side % 2 == 0 ? bottom : top;
    made->kind = !end ? (periodic ? GAB_PHASEFIELD_PERIODIC : GAB_PHASEFIELD_CLOSED)
                      : (held ? GAB_PHASEFIELD_RESERVOIR : GAB_PHASEFIELD_CLOSED);
    memcpy(made->mu, options->mu, sizeof made->mu);
  }
}

static gab_status read_potentials(const gab_config *config, gab_phasefield_setup *setup)
{
  gab_phasefield_options *o = &setup->options;
  bool is_set;
  setup->eutectic_temperature = o->temperature.value;
  if (gab_config_is_set(config, "phasefield.eutectic_temperature"))
    setup->eutectic_temperature = gab_config_real(config, "phasefield.eutectic_temperature");
  setup->has_eutectic =
      o->thermo.phases == o->thermo.independents + 2 &&
      gab_thermo_eutectic(&o->thermo, &setup->eutectic_temperature, setup->eutectic_mu) == GAB_OK;
  if (setup->has_eutectic) memcpy(o->mu, setup->eutectic_mu, sizeof o->mu);
  return read_list(config, "phasefield.mu", (size_t)o->thermo.independents, o->mu, &is_set);
}

static gab_status read_window(const gab_config *config, const gab_forest_options *forest,
                              gab_phasefield_setup *setup)
{
  const int axis = forest->grid.dimension - 1;
  const int64_t rows = (int64_t)forest->grid.roots[axis] * forest->cells[axis];
  setup->window_row = -1;
  if (!gab_config_is_set(config, "phasefield.window")) return GAB_OK;
  setup->window_row = gab_config_int(config, "phasefield.window.row");
  setup->window_every = gab_config_int(config, "phasefield.window.every");
  setup->window_rows = gab_config_int(config, "phasefield.window.rows");
  if (setup->window_row >= rows)
    return gab_config_fail(config, "phasefield.window.row",
                           "is outside the domain, which has %" PRId64 " rows", rows);
  if (setup->window_rows > rows)
    return gab_config_fail(config, "phasefield.window.rows", "is more than the domain has: %" PRId64, rows);
  return GAB_OK;
}

static gab_status read_all(const gab_config *config, const gab_forest_options *forest,
                           gab_phasefield_setup *setup)
{
  gab_phasefield_options *o = &setup->options;
  GAB_TRY(read_thermo(config, &o->thermo));
  if (!gab_config_is_set(config, "phasefield.temperature"))
    return gab_config_fail(config, "phasefield", "the section phasefield.temperature is missing");
  o->temperature = (gab_phasefield_temperature){gab_config_real(config, "phasefield.temperature.value"),
                                                gab_config_real(config, "phasefield.temperature.gradient"),
                                                gab_config_real(config, "phasefield.temperature.velocity")};
  o->epsilon = gab_config_real(config, "phasefield.epsilon");
  o->dt = gab_config_real(config, "phasefield.dt");
  o->interpolation = (gab_interpolation)gab_config_choice_index(config, "phasefield.interpolation");
  o->potential = (gab_potential)gab_config_choice_index(config, "phasefield.potential");
  o->no_antitrapping = !gab_config_bool(config, "phasefield.anti_trapping");
  o->triple = gab_config_real(config, "phasefield.triple");
  o->kernel = gab_config_string(config, "phasefield.kernel");
  if (gab_config_is_set(config, "phasefield.noise"))
    o->noise = (gab_phasefield_noise){gab_config_real(config, "phasefield.noise.amplitude"),
                                      (uint64_t)gab_config_int(config, "phasefield.noise.seed")};
  GAB_TRY(read_potentials(config, setup));
  GAB_TRY(read_pairs(config, setup));
  read_sides(config, forest->grid.dimension, o);
  GAB_TRY(read_window(config, forest, setup));
  setup->stable_dt = gab_phasefield_stable_dt(o, forest->grid.dimension, forest->dx);
  if (o->dt > setup->stable_dt)
    return gab_config_fail(config, "phasefield.dt",
                           "is not stable: it must be at most %g (dx = %g, %d dimensions)", setup->stable_dt,
                           forest->dx, forest->grid.dimension);
  if (o->epsilon < 2 * forest->dx)
    return gab_config_fail(
        config, "phasefield.epsilon",
        "makes interfaces %.2g cells wide, which is too few: epsilon must be at least 2 dx = "
        "%g",
        2.4674 * o->epsilon / forest->dx, 2 * forest->dx);
  o->initial = gab_phasefield_start_state;
  o->initial_user = &setup->start;
  o->initial_status = gab_phasefield_start_status;
  GAB_TRY(read_start(config, forest, &o->thermo, &setup->start));
  o->initial_as_stored = setup->start.as_stored;
  return GAB_OK;
}

gab_status gab_phasefield_setup_from_config(const gab_config *config, const gab_forest_options *forest,
                                            gab_phasefield_setup *setup)
{
  *setup = (gab_phasefield_setup){.window_row = -1};
  gab_status status = read_all(config, forest, setup);
  if (status != GAB_OK) gab_phasefield_setup_release(setup);
  return status;
}

void gab_phasefield_setup_release(gab_phasefield_setup *setup)
{
  gab_phasefield_start_release(&setup->start);
}

/* ------------------------------------------------------------------------------------------ in words */

static void write_numbers(char *text, size_t capacity, const double *values, int count)
{
  text[0] = '\0';
  for (int i = 0; i < count; i++)
    snprintf(text + strlen(text), capacity - strlen(text), "%s%.6g", i ? ", " : "", values[i]);
}

/* Parabolic free energies know no bounds of concentrations. */
static void warn_of_concentrations(const gab_thermo *thermo, int phase, double t, const double *c)
{
  const double rounding = 1e-9;
  double last = 1;
  for (int i = 0; i < thermo->independents; i++) {
    last -= c[i];
    if (c[i] < -rounding || c[i] > 1 + rounding)
      gab_log(GAB_LOG_WARNING, "c_%d of %s is %.6g at T = %.8g: concentrations are between 0 and 1", i + 1,
              thermo->phase[phase].name, c[i], t);
  }
  if (last < -rounding)
    gab_log(GAB_LOG_WARNING,
            "the last concentration of %s is %.6g at T = %.8g, below 0: the others sum to %.6g",
            thermo->phase[phase].name, last, t, 1 - last);
}

void gab_phasefield_setup_describe(const gab_phasefield_setup *setup)
{
  const gab_phasefield_options *o = &setup->options;
  const gab_thermo *thermo = &o->thermo;
  const int n = thermo->independents, melt = thermo->phases - 1;
  const double t = setup->has_eutectic ? setup->eutectic_temperature : o->temperature.value;
  const double *mu = setup->has_eutectic ? setup->eutectic_mu : o->mu;
  char text[200];
  write_numbers(text, sizeof text, mu, n);
  gab_log(GAB_LOG_INFO, "  %d phases of %d components, epsilon %g, dt %g (stable up to %.4g)", thermo->phases,
          n + 1, o->epsilon, o->dt, setup->stable_dt);
  gab_log(GAB_LOG_INFO, "  %s T = %.8g, mu = (%s)",
          setup->has_eutectic ? "all phases are in equilibrium at" : "compositions at", t, text);
  for (int a = 0; a <= melt; a++) {
    double c[GAB_MOST_INDEPENDENTS];
    gab_thermo_concentration(thermo, a, t, mu, c);
    write_numbers(text, sizeof text, c, n);
    warn_of_concentrations(thermo, a, t, c);
    if (a == melt)
      gab_log(GAB_LOG_INFO, "    %-12s c = (%s), D = %g", thermo->phase[a].name, text,
              thermo->phase[a].diffusivity);
    else
      gab_log(GAB_LOG_INFO, "    %-12s c = (%s), gamma %g and tau %.4g with the melt", thermo->phase[a].name,
              text, o->gamma[a][melt], o->tau[a][melt]);
  }
}
