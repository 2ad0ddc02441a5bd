/** @file quantities.h
 *  @brief What a flow has to show: density, pressure, velocity, speed, vorticity, in physical units.
 *
 *  Tier: internal.
 */
#ifndef GABION_APPS_DRIVER_QUANTITIES_H
#define GABION_APPS_DRIVER_QUANTITIES_H

#include "apps/driver/driver.h"
#include "blockforest/block_field.h"

enum { FLOW_MOST_QUANTITIES = 8 };

/** What the quantities are evaluated from. */
typedef struct flow_view {
  gab_forest *forest;
  const gab_lbm *lbm;
  gab_units units;
  double *velocity; /**< of one block, owned, as `fluid` */
  uint8_t *fluid;
  /* Vorticity needs the neighbours' velocities: kept with a ghost layer, only if somebody wants it. */
  bool has_vorticity;
  gab_block_field ghosts;
  gab_data_id neighbourhood;
  gab_exchange *exchange;
} flow_view;

/** Before the forest is populated: registers block data if `with_vorticity`. Collective then. */
gab_status flow_view_create(gab_forest *forest, const gab_lbm *lbm, const gab_units *units,
                            bool with_vorticity, flow_view *view);
void flow_view_release(flow_view *view);

/** The quantities there are. @param[in] view  NULL: to look up names only @param[out] items  their place */
gab_quantity_list flow_quantity_list(flow_view *view, int dimension,
                                     gab_quantity items[FLOW_MOST_QUANTITIES]);

/** Brings the velocities around all cells up to date. To be called before anything is written at a step.
 *  Collective. */
gab_status flow_view_update(flow_view *view);

#endif
