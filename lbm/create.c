/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/cache.h"
#include "lbm/boundaries/links/link_template_impl.h"
#include "lbm/porous/drag_impl.h"
#include "lbm/sides/side_loads_impl.h"
#include "lbm/levels/level_interface_impl.h"
#include "lbm/step/fused/fused_impl.h"

#include <math.h>
#include <string.h>

static const char *const side_names[GAB_SIDE_COUNT] = {"x-", "x+", "y-", "y+", "z-", "z+"};

gab_domain gab_lbm_domain(const gab_forest_options *options)
{
  gab_domain domain = {.dimension = options->grid.dimension, .dx = options->dx};
  for (int axis = 0; axis < 3; axis++) {
    domain.cells[axis] = (int64_t)options->grid.roots[axis] * options->cells[axis];
    domain.periodic[axis] = options->periodic[axis];
    domain.origin[axis] = options->origin[axis];
  }
  if (domain.dimension == 2) domain.periodic[2] = true; /* no cell reads beyond it */
  return domain;
}

static void fill_defaults(gab_lbm_options *options, int dimension)
{
  if (!options->lattice) options->lattice = gab_lattice_usual(dimension);
  options->collision = gab_lbm_collision(options);
  if (options->collision->fill) options->collision->fill(options);
  if (options->density == 0) options->density = 1;
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    if (options->sides[side].density == 0) options->sides[side].density = 1;
}

/* @param[in] index  of the side, or of the side of the patch */
static gab_status check_side(const gab_side *side, const char *name, int index, const gab_domain *domain)
{
  bool periodic = domain->periodic[index / 2];
  if ((unsigned)side->kind >= GAB_SIDE_KIND_COUNT)
    GAB_FAIL(GAB_ERR_INPUT, "side %s: unknown kind of boundary %d", name, (int)side->kind);
  if (gab_side_is_periodic(side) != periodic)
    GAB_FAIL(GAB_ERR_INPUT, "side %s is %speriodic, but the domain is %speriodic along that axis", name,
             periodic ? "not " : "", periodic ? "" : "not ");
  for (int axis = 0; axis < 3; axis++)
    if (!isfinite(side->velocity[axis])) GAB_FAIL(GAB_ERR_INPUT, "side %s: the velocity is not finite", name);
  if (gab_side_is_user_defined(side) && !(side->own && side->own->arrives))
    GAB_FAIL(GAB_ERR_INPUT, "side %s: the user-defined condition is missing", name);
  if (!(side->density > 0 && isfinite(side->density)))
    GAB_FAIL(GAB_ERR_INPUT, "side %s: the density must be positive, not %g", name, side->density);
  if (gab_side_of(side)->keeps_state && !(side->advection > 0 && side->advection < 0.5))
    GAB_FAIL(GAB_ERR_INPUT, "side %s: an advection velocity of %g cells per step is not in (0, 0.5)", name,
             side->advection);
  if (!(side->ramp_steps >= 0 && isfinite(side->ramp_steps)))
    GAB_FAIL(GAB_ERR_INPUT, "side %s: a ramp over %g steps cannot be", name, side->ramp_steps);
  return GAB_OK;
}

static gab_status check_patches(const gab_patches *patches, const gab_domain *domain)
{
  for (int i = 0; patches && i < patches->count; i++) {
    const gab_patch *patch = &patches->list[i];
    if (patch->side == GAB_PATCH_ON_BODY) continue;
    if (patch->faces == 0 || !(patches->sides >> patch->side & 1))
      GAB_FAIL(GAB_ERR_ARGUMENT, "patch '%s': gab_patches_complete() has not been called", patch->name);
    GAB_TRY(check_side(&patch->condition, patch->name, patch->side, domain));
  }
  return GAB_OK;
}

/* The eddy viscosity of a wall replaces that of the collision, whose rate must be known and above 1. */
static gab_status check_eddies(const gab_lbm_options *options)
{
  const gab_collision *collision = options->collision;
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    if (gab_lbm_condition(options, k)->sponge.roughness == 0) continue;
    const char *path = gab_condition_path(options->patches, k);
    if (collision->rate_of_stress || collision->cell)
      GAB_FAIL(GAB_ERR_INPUT,
               "%s.eddy_height: collision %s has a viscosity of its own in each cell; choose trt or rr", path,
               collision->name);
    if (options->omega <= 1)
      GAB_FAIL(GAB_ERR_INPUT,
               "%s.eddy_height: without effect at omega = %g; lower fluid.viscosity until omega is above 1",
               path, options->omega);
  }
  return GAB_OK;
}

