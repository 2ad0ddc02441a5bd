/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,3 quick=3 timeout=60 */
/* A state that was written with output.fields, also in the files of earlier versions, is the start of another
 * run, on other blocks and other processes, to the last bit; from chemical potentials to rounding; what is
 * missing or does not fit is named. */
#include "blockforest/output/fields/hdf5_output.h"
#include "blockforest/output/output.h"
#include "core/messages/collective.h"
#include "phase_common.h"
#include "phasefield/setup/initial.h"

#include <hdf5.h>
#include <string.h>
#include <unistd.h>

static char folder[40]; /* one for each number of processes */

static void rough_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user;
  const int64_t grain[3] = {cell[0] / 5, cell[1] / 4, cell[2] / 4};
  phi[cell[1] > 8 ? 3 : (int)(noise(1, grain) * 4)] = 1;
  for (int i = 0; i < 2; i++) mu[i] += 0.02 * noise(20 + (uint64_t)i, cell);
}

static phase_case eutectic_case(int dimension)
{
  phase_case given = {.dimension = dimension, .cells = {24, 20, dimension == 3 ? 8 : 1}, .dx = 3};
  memcpy(given.block, (int32_t[3]){12, 10, dimension == 3 ? 4 : 1}, sizeof given.block);
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.18;
  given.options.temperature.value = 0.96;
  given.options.mu[0] = given.options.mu[1] = 1;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.initial = rough_state;
  return given;
}

static uint64_t hash_of(gab_world *world, const phase_run *it)
{
  uint64_t hash = phase_hash(it);
  REQUIRE_OK(gab_world_sum_u64(world, &hash, 1));
  return hash;
}

/* Writes all but `left_out`. */
static void write_state(phase_run *it, const char *name, gab_output_precision precision, const char *left_out)
{
  gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES], kept[GAB_PHASEFIELD_MOST_QUANTITIES];
  const gab_quantity_list all = gab_phasefield_quantities(it->model, items);
  size_t count = 0;
  for (size_t i = 0; i < all.count; i++)
    if (strncmp(items[i].name, left_out, strlen(left_out)) != 0) kept[count++] = items[i];
  const gab_volume_options options = {
      .folder = folder, .name = name, .quantities = kept, .quantity_count = count, .precision = precision};
  gab_volume *volume;
  REQUIRE_OK(gab_volume_create(it->forest, &options, &volume));
  REQUIRE_OK(gab_volume_write(volume, 7, 0.5));
  gab_volume_destroy(&volume);
}

