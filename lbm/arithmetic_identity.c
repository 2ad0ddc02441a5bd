/* SPDX-License-Identifier: Apache-2.0 */
/* Identity of the arithmetic: everything besides the parameters on which the bits of a result depend. It is recorded with a
 * state, so that code with other bits does not continue it unnoticed. */
#include "lbm/levels/level_interface_impl.h"
#include "lbm/sides/side_turbulence_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Revision of the sides of the domain; raise it when the same parameters give other bits there. 1 (not recorded): pressure
 * sides and outflows without viscous stress; inlets and moving sides without the links in their edges; the factor of a
 * profile multiplied last; user-defined sides evaluated next to bodies, too. */
enum { SIDES_REVISION = 2 };
/* Revision of patches: the same for the results of their regions. */
enum { PATCHES_REVISION = 1 };
/* Of patches of bodies, which depend on the intersections of links with the surface. */
enum { BODY_PATCHES_REVISION = 1 };

/* Of sides that keep a state. */
enum { SIDE_STATES_REVISION = 1 };

/* Whether the revision of the sides matters: not with only walls, free-slip sides, and lids that meet walls only. */
static bool names_sides(const gab_lbm_options *options)
{
  int axes = 0;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const gab_side *given = gab_lbm_condition(options, k);
    const int axis = gab_lbm_condition_side(options, k) / 2;
    if (axis > 2) return true;
    if (gab_side_is_open(given)) return true;
    if (!gab_side_moves(given)) continue;
    if (given->velocity[axis] != 0 || given->profile != GAB_PROFILE_CONSTANT) return true;
    axes |= 1 << axis;
  }
  return (axes & (axes - 1)) != 0;
}

/* The library's kernels of all families, with and without force, have the same bits, and so do user-defined ones with
 * revision 0. As snprintf(). */
static int print(const gab_lbm *lbm, char *text, size_t capacity)
{
  const gab_lbm_options *options = &lbm->model.options;
  const char *reals = options->precision == GAB_PRECISION_DOUBLE ? "double"
                      : options->mixed                           ? "mixed"
                                                                 : "float";
  char levels[32] = "";
  const gab_lattice *lattice = lbm->model.lattice;
  if (options->deepest > 0 || gab_geometry_domain(lbm->model.geometry)->deepest > 0)
    snprintf(levels, sizeof levels, ", levels revision %d",
             gab_levels_revision(lattice, options, lbm->model.geometry));
  char kernel[96] = "";
  const gab_kernel_family *family = lbm->model.family;
  if (family->revision > 0)
    snprintf(kernel, sizeof kernel, ", kernel %s revision %d", family->name, family->revision);
  char numbers[48] = "";
  if (gab_lattice_is_own(gab_lattice_number(lattice)))
    snprintf(numbers, sizeof numbers, ", lattice with the numbers %016" PRIx64, gab_lattice_numbers(lattice));
  /* Revision 1 rounded the mass created by walls on finer levels per slab, so that it depended on fused blocks. */
  const char *walls = !lbm->model.walls.is_on ? "" : levels[0] ? ", walls revision 2" : ", walls revision 1";
  char sides[128] = "";
  if (names_sides(options)) snprintf(sides, sizeof sides, ", sides revision %d", SIDES_REVISION);
  if (lbm->model.state_sides)
    snprintf(sides + strlen(sides), sizeof sides - strlen(sides), ", side states revision %d",
             SIDE_STATES_REVISION);
  if (options->patches && options->patches->count > options->patches->on_bodies)
    snprintf(sides + strlen(sides), sizeof sides - strlen(sides), ", patches revision %d", PATCHES_REVISION);
  if (options->patches && options->patches->on_bodies > 0)
    snprintf(sides + strlen(sides), sizeof sides - strlen(sides), ", body patches revision %d",
             BODY_PATCHES_REVISION);
  return snprintf(text, capacity, "%s/%s/%s, revision %d%s%s%s%s%s", lattice->name, reals,
                  options->collision->title, options->collision->revision, levels, walls, kernel, numbers,
                  sides);
}