static gab_status check_options(const gab_lbm_options *options, const gab_domain *domain)
{
  GAB_TRY(gab_collision_check_lattice(options->collision, options->lattice));
  if (options->lattice->dimension != domain->dimension)
    GAB_FAIL(GAB_ERR_INPUT, "lattice %s does not fit a domain of dimension %d", options->lattice->name,
             domain->dimension);
  if (!(options->omega > 0 && options->omega < 2))
    GAB_FAIL(GAB_ERR_INPUT, "omega must be between 0 and 2, not %.17g", options->omega);
  if (!(options->border_speed >= 0 && options->border_speed < 0.5))
    GAB_FAIL(GAB_ERR_INPUT, "the speed at borders between levels must be from 0 to below 1/2, not %g",
             options->border_speed);
  if (options->fused_blocks < 0 || options->fused_blocks > GAB_FUSED_PLACES)
    GAB_FAIL(GAB_ERR_INPUT, "1 to %d blocks can share a field, not %d", GAB_FUSED_PLACES,
             options->fused_blocks);
  if (options->collision->check) GAB_TRY(options->collision->check(NULL, NULL, options));
  if (options->mixed && options->precision != GAB_PRECISION_FLOAT)
    GAB_FAIL(GAB_ERR_INPUT, "mixed precision stores floats, not doubles");
  if (!(options->density > 0 && isfinite(options->density)))
    GAB_FAIL(GAB_ERR_INPUT, "the initial density must be positive, not %g", options->density);
  for (int axis = 0; axis < 3; axis++) {
    if (!isfinite(options->force[axis]) || !isfinite(options->velocity[axis]))
      GAB_FAIL(GAB_ERR_INPUT, "force and initial velocity must be finite");
    if (axis >= domain->dimension && (options->force[axis] != 0 || options->velocity[axis] != 0))
      GAB_FAIL(GAB_ERR_INPUT, "in 2D force and velocity have no z component");
  }
  for (int side = 0; side < 2 * domain->dimension; side++)
    GAB_TRY(check_side(&options->sides[side], side_names[side], side, domain));
  GAB_TRY(check_patches(options->patches, domain));
  return check_eddies(options);
}

static gab_status check_domain(const gab_domain *given, const gab_domain *wanted)
{
  bool same = given->dimension == wanted->dimension && given->dx == wanted->dx;
  for (int axis = 0; axis < wanted->dimension; axis++)
    same = same && given->cells[axis] == wanted->cells[axis] &&
           given->periodic[axis] == wanted->periodic[axis] && given->origin[axis] == wanted->origin[axis];
  if (!same) GAB_FAIL(GAB_ERR_INPUT, "the domain of the geometry is not that of the forest");
  return GAB_OK;
}

static gab_status set_geometry(gab_lbm_model *model, const gab_geometry *geometry, const gab_domain *domain)
{
  if (geometry) {
    GAB_TRY(check_domain(gab_geometry_domain(geometry), domain));
  } else {
    GAB_TRY(gab_geometry_create(domain, NULL, 0, &model->own_geometry));
    geometry = model->own_geometry;
  }
  model->geometry = geometry;
  for (size_t i = 0; i < gab_geometry_body_count(geometry); i++)
    for (int axis = 0; axis < 3; axis++)
      if (!isfinite(gab_geometry_body(geometry, i)->velocity[axis]) ||
          !isfinite(gab_geometry_body(geometry, i)->spin[axis]))
        GAB_FAIL(GAB_ERR_INPUT, "%s: the velocity is not finite", gab_geometry_body(geometry, i)->name);
  return GAB_OK;
}

/* The same diffusion in cells half as wide, in half the time: 1/omega - 1/2 doubles. */
static double rate_on(double rate, int level) { return 1 / (0.5 + ldexp(1 / rate - 0.5, level)); }

double gab_lbm_magic_on(const gab_lbm_options *options, int level)
{
  const gab_collision *collision = gab_lbm_collision(options);
  const double even = ldexp(1 / options->omega - 0.5, level), wanted = collision->magic(options, even);
  if (!collision->has_odd_rate || options->border_speed == 0) return wanted;
  const double root = even / (2 * options->border_speed);
  return fmin(wanted, root * root);
}

bool gab_lbm_magic_is_bounded(const gab_lbm_options *options, int level)
{
  const double even = ldexp(1 / options->omega - 0.5, level);
  return gab_lbm_magic_on(options, level) < gab_lbm_collision(options)->magic(options, even);
}