/* Block by block, as files of format 1 have them: /fields/QUANTITY/block-ID, and no attribute `format`. */
static herr_t copy_field(hid_t fields, const char *name, const H5L_info_t *info, void *user)
{
  (void)info;
  const hid_t to = *(const hid_t *)user;
  uint64_t ids[64];
  static double values[64 * 24 * 20 * 8];
  hsize_t extent[4];
  char path[128];
  hid_t table = H5Dopen2(to, "/blocks/id", H5P_DEFAULT);
  REQUIRE(H5Dread(table, H5T_NATIVE_UINT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, ids) >= 0);
  H5Dclose(table);
  snprintf(path, sizeof path, "%s/level-0", name);
  hid_t packed = H5Dopen2(fields, path, H5P_DEFAULT), space = H5Dget_space(packed);
  REQUIRE(H5Sget_simple_extent_dims(space, extent, NULL) == 4 && extent[0] <= 64);
  REQUIRE((size_t)H5Sget_simple_extent_npoints(space) <= sizeof values / sizeof *values);
  REQUIRE(H5Dread(packed, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
  H5Sclose(space);
  H5Dclose(packed);
  snprintf(path, sizeof path, "/fields/%s", name);
  H5Gclose(H5Gcreate2(to, path, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
  space = H5Screate_simple(3, extent + 1, NULL);
  for (hsize_t b = 0; b < extent[0]; b++) {
    snprintf(path, sizeof path, "/fields/%s/block-%llx", name, (unsigned long long)ids[b]);
    hid_t block = H5Dcreate2(to, path, H5T_IEEE_F64LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(H5Dwrite(block, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                     values + b * extent[1] * extent[2] * extent[3]) >= 0);
    H5Dclose(block);
  }
  H5Sclose(space);
  return 0;
}

static void set_number(hid_t file, const char *name, const int32_t *values, hsize_t count)
{
  hid_t space = H5Screate_simple(1, &count, NULL);
  hid_t attribute = H5Acreate2(file, name, H5T_NATIVE_INT32, space, H5P_DEFAULT, H5P_DEFAULT);
  REQUIRE(attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT32, values) >= 0);
  H5Aclose(attribute);
  H5Sclose(space);
}

/* The same state in files of another format: 1, or one that is not known. */
static void write_as_format(gab_world *world, const char *from_name, const char *to_name, int32_t format)
{
  REQUIRE_OK(gab_world_barrier(world));
  const int ranks = gab_members_count(gab_world_members(world));
  for (int rank = 0; rank < ranks && gab_world_is_root(world); rank++) {
    char path[200];
    int32_t cells[3];
    snprintf(path, sizeof path, "%s/fields/%s_0000000007.s%04d.h5", folder, from_name, rank);
    hid_t from = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    snprintf(path, sizeof path, "%s/fields/%s_0000000007.s%04d.h5", folder, to_name, rank);
    hid_t to = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    REQUIRE(from >= 0 && to >= 0);
    hid_t attribute = H5Aopen(from, "cells", H5P_DEFAULT);
    REQUIRE(H5Aread(attribute, H5T_NATIVE_INT32, cells) >= 0);
    H5Aclose(attribute);
    set_number(to, "cells", cells, 3);
    if (format != 1) set_number(to, "format", &format, 1);
    REQUIRE(H5Ocopy(from, "blocks", to, "blocks", H5P_DEFAULT, H5P_DEFAULT) >= 0);
    H5Gclose(H5Gcreate2(to, "/fields", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    REQUIRE(H5Literate_by_name(from, "fields", H5_INDEX_NAME, H5_ITER_INC, NULL, copy_field, &to,
                               H5P_DEFAULT) >= 0);
    if (format == 1) { REQUIRE(H5Ldelete(to, "blocks/row", H5P_DEFAULT) >= 0); }
    H5Fclose(from);
    H5Fclose(to);
  }
  REQUIRE_OK(gab_world_barrier(world));
}

static const char *path_of(const char *name)
{
  static char path[200];
  snprintf(path, sizeof path, "%s/fields/%s_0000000007.xdmf", folder, name);
  return path;
}

static gab_status start_from(gab_phasefield_start *start, phase_case *given, const char *name)
{
  gab_forest_options domain = {.grid.dimension = given->dimension, .dx = given->dx};
  for (int k = 0; k < 3; k++) {
    domain.grid.roots[k] = given->cells[k] / given->block[k];
    domain.cells[k] = given->block[k];
  }
  *start = (gab_phasefield_start){
      .shape = GAB_START_FILE, .path = path_of(name), .thermo = &given->options.thermo};
  GAB_TRY(gab_phasefield_start_prepare(start, &domain, 3));
  given->options.initial = gab_phasefield_start_state;
  given->options.initial_status = gab_phasefield_start_status;
  given->options.initial_user = start;
  given->options.initial_as_stored = start->as_stored;
  return GAB_OK;
}

/* The same steps from the state that was written, on blocks of another size. */
static void check_round_trip(gab_world *world, int dimension)
{
  phase_case given = eutectic_case(dimension);
  phase_run first = phase_open(world, &given);
  phase_steps(&first, 30);
  write_state(&first, "exact", GAB_OUTPUT_DOUBLE, "nothing");
  write_state(&first, "potentials", GAB_OUTPUT_DOUBLE, "c_");
  write_state(&first, "single", GAB_OUTPUT_FLOAT, "nothing");
  write_state(&first, "incomplete", GAB_OUTPUT_DOUBLE, "phi_beta");
  write_as_format(world, "exact", "format1", 1);
  write_as_format(world, "exact", "format9", 9);
  const uint64_t written = hash_of(world, &first);
  const double energy = phase_sums(&first).energy;
  phase_steps(&first, 10);
  const uint64_t later = hash_of(world, &first);
  memcpy(given.block, (int32_t[3]){8, 20, dimension == 3 ? 8 : 1}, sizeof given.block);
  static const char *const names[] = {"exact", "format1", "potentials", "single"};
  for (int k = 0; k < 4; k++) {
    const bool exact = k < 2;
    gab_phasefield_start start;
    REQUIRE_OK(start_from(&start, &given, names[k]));
    REQUIRE(start.as_stored == (k != 2));
    phase_run second = phase_open(world, &given);
    if (exact) REQUIRE(hash_of(world, &second) == written);
    REQUIRE(fabs(phase_sums(&second).energy / energy - 1) < (k < 3 ? 1e-12 : 1e-5));
    REQUIRE_OK(gab_phasefield_check_finite(second.model));
    phase_steps(&second, 10);
    if (exact) REQUIRE(hash_of(world, &second) == later);
    phase_close(&second);
    gab_phasefield_start_release(&start);
  }
  phase_close(&first);
}

static void must_fail(phase_case given, const char *name, const char *words)
{
  gab_phasefield_start start;
  REQUIRE(start_from(&start, &given, name) != GAB_OK);
  if (!strstr(gab_error_message(), words)) fprintf(stderr, "not `%s' but: %s\n", words, gab_error_message());
  REQUIRE(strstr(gab_error_message(), words) != NULL);
}

typedef struct damage {
  gab_quantity whole;
  double value; /* of the first cell of all blocks */
} damage;

static gab_status damaged(void *user, const gab_forest *forest, const gab_block *block, double *values)
{
  const damage *done = user;
  GAB_TRY(done->whole.evaluate(done->whole.user, forest, block, values));
  values[0] = done->value;
  return GAB_OK;
}

/* A state with an impossible value of a phase is not a start: no run uses its projection. */
static void check_values_are_looked_at(gab_world *world)
{
  static const struct {
    const char *name, *quantity, *words;
    double value;
  } cases[] = {{"lost", "phi_beta", "a value of phi_beta that is not finite", NAN},
               {"torn", "c_2", "a value of c_2 that is not finite", INFINITY},
               {"void", "phi_alpha", "phases that sum to", -2}};
  const phase_case written = eutectic_case(2);
  phase_run first = phase_open(world, &written);
  for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
    gab_quantity items[GAB_PHASEFIELD_MOST_QUANTITIES];
    const gab_quantity_list all = gab_phasefield_quantities(first.model, items);
    damage done = {.value = cases[k].value};
    for (size_t i = 0; i < all.count; i++)
      if (strcmp(items[i].name, cases[k].quantity) == 0) {
        done.whole = items[i];
        items[i].evaluate = damaged;
        items[i].user = &done;
      }
    REQUIRE(done.whole.evaluate);
    const gab_volume_options options = {.folder = folder,
                                        .name = cases[k].name,
                                        .quantities = items,
                                        .quantity_count = all.count,
                                        .precision = GAB_OUTPUT_DOUBLE};
    gab_volume *volume;
    REQUIRE_OK(gab_volume_create(first.forest, &options, &volume));
    REQUIRE_OK(gab_volume_write(volume, 7, 0.5));
    gab_volume_destroy(&volume);
    gab_phasefield_start start;
    phase_case given = written;
    double phi[GAB_MOST_PHASES], mu[GAB_MOST_INDEPENDENTS];
    REQUIRE_OK(start_from(&start, &given, cases[k].name));
    gab_phasefield_start_state(&start, (const int64_t[3]){1, 1, 0}, phi, mu);
    REQUIRE(gab_phasefield_start_status(&start) == GAB_ERR_INPUT);
    REQUIRE(strstr(gab_error_message(), cases[k].words) != NULL);
    gab_phasefield_start_release(&start);
  }
  phase_close(&first);
}

static void check_refusals(gab_world *world)
{
  phase_case given = eutectic_case(2), larger = given;
  must_fail(given, "incomplete", "has no phi_beta, only c_1, c_2, interface");
  larger.cells[1] = 40;
  must_fail(larger, "exact", "has 24 x 20 x 1 cells, the domain 24 x 40 x 1");
  must_fail(given, "nowhere", "no files");
  must_fail(given, "format9", "is of format 9, this version of Gabion reads 1 to 2");
  REQUIRE_OK(gab_world_barrier(world));
  if (gab_world_is_root(world)) {
    char path[200];
    snprintf(path, sizeof path, "%s/fields/exact_0000000007.s0000.h5", folder);
    REQUIRE(truncate(path, 600) == 0);
  }
  REQUIRE_OK(gab_world_barrier(world));
  must_fail(given, "exact", "cannot be read as HDF5");
  REQUIRE_OK(gab_world_barrier(world));
  if (gab_world_is_root(world)) {
    char path[200];
    snprintf(path, sizeof path, "%s/fields/potentials_0000000007.s0000.h5", folder);
    REQUIRE(unlink(path) == 0);
  }
  REQUIRE_OK(gab_world_barrier(world));
  must_fail(given, "potentials",
            gab_members_count(gab_world_members(world)) == 1 ? "no files" : "cells, the domain");
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  snprintf(folder, sizeof folder, "start_file_%d", (int)gab_members_count(gab_world_members(world)));
  if (gab_world_is_root(world)) REQUIRE_OK(gab_output_folder_prepare(folder));
  REQUIRE_OK(gab_world_barrier(world));
  check_round_trip(world, 3);
  check_round_trip(world, 2);
  check_values_are_looked_at(world);
  check_refusals(world);
  return test_end(&world);
}