/* @param[out] text  complete for any length of the collision's title: the revisions are at its end. To be freed */
static gab_status describe(const gab_lbm *lbm, char **text)
{
  const size_t length = (size_t)print(lbm, NULL, 0);
  *text = NULL;
  GAB_TRY(GAB_NEW_ARRAY(text, length + 1, GAB_MEMORY_OTHER));
  (void)print(lbm, *text, length + 1);
  return GAB_OK;
}

/* @param[out] text  to be freed, also after a failure */
static gab_status read_text(gab_reader *in, char **text)
{
  uint32_t length;
  gab_reader ahead = *in;
  *text = NULL;
  GAB_TRY(gab_get_u32(&ahead, &length));
  const size_t most = length < gab_reader_left(&ahead) ? length : gab_reader_left(&ahead);
  GAB_TRY(GAB_NEW_ARRAY(text, most + 1, GAB_MEMORY_OTHER));
  return gab_get_string(in, *text, most + 1);
}

static gab_status compare(const char *mine, const char *theirs)
{
  if (strcmp(mine, theirs) != 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "the state was computed with the arithmetic %s, this run computes with %s: the result"
             " would be that of neither",
             theirs, mine);
  return GAB_OK;
}

gab_status gab_lbm_put_arithmetic(const gab_lbm *lbm, gab_buffer *out)
{
  char *mine;
  GAB_TRY(describe(lbm, &mine));
  const gab_status status = gab_put_string(out, mine);
  gab_free(&mine);
  return status;
}

gab_status gab_lbm_check_arithmetic(const gab_lbm *lbm, gab_reader *in)
{
  char *mine, *theirs;
  GAB_TRY(describe(lbm, &mine));
  gab_status status = read_text(in, &theirs);
  if (status == GAB_OK) status = compare(mine, theirs);
  gab_free(&theirs);
  gab_free(&mine);
  return status;
}

gab_status gab_lbm_pack_state(void *lbm, gab_buffer *out)
{
  const gab_wall_balance *walls = &((const gab_lbm *)lbm)->model.walls;
  GAB_TRY(gab_lbm_put_arithmetic(lbm, out));
  if (walls->is_on) {
    GAB_TRY(gab_put_i64(out, walls->excess));
    GAB_TRY(gab_put_i64(out, walls->weight));
  }
  const gab_lbm_options *options = &((const gab_lbm *)lbm)->model.options;
  for (int k = 0; k < gab_lbm_condition_count(options); k++)
    if (gab_lbm_condition(options, k)->flow_rate != 0)
      GAB_TRY(gab_put_f64(out, ((const gab_lbm *)lbm)->scale[k]));
  GAB_TRY(gab_lbm_pack_statistics(lbm, out));
  return gab_put_i64(out, gab_lbm_get_step(lbm));
}

gab_status gab_lbm_unpack_state(void *lbm, gab_reader *in)
{
  int64_t step, excess = 0, weight = 0;
  double scale[GAB_MOST_CONDITIONS];
  gab_side_statistics statistics;
  const gab_lbm_options *options = &((const gab_lbm *)lbm)->model.options;
  GAB_TRY(gab_lbm_check_arithmetic(lbm, in));
  if (((const gab_lbm *)lbm)->model.walls.is_on) {
    GAB_TRY(gab_get_i64(in, &excess));
    GAB_TRY(gab_get_i64(in, &weight));
  }
  for (int k = 0; k < GAB_MOST_CONDITIONS; k++) {
    scale[k] = 1;
    if (k < gab_lbm_condition_count(options) && gab_lbm_condition(options, k)->flow_rate != 0)
      GAB_TRY(gab_get_f64(in, &scale[k]));
  }
  GAB_TRY(gab_lbm_unpack_statistics(lbm, in, &statistics));
  GAB_TRY(gab_get_i64(in, &step));
  ((gab_lbm *)lbm)->statistics = statistics;
  memcpy(((gab_lbm *)lbm)->scale, scale, sizeof scale);
  gab_side_turbulence_set_scales(lbm);
  gab_wall_balance_set(lbm, excess, weight);
  gab_lbm_set_step(lbm, step);
  return GAB_OK;
}

gab_entity gab_lbm_entity(gab_lbm *lbm)
{
  return (gab_entity){.name = "flow",
                      .kind = GAB_ENTITY_REPLICATED,
                      .user = lbm,
                      .pack = gab_lbm_pack_state,
                      .unpack = gab_lbm_unpack_state};
}