/* (1/omega - 1/2)(1/omega_odd - 1/2) = magic */
static gab_collision_rates rates_of(const gab_lbm_options *options, double magic, int level)
{
  const gab_collision *collision = options->collision;
  gab_collision_rates rates = {.even = options->omega, .odd = options->omega, .level = level};
  if (collision->has_odd_rate) rates.odd = 1 / (0.5 + magic / (1 / options->omega - 0.5));
  memcpy(rates.force, options->force, sizeof rates.force);
  memcpy(rates.numbers, options->numbers, sizeof rates.numbers);
  if (collision->rates) collision->rates(options, &rates);
  return rates;
}

/* Viscosities and the acceleration are the same on all levels, and so is the magic parameter unless it is bounded. */
static void set_level(gab_lbm_model *model, int level, const gab_domain *domain)
{
  gab_level_model *made = &model->level[level];
  gab_lbm_options options = model->options;
  double *bulk = options.collision->bulk ? options.collision->bulk(&options) : &options.omega;
  if (level > 0) {
    if (bulk != &options.omega) *bulk = rate_on(*bulk, level);
    options.omega = rate_on(options.omega, level);
    for (int axis = 0; axis < 3; axis++) options.force[axis] = ldexp(options.force[axis], -level);
  }
  made->level = level;
  made->rates = rates_of(&options, gab_lbm_magic_on(&model->options, level), level);
  made->bulk_rate = *bulk;
  made->volume = ldexp(1, -domain->dimension * level);
  for (int side = 0; side < GAB_SIDE_COUNT; side++)
    made->softness[side] = ldexp(0.57735026918962576 / (double)domain->cells[side / 2], -level);
}

/* Whether links across the slab axis read all populations sent by the next cell: the sweep of the cell behind
 * overwrites some of them, so these three cells must be in one slab. */
static bool reads_beyond_slabs(const gab_lbm_model *model)
{
  bool reads = false;
  for (int k = 0; k < gab_lbm_condition_count(&model->options); k++)
    reads |= model->reads_next_cell[k] &&
             gab_lbm_condition_side(&model->options, k) / 2 == model->lattice->dimension - 1;
  return reads;
}

/* Slabs fit into part of a cache: data loaded for one slab is still there for its neighbours. Or one slab is the whole
 * block. */
static void set_slabs(gab_lbm_model *model)
{
  const size_t wanted = (size_t)512 << 10;
  model->slab_axis = model->lattice->dimension - 1;
  int32_t layers = model->cells[model->slab_axis];
  size_t bytes = model->map.elements / (size_t)(layers + 2) * gab_precision_bytes(model->options.precision);
  size_t fit = wanted / bytes;
  if (reads_beyond_slabs(model)) fit = (size_t)layers;
  model->slab_layers = fit < 1 ? 1 : fit > (size_t)layers ? layers : (int32_t)fit;
  model->slabs = (layers + model->slab_layers - 1) / model->slab_layers;
}

/* In-place blocks that store all cells are in fused fields if these are wider than a block; the width is limited by the
 * range of an index. @param[in] ranks  that share the domain @param[out] places  of a fused field; 1: each block has a
 * separate field @param[out] shape,map  of a fused field, or of the separate one */
static gab_status fit_fused_fields(const gab_lbm_model *model, const gab_forest_options *forest, int ranks,
                                   int *places, gab_field_shape *shape, gab_field_map *map)
{
  const int wanted = model->options.fused_blocks;
  *places = wanted > 0 ? wanted : gab_fused_places(forest, ranks);
  if (!model->kernel->in_place || model->cells[0] == 1) *places = 1;
  for (; *places > 1; *places /= 2) {
    *shape = gab_fused_shape(&model->shape, *places);
    GAB_TRY(gab_field_map_of(shape, map));
    if (map->elements <= UINT32_MAX) return GAB_OK;
  }
  *places = 1;
  *shape = model->shape;
  return gab_field_map_of(shape, map);
}

gab_lbm_footprint gab_lbm_get_footprint(const gab_lbm *lbm, int ranks)
{
  const gab_lbm_model *model = &lbm->model;
  const size_t bytes = gab_precision_bytes(model->options.precision);
  gab_field_shape shape;
  gab_field_map map;
  gab_lbm_footprint found = {
      .cell = (size_t)model->lattice->q * bytes,
      .sparse_below = model->sparse_below,
      .ghosts = gab_lbm_ghost_kind((gab_lbm_model *)(uintptr_t)model)}; /* which only reads it */
  (void)fit_fused_fields(model, gab_forest_get_options(lbm->forest), ranks, &found.places, &shape, &map);
  found.field = (model->kernel->in_place ? 1 : 2) * (map.elements * bytes + sizeof(gab_field));
  return found;
}

