/* SPDX-License-Identifier: Apache-2.0 */
/* Random flows: sides and bodies, for tests that compare the bits of two computations. */
#ifndef GABION_TESTS_DRAWN_FLOWS_H
#define GABION_TESTS_DRAWN_FLOWS_H

#include "lbm_common.h"

/* Numbers derived from a seed. Two tests with separate streams draw different flows. */
typedef struct drawing {
  uint64_t seed, stream, count;
} drawing;

static inline uint64_t draw(drawing *from, uint64_t below)
{
  return gab_hash_counter(from->seed, from->stream, ++from->count) % below;
}
static inline double draw_real(drawing *from, double low, double high)
{
  return low + (high - low) * (double)draw(from, 1 << 20) / (1 << 20);
}

/* @param[in] one_in  per axis: on average one of this number of pairs of sides is periodic
 * @return whether a periodic axis other than x was drawn */
static inline bool draw_sides(drawing *from, flow_case *given, const uint64_t one_in[3])
{
  static const gab_side_kind kinds[] = {GAB_SIDE_WALL, GAB_SIDE_VELOCITY, GAB_SIDE_PRESSURE, GAB_SIDE_OUTFLOW,
                                        GAB_SIDE_FREE_SLIP};
  bool is_round = false;
  for (int axis = 0; axis < given->dimension; axis++) {
    if (draw(from, one_in[axis]) == 0) {
      is_round = is_round || axis > 0;
      continue;
    }
    for (int side = 2 * axis; side < 2 * axis + 2; side++) {
      gab_side *it = &given->options.sides[side];
      it->kind = kinds[draw(from, sizeof kinds / sizeof *kinds)];
      if (it->kind == GAB_SIDE_PRESSURE) it->density = draw_real(from, 0.99, 1.01);
      if (it->kind != GAB_SIDE_VELOCITY) continue;
      for (int i = 0; i < given->dimension; i++) it->velocity[i] = draw_real(from, -0.03, 0.03);
      it->ramp_steps = draw(from, 2) ? 20 : 0;
    }
  }
  return is_round;
}

/* Some sides get a sponge, some outflows become characteristic or convective: such flows have no temporal blocking. */
static inline void draw_sponges(drawing *from, flow_case *given)
{
  for (int side = 0; side < 2 * given->dimension; side++) {
    gab_side *it = &given->options.sides[side];
    if (it->kind == GAB_SIDE_OUTFLOW && draw(from, 2))
      it->kind = draw(from, 2) ? GAB_SIDE_CHARACTERISTIC : GAB_SIDE_CONVECTIVE;
    it->advection = 0.05; /* of convective ones */
    if (!gab_side_kind_passes_fluid(it->kind) || draw(from, 3) > 0) continue;
    it->sponge = (gab_sponge){.thickness = draw_real(from, 2, 12),
                              .rate = draw_real(from, 0, 0.2),
                              .viscosity = draw_real(from, 1, 4)};
  }
}

/* @param[out] bodies  up to `most`, borrowed by the flow @param[in] staircases_in  on average one of this
 * number of bodies has no interpolated wall */
static inline void draw_bodies(drawing *from, flow_case *given, gab_body *bodies, uint64_t most,
                               uint64_t staircases_in, double largest_radius)
{
  given->body_count = draw(from, most + 1);
  for (size_t i = 0; i < given->body_count; i++) {
    gab_body *body = &bodies[i];
    *body = (gab_body){.shape = draw(from, 2) ? GAB_SHAPE_SPHERE : GAB_SHAPE_BOX,
                       .wall = draw(from, staircases_in) ? GAB_WALL_INTERPOLATED : GAB_WALL_STAIRCASE,
                       .radius = draw_real(from, 1.2, largest_radius)};
    for (int axis = 0; axis < given->dimension; axis++) {
      body->centre[axis] = draw_real(from, 0, given->cells[axis]);
      body->lo[axis] = body->centre[axis] - draw_real(from, 0.6, 4);
      body->hi[axis] = body->centre[axis] + draw_real(from, 0.6, 4);
      body->velocity[axis] = draw(from, 2) ? draw_real(from, -0.02, 0.02) : 0;
    }
    if (given->dimension == 3) continue;
    body->centre[2] = 0.5;
    body->lo[2] = 0;
    body->hi[2] = 1;
  }
  given->bodies = bodies;
}

#endif
