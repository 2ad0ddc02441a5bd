/* SPDX-License-Identifier: Apache-2.0 */
/* Time of a stencil: constant steps, or steps limited by the bound of all blocks. */
#include "apps/driver/stencil/stencil_impl.h"

#include "core/messages/collective.h"

#include <stdio.h>

/* ---------------------------------------------------------------- parameters */

static gab_config_key keys[2];
static char default_dt[32];

gab_status gab_app_stencil_time_declare(gab_config *config)
{
  static gab_config_section section;
  size_t count = 0;
  snprintf(default_dt, sizeof default_dt, "%.17g", gab_app_stencil->dt);
  if (gab_app_stencil->dt > 0 || gab_app_stencil->bound)
    keys[count++] = (gab_config_key){
        .name = "dt",
        .type = GAB_CONFIG_REAL,
        .min = 0,
        .min_excluded = true,
        .max = INFINITY,
        .default_text = gab_app_stencil->dt > 0 ? default_dt : GAB_CONFIG_OPTIONAL,
        .doc = gab_app_stencil->bound ? "Constant time step, instead of one by cfl." : "Time step."};
  if (gab_app_stencil->bound)
    keys[count++] =
        (gab_config_key){.name = "cfl",
                         .type = GAB_CONFIG_REAL,
                         .min = 0,
                         .min_excluded = true,
                         .max = INFINITY,
                         .default_text = "0.9",
                         .doc = "Time step, as a share of the longest one that is stable in all blocks."};
  section = (gab_config_section){
      .path = gab_app_stencil->name, .doc = gab_app_stencil->title, .keys = keys, .count = count};
  return count > 0 ? gab_app_declare(config, &section, 1) : GAB_OK;
}

void gab_app_stencil_time_read(stencil_case *which)
{
  const gab_config *config = which->base.config;
  char path[GAB_CONFIG_PATH_CAPACITY];
  gab_app_stencil_path(path, "dt");
  if (gab_app_stencil->dt > 0 || (gab_app_stencil->bound && gab_config_is_set(config, path))) {
    which->base.dt = gab_config_real(config, path);
    return;
  }
  if (!gab_app_stencil->bound) return;
  which->cfl = gab_config_real(config, gab_app_stencil_path(path, "cfl"));
  which->base.dt = 0;
}

/* ---------------------------------------------------------------- the step */

static gab_status refuse_bound(const stencil_run *it, size_t index, gab_step step, double bound)
{
  char name[160];
  const gab_stencil_block at = gab_app_stencil_block_of(it, index, step);
  gab_app_stencil_name_block(&at, name, sizeof name);
  GAB_FAIL(GAB_ERR_DIVERGED,
           "%s: bound gives a time step of %g in %s in step %" GAB_PRI_STEP "; it must be positive",
           gab_app_stencil->name, bound, name, step);
}

/* The minimum over all blocks does not depend on their order. */
static gab_status find_bound(stencil_run *it, gab_step step, double *least)
{
  const ptrdiff_t count = (ptrdiff_t)gab_forest_block_count(it->base.forest);
  double lowest = INFINITY;
  ptrdiff_t wrong = -1;
#pragma omp parallel for schedule(dynamic) reduction(min : lowest) reduction(max : wrong)
  for (ptrdiff_t i = 0; i < count; i++) {
    gab_stencil_block at = gab_app_stencil_block_of(it, (size_t)i, step);
    at.next = NULL;
    at.dt = 0;
    const double bound = gab_app_stencil->bound(&at);
    if (!(bound > 0)) wrong = i;
    else if (bound < lowest) lowest = bound;
  }
  if (wrong >= 0) {
    gab_stencil_block at = gab_app_stencil_block_of(it, (size_t)wrong, step);
    at.next = NULL;
    at.dt = 0;
    return refuse_bound(it, (size_t)wrong, step, gab_app_stencil->bound(&at));
  }
  *least = lowest;
  return gab_world_min_f64(it->base.world, least, 1);
}

gab_status gab_app_stencil_find_dt(stencil_run *it, gab_step step)
{
  const stencil_case *which = it->parameters;
  it->dt = which->base.dt;
  if (which->cfl == 0) return GAB_OK;
  double bound = 0;
  GAB_TRY(find_bound(it, step, &bound));
  const double left = which->end - it->time;
  it->dt = which->cfl * bound;
  if (it->dt > left * (1 - 1e-9)) it->dt = left;
  if (it->dt < INFINITY && it->time + it->dt > it->time) return GAB_OK;
  GAB_FAIL(GAB_ERR_DIVERGED,
           "%s: a time step of %g at time %g, in step %" GAB_PRI_STEP
           "; bound has to limit some block, and %s.dt sets constant steps",
           gab_app_stencil->name, it->dt, it->time, step, gab_app_stencil->name);
}

void gab_app_stencil_advance_time(stencil_run *it)
{
  const double left = it->parameters->end - it->time;
  it->time = it->dt < left ? it->time + it->dt : it->parameters->end;
}

/* ---------------------------------------------------------------- part of the state */

static gab_status pack_time(void *user, gab_buffer *out)
{
  const stencil_run *it = user;
  return gab_put_f64(out, it->time);
}

static gab_status unpack_time(void *user, gab_reader *in)
{
  stencil_run *it = user;
  return gab_get_f64(in, &it->time);
}

gab_status gab_app_stencil_add_time(stencil_run *it)
{
  const gab_entity entity = {
      .name = "time", .kind = GAB_ENTITY_REPLICATED, .user = it, .pack = pack_time, .unpack = unpack_time};
  return it->parameters->cfl > 0 ? gab_timeloop_add_entity(it->base.loop, &entity) : GAB_OK;
}