static gab_status set_storage(gab_lbm_model *model, const gab_forest_options *forest, int ranks)
{
  gab_field_shape fused;
  int places;
  model->shape = (gab_field_shape){
      .components = model->lattice->q, .layout = GAB_LAYOUT_SOA, .precision = model->options.precision};
  for (int axis = 0; axis < 3; axis++) {
    model->shape.cells[axis] = model->cells[axis];
    model->shape.ghosts[axis] = axis < model->lattice->dimension ? 1 : 0;
  }
  GAB_TRY(fit_fused_fields(model, forest, ranks, &places, &fused, &model->map));
  if (places > 1) GAB_TRY(gab_fused_fields_create(&fused, places, &model->fused_fields));
  if (model->map.elements > UINT32_MAX)
    GAB_FAIL(GAB_ERR_INPUT,
             "a block of %" PRId32 " x %" PRId32 " x %" PRId32 " cells is too large: make blocks smaller",
             model->cells[0], model->cells[1], model->cells[2]);
  set_slabs(model);
  gab_storage_fill(model->lattice, &model->map, model->kernel->in_place, model->storage);
  gab_lbm_list_sides(model);
  return GAB_OK;
}

/* Between many small bodies a sparse block is faster than a dense one below about 75 % of fluid (doc/performance.md).
 * Around one large body the rows of a dense block are as fast as in open space, but it needs memory for all cells: at this
 * share a third more than a sparse one. */
static double sparse_below(gab_kernel_blocks blocks)
{
  const double least_share = 0.6, never = 0, always = 2;
  if (blocks == GAB_KERNEL_BLOCKS_BY_SHARE) return least_share;
  return blocks == GAB_KERNEL_BLOCKS_SPARSE ? always : never;
}

/* Call it after the rates of the levels are set. */
static gab_status set_kernel(gab_lbm_model *model)
{
  const gab_collision *collision = model->options.collision;
  model->variant = gab_kernel_wanted(&model->options);
  model->kernel = gab_kernel_find(model->options.kernel, collision, model->variant);
  if (!model->kernel) return GAB_ERR_INPUT;
  model->family = gab_kernel_family_by_name(model->options.kernel);
  model->sparse_below = sparse_below(model->family->blocks);
  for (int level = 0; level < GAB_LBM_LEVELS; level++)
    GAB_TRY(gab_kernel_compare(model->family, collision, model->variant, &model->level[level].rates));
  return GAB_OK;
}

/* Open sides read the next cell across them. */
static gab_status check_depth(const gab_lbm_options *options, const int32_t cells[3], int dimension)
{
  for (int k = 0; k < gab_lbm_condition_count(options); k++) {
    const int side = gab_lbm_condition_side(options, k);
    if (side < 2 * dimension && gab_side_is_open(gab_lbm_condition(options, k)) && cells[side / 2] < 2)
      GAB_FAIL(GAB_ERR_INPUT,
               "side %s: blocks of %" PRId32 " cell across an open side: they have to have 2 at least",
               side_names[side], cells[side / 2]);
  }
  return GAB_OK;
}

/* The directions along the axes. */
static void set_along(gab_lbm_model *model)
{
  const gab_lattice *lattice = model->lattice;
  for (int q = 1; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    for (int axis = 0; axis < 3; axis++)
      if (c[axis] == 1 && c[0] * c[0] + c[1] * c[1] + c[2] * c[2] == 1) model->along[axis] = q;
  }
}

static gab_status set_model(gab_lbm_model *model, const gab_forest_options *forest, int ranks,
                            const gab_geometry *geometry, const gab_lbm_options *options)
{
  gab_domain domain = gab_lbm_domain(forest);
  model->options = *options;
  fill_defaults(&model->options, domain.dimension);
  GAB_TRY(check_options(&model->options, &domain));
  GAB_TRY(set_geometry(model, geometry, &domain));
  memcpy(model->cells, forest->cells, sizeof model->cells);
  model->lattice = model->options.lattice;
  GAB_TRY(check_depth(&model->options, model->cells, domain.dimension));
  set_along(model);
  for (int k = 0; k < gab_lbm_condition_count(&model->options); k++) {
    const gab_side_descriptor *kind = gab_side_of(gab_lbm_condition(&model->options, k));
    const bool is_on_body = gab_lbm_condition_side(&model->options, k) == GAB_PATCH_ON_BODY;
    model->arrives[k] = is_on_body && kind->arrives ? gab_side_pressure_on_body : kind->arrives;
    model->reads_next_density[k] = kind->reads_next_density;
    model->reads_next_cell[k] = kind->reads_next_density ||
                                gab_lbm_condition(&model->options, k)->slip_length > 0 ||
                                gab_lbm_condition(&model->options, k)->roughness > 0;
    if (gab_lbm_condition(&model->options, k)->turbulence) gab_side_turbulence_balance(model, k);
    model->plays_planes |= gab_lbm_condition(&model->options, k)->plane != NULL;
  }
  gab_sponge_list(model);
  model->state_sides = gab_side_state_sides(model);
  for (int level = 0; level < GAB_LBM_LEVELS; level++) set_level(model, level, &domain);
  GAB_TRY(set_kernel(model));
  GAB_TRY(gab_porous_create(model, &domain));
  model->walls.is_on = gab_wall_balance_is_needed(model);
  GAB_TRY(gab_link_templates_create(&model->link_templates));
  return set_storage(model, forest, ranks);
}

