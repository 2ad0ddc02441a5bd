/* The grid of a case as it will be at the start, from proxies alone: for `gabion check` and `gabion plan`. */
#include "apps/driver/flow/simulation.h"

void gab_app_grid_proxy_cells(gab_proxies *proxies, size_t index, int *level, gab_box *cells)
{
  const gab_forest_options *forest = gab_proxies_options(proxies);
  gab_block_place place = gab_block_id_place(&forest->grid, gab_proxies_get(proxies, index)->id);
  for (int axis = 0; axis < 3; axis++) {
    cells->lo[axis] = (int64_t)place.at[axis] * forest->cells[axis];
    cells->hi[axis] = cells->lo[axis] + forest->cells[axis];
  }
  *level = place.level;
}

/* One round; says whether anything changed. */
static gab_status refine(gab_proxies *proxies, gab_refinement *refinement, int max_level, bool *changed)
{
  size_t count = gab_proxies_count(proxies);
  void *memory;
  GAB_TRY(gab_alloc(count * sizeof(gab_mark), GAB_MEMORY_OTHER, &memory));
  gab_mark *marks = memory;
  for (size_t i = 0; i < count; i++) {
    int level;
    gab_box cells;
    gab_app_grid_proxy_cells(proxies, i, &level, &cells);
    marks[i] = level < max_level ? gab_refinement_mark_place(refinement, level, &cells) : GAB_MARK_KEEP;
    if (marks[i] == GAB_MARK_COARSEN) marks[i] = GAB_MARK_KEEP; /* as in gab_forest_build() */
  }
  gab_refine_report report = {0};
  gab_status status = gab_proxies_refine(proxies, marks, max_level, &report);
  *changed = report.split > 0;
  gab_free(&memory);
  return status;
}

gab_status gab_app_grid_proxies_build(gab_world *world, const flow_case *which, gab_geometry *geometry,
                                      gab_proxies **proxies)
{
  gab_forest_options options = which->base.grid;
  options.exists = gab_geometry_block_exists;
  options.weight = gab_app_grid_block_weight;
  options.user = geometry;
  gab_refinement refinement = {
      .geometry = geometry, .criteria = which->refinement.criteria, .count = which->refinement.count};
  int max_level = which->refinement.max_level;
  GAB_TRY(gab_refinement_check(&refinement, max_level));
  GAB_TRY(gab_proxies_create(world, &options, proxies));
  bool changed = max_level > 0;
  while (changed) GAB_TRY(refine(*proxies, &refinement, max_level, &changed));
  return GAB_OK;
}
