/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels of user-defined families and lattices: their names, the check of the bits that they claim, and the library's
 * kernels where these are used. */
#include "lbm/kernels/kernel_family.h"
#include "core/base/hash.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm_impl.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 96 };

static const char *reals_name(gab_kernel_reals reals)
{
  return reals == GAB_REALS_DOUBLE ? "double" : reals == GAB_REALS_FLOAT ? "float" : "mixed";
}

static int number_of(const gab_kernel_family *family)
{
  int i = 0;
  while (gab_kernel_family_at(i) != family) i++;
  return i;
}

gab_kernel_kind gab_kernel_kind_of(const gab_kernel_family *family)
{
  /* As they are listed in kernel_family.c. */
  static const gab_kernel_kind kinds[] = {GAB_FAMILY_IN_PLACE, GAB_FAMILY_IN_PLACE, GAB_FAMILY_SPARSE,
                                          GAB_FAMILY_VECTOR, GAB_FAMILY_REFERENCE};
  return kinds[number_of(family)];
}

/* Made when it is first asked for, each time the same. */
static const gab_kernel *named(const gab_kernel_family *family, const char *called, gab_kernel kernel,
                               gab_kernel_variant wanted)
{
  static struct {
    gab_kernel kernel;
    char name[NAME_BYTES];
  } made[GAB_MOST_KERNEL_FAMILIES][GAB_MOST_LATTICES][GAB_KERNELS_PER_LATTICE], *one;
  one = &made[number_of(family)][wanted.lattice][2 * (int)wanted.reals + wanted.forced];
  snprintf(one->name, NAME_BYTES, "%s/%s/%s/%s", called, gab_lattice_at(wanted.lattice)->name,
           reals_name(wanted.reals), wanted.forced ? "forced" : "free");
  one->kernel = kernel;
  one->kernel.name = one->name;
  return &one->kernel;
}

const gab_kernel *gab_kernel_on_own_lattice(const gab_kernel_family *family, const gab_kernel *kernel,
                                            gab_kernel_variant wanted)
{
  return named(family, kernel->name, *kernel, wanted);
}

const gab_kernel *gab_kernel_of_own(const gab_kernel_family *family, const gab_collision *collision,
                                    gab_kernel_variant wanted)
{
  const gab_lattice *lattice = gab_lattice_at(wanted.lattice);
  const char *why = family->refuses ? family->refuses(collision, lattice, wanted.reals, wanted.forced) : NULL;
  if (why) {
    gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "the kernel \"%s\" cannot compute %s/%s/%s%s: %s",
                  family->name, lattice->name, reals_name(wanted.reals), collision->title,
                  wanted.forced ? " with a force" : "", why);
    return NULL;
  }
  return named(family, family->name, (gab_kernel){.run = family->sweep, .in_place = family->fields == 1},
               wanted);
}

static const gab_kernel *of_library(const gab_sweep *sweep, gab_kernel_kind kind)
{
  const gab_kernel_variant wanted = {
      .lattice = gab_lattice_number(sweep->lattice), .reals = sweep->reals, .forced = sweep->forced};
  return gab_kernel_of(sweep->collision->kernels, kind, wanted);
}

void gab_kernel_sweep(const gab_sweep *sweep, const gab_run *runs, size_t count)
{
  const gab_kernel *fast =
      of_library(sweep, sweep->from == sweep->to ? GAB_FAMILY_IN_PLACE : GAB_FAMILY_VECTOR);
  /* Collisions that are computed cell by cell have none with two fields but the readable one. */
  (fast->run ? fast : of_library(sweep, GAB_FAMILY_REFERENCE))->run(sweep, runs, count);
}

/* ------------------------------------------------------------------------------------------ the same bits? */

/* Rows of the length of a long one and of short ones, from places that no vector is aligned to. */
enum { COMPARED = 131, MOST_RUNS = COMPARED };

static size_t list_runs(const gab_field_map *map, gab_run *runs)
{
  size_t count = 0;
  runs[count++] = (gab_run){.start = (uint32_t)gab_field_index(map, 0, 0, 0, 0), .length = COMPARED};
  for (int32_t x = 1, length = 1; x + length <= COMPARED; x += length + 1, length++)
    runs[count++] =
        (gab_run){.start = (uint32_t)gab_field_index(map, x, 1, 0, 0), .length = length, .x = x, .y = 1};
  return count;
}

/* Populations of a fluid at rest, give or take a twentieth. */
static void fill(gab_field *field, const gab_lattice *lattice)
{
  for (size_t i = 0; i < field->map.elements; i++) {
    const double random = gab_hash_uniform(7, 16, i);
    gab_value_set(field, i, 0.1 * (random - 0.5) * lattice->weight[lattice->q - 1]);
  }
}

/* One sweep of the same cells by both. @param[in] from  not changed with two fields */
static bool are_equal(const gab_kernel_family *family, const gab_sweep *common, gab_field *const field[3])
{
  gab_run runs[MOST_RUNS];
  gab_sweep theirs = *common, mine = *common;
  const size_t count = list_runs(&field[0]->map, runs),
               bytes = field[0]->map.elements * gab_precision_bytes(field[0]->shape.precision);
  for (int i = 0; i < 3; i++) fill(field[i], common->lattice);
  theirs.to = field[1]->data;
  theirs.from = family->fields == 1 ? theirs.to : field[0]->data;
  mine.to = field[2]->data;
  mine.from = family->fields == 1 ? mine.to : field[0]->data;
  mine.end = theirs.end = runs + count;
  of_library(common, GAB_FAMILY_REFERENCE)->run(&theirs, runs, count);
  family->sweep(&mine, runs, count);
  return memcmp(field[1]->data, field[2]->data, bytes) == 0;
}

gab_status gab_kernel_compare(const gab_kernel_family *family, const gab_collision *collision,
                              gab_kernel_variant wanted, const gab_collision_rates *rates)
{
  const gab_lattice *lattice = gab_lattice_at(wanted.lattice);
  const gab_precision precision =
      wanted.reals == GAB_REALS_DOUBLE ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
  const int deep = lattice->dimension == 3;
  const gab_field_shape shape = {{COMPARED, 2, 1}, {1, 1, deep}, lattice->q, GAB_LAYOUT_SOA, precision};
  gab_field *field[3] = {NULL};
  gab_storage state[2];
  gab_status status = GAB_OK;
  if (!family->sweep || family->revision > 0) return GAB_OK;
  for (int i = 0; i < 3 && status == GAB_OK; i++) status = gab_field_create(&shape, &field[i]);
  if (status == GAB_OK) gab_storage_fill(lattice, &field[0]->map, family->fields == 1, state);
  for (int i = 0; i < 2 && status == GAB_OK; i++) {
    const gab_storage *before = family->fields == 1 ? &state[i] : &state[0];
    const gab_sweep sweep = {.arriving = before->arriving,
                             .sent = before->next->sent,
                             .rates = rates,
                             .lattice = lattice,
                             .collision = collision,
                             .reals = wanted.reals,
                             .forced = wanted.forced};
    if (!are_equal(family, &sweep, field))
      status =
          gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__,
                        "the kernel \"%s\" does not give the bits of the library's kernels for %s/%s/%s: it "
                        "needs a revision (gab_kernel_family.revision) if that is meant",
                        family->name, lattice->name, reals_name(wanted.reals), collision->title);
  }
  for (int i = 0; i < 3; i++) gab_field_destroy(&field[i]);
  return status;
}