static gab_status set_up(gab_lbm *lbm, gab_forest *forest, const gab_geometry *geometry,
                         const gab_lbm_options *options)
{
  lbm->forest = forest;
  lbm->world = gab_forest_world(forest);
  for (int k = 0; k < GAB_MOST_CONDITIONS; k++)
    lbm->scale[k] = k >= gab_lbm_condition_count(options) || gab_lbm_condition(options, k)->flow_rate == 0;
  lbm->temporal_cache =
      gab_cache_share() / 3 * 2; /* other data needs the rest, and more than one band is in use */
  GAB_TRY(set_model(&lbm->model, gab_forest_get_options(forest), gab_world_members(lbm->world)->ranks,
                    geometry, options));
  size_t bodies = gab_geometry_body_count(lbm->model.geometry);
  GAB_TRY(GAB_NEW_ARRAY(&lbm->forces, bodies, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&lbm->side_loads, (size_t)gab_lbm_condition_count(options), GAB_MEMORY_OTHER));
  gab_block_data_kind kind = gab_lbm_block_kind(&lbm->model);
  GAB_TRY(gab_forest_add_data(forest, &kind, &lbm->data));
  if (lbm->model.state_sides) {
    gab_block_data_kind states = gab_side_state_kind(&lbm->model);
    GAB_TRY(gab_forest_add_data(forest, &states, &lbm->side_states));
  }
  gab_ghost_kind ghost = gab_lbm_ghost_kind(&lbm->model);
  for (int level = 0; level < GAB_LBM_LEVELS; level++) {
    lbm->stage[level].is_settled = true;
    GAB_TRY(gab_exchange_create_on_level(forest, lbm->data, &ghost, level, &lbm->stage[level].exchange));
  }
  gab_coupling_kind interfaces = gab_level_interface_kind(&lbm->model);
  return gab_coupling_create(forest, lbm->data, &interfaces, &lbm->coupling);
}

gab_status gab_lbm_set_force(gab_lbm *lbm, const double force[3])
{
  if (!lbm->model.options.force_varies)
    GAB_FAIL(GAB_ERR_STATE, "the force cannot change: gab_lbm_options.force_varies is not set");
  for (int axis = 0; axis < 3; axis++) {
    lbm->model.options.force[axis] = force[axis];
    for (int level = 0; level < GAB_LBM_LEVELS; level++)
      lbm->model.level[level].rates.force[axis] = ldexp(force[axis], -level);
  }
  return GAB_OK;
}

gab_status gab_lbm_create(gab_forest *forest, const gab_geometry *geometry, const gab_lbm_options *options,
                          gab_lbm **lbm)
{
  *lbm = NULL;
  gab_lbm *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  gab_status status = set_up(made, forest, geometry, options);
  if (status != GAB_OK) gab_lbm_destroy(&made);
  else *lbm = made;
  return status;
}

void gab_lbm_destroy(gab_lbm **lbm)
{
  gab_lbm *gone = *lbm;
  if (!gone) return;
  if (gone->coupling) gab_coupling_destroy(&gone->coupling);
  for (int level = 0; level < GAB_LBM_LEVELS; level++) {
    if (gone->stage[level].exchange) gab_exchange_destroy(&gone->stage[level].exchange);
    gab_lbm_drop_plan(&gone->stage[level].plan);
  }
  gab_free(&gone->clock);
  gab_lbm_recompute_release(gone);
  gab_link_templates_close(&gone->model.link_templates);
  gab_fused_fields_close(&gone->model.fused_fields);
  gab_geometry_destroy(&gone->model.own_geometry);
  gab_porous_destroy(&gone->model.porous);
  gab_free(&gone->forces);
  gab_free(&gone->side_loads);
  gab_free(lbm);
}
