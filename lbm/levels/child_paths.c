/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/levels/child_paths_impl.h"

#include <stdlib.h>
#include <string.h>

static gab_path_kind kind_at(const gab_paths *paths, const int32_t cell[3])
{
  return (gab_path_kind)paths->what(paths->user, cell).kind;
}

static bool is_fluid(gab_path_kind kind) { return kind == GAB_PATH_COARSE || kind == GAB_PATH_FINE; }

static void throw_back(const gab_path_state *now, const int32_t wall[3], gab_path_kind here,
                       gab_path_step *step)
{
  step->from = *now;
  step->from.q = gab_lattice_opposite(now->q);
  step->kind = here;
  step->bounced = true;
  memcpy(step->wall, wall, sizeof step->wall);
}

/* The place in front of a cell across the sides in `beyond`: the mirror cell bounces back there. */
static void partner_place(const int32_t cell[3], const int32_t beyond[3], uint8_t flip, int32_t place[3])
{
  for (int axis = 0; axis < 3; axis++) place[axis] = flip >> axis & 1 ? beyond[axis] : cell[axis];
}

static bool is_slip(const gab_path_place *place, uint8_t flip)
{
  return place->kind == GAB_PATH_SLIP && place->flip == flip;
}

/* Source beyond free-slip sides: the mirror cell, its velocity across the sides reversed. @return false if the mirror cell
 * is not fluid or, at the outline of a patch, does not bounce back the reverse path */
static bool mirrored(const gab_paths *paths, const gab_path_state *now, const int32_t beyond[3], uint8_t flip,
                     gab_path_step *step)
{
  int c[3];
  int32_t partner[3];
  partner_place(now->cell, beyond, flip, partner);
  const gab_path_place back = paths->what(paths->user, partner);
  if (!is_slip(&back, flip)) return false;
  for (int axis = 0; axis < 3; axis++) {
    bool flips = flip >> axis & 1;
    c[axis] = flips ? -paths->lattice->c[now->q][axis] : paths->lattice->c[now->q][axis];
    step->from.cell[axis] = flips ? now->cell[axis] : beyond[axis];
  }
  step->from.q = gab_lattice_direction(paths->lattice, c);
  step->kind = kind_at(paths, step->from.cell);
  return is_fluid(step->kind);
}

void gab_path_back(const gab_paths *paths, const gab_path_state *now, gab_path_step *step)
{
  const int8_t *c = paths->lattice->c[now->q];
  const int32_t cell[3] = {now->cell[0] - c[0], now->cell[1] - c[1], now->cell[2] - c[2]};
  const gab_path_place place = paths->what(paths->user, cell);
  step->bounced = false;
  memset(step->wall, 0, sizeof step->wall);
  step->kind = (gab_path_kind)place.kind;
  if (is_fluid(step->kind)) {
    memcpy(step->from.cell, cell, sizeof cell);
    step->from.q = now->q;
    return;
  }
  step->from = *now;
  if (step->kind == GAB_PATH_OPEN) return;
  if (step->kind == GAB_PATH_SLIP && mirrored(paths, now, cell, place.flip, step)) return;
  throw_back(now, cell, kind_at(paths, now->cell), step);
}

/* A step forward is a step back from the opposite direction, reversed. */
gab_path_kind gab_path_forth(const gab_paths *paths, const gab_path_state *now, gab_path_state *next)
{
  gab_path_state turned = *now;
  gab_path_step step;
  turned.q = gab_lattice_opposite(now->q);
  gab_path_back(paths, &turned, &step);
  *next = step.from;
  next->q = gab_lattice_opposite(step.from.q);
  return step.kind;
}

void gab_path_parent(const gab_paths *paths, const int32_t cell[3], int32_t parent[3])
{
  for (int axis = 0; axis < 3; axis++) {
    bool refines = axis < paths->lattice->dimension;
    parent[axis] = refines ? (cell[axis] - (cell[axis] & 1)) / 2 : cell[axis];
  }
}

void gab_path_child(const gab_paths *paths, const int32_t coarse[3], int child, int32_t cell[3])
{
  for (int axis = 0; axis < 3; axis++)
    cell[axis] = axis < paths->lattice->dimension ? 2 * coarse[axis] + (child >> axis & 1) : coarse[axis];
}

bool gab_child_leaves(const gab_paths *paths, const gab_path_state *start, bool second, gab_path_state *end)
{
  if (gab_path_forth(paths, start, end) != GAB_PATH_COARSE) return false;
  if (second) return true;
  gab_path_state middle = *end;
  return gab_path_forth(paths, &middle, end) == GAB_PATH_COARSE;
}

/* ------------------------------------------------------------------------------------------ fine cells */

static gab_status explosions_of_cell(const gab_paths *paths, const int32_t cell[3],
                                     gab_child_explosion_fn visit, void *user)
{
  if (kind_at(paths, cell) != GAB_PATH_FINE) return GAB_OK;
  for (int q = 1; q < paths->lattice->q; q++) {
    const gab_path_state now = {.cell = {cell[0], cell[1], cell[2]}, .q = q};
    gab_path_step first;
    gab_path_back(paths, &now, &first);
    if (first.kind != GAB_PATH_COARSE) continue;
    gab_child_explosion explosion = {.at = first.from};
    gab_path_back(paths, &first.from, &explosion.second);
    GAB_TRY(visit(user, &explosion));
  }
  return GAB_OK;
}

gab_status gab_child_explosions(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                                gab_child_explosion_fn visit, void *user)
{
  for (int32_t z = lo[2]; z < hi[2]; z++)
    for (int32_t y = lo[1]; y < hi[1]; y++) {
      bool inner =
          y > lo[1] && y + 1 < hi[1] && (paths->lattice->dimension == 2 || (z > lo[2] && z + 1 < hi[2]));
      for (int32_t x = lo[0]; x < hi[0]; x++) {
        if (inner && x == lo[0] + 1 && hi[0] - 1 > x)
          x = hi[0] - 1; /* only the outermost cells have neighbours outside */
        const int32_t cell[3] = {x, y, z};
        GAB_TRY(explosions_of_cell(paths, cell, visit, user));
      }
    }
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ coarse cells */

static int child_count(const gab_paths *paths) { return 1 << paths->lattice->dimension; }

/* Returns whether the path to an end began in a fine cell. */
static bool find_touch(const gab_paths *paths, const int32_t coarse[3], int q, int child,
                       gab_child_touch *touch)
{
  gab_path_state now = {.q = q};
  gab_path_step last, first;
  gab_path_child(paths, coarse, child, now.cell);
  gab_path_back(paths, &now, &last);
  *touch = (gab_child_touch){
      .child = child, .second = last.kind == GAB_PATH_FINE, .start = last.from, .bounced = last.bounced};
  memcpy(touch->wall, last.wall, sizeof touch->wall);
  if (touch->second) return true;
  if (last.kind != GAB_PATH_COARSE) return false;
  gab_path_back(paths, &last.from, &first);
  touch->start = first.from;
  return first.kind == GAB_PATH_FINE;
}

static int find_touches(const gab_paths *paths, const int32_t coarse[3], int q,
                        gab_child_touch touch[GAB_CHILD_COUNT_MAX])
{
  int count = 0;
  for (int child = 0; child < child_count(paths); child++)
    count += find_touch(paths, coarse, q, child, &touch[count]);
  return count;
}

static gab_path_place place_of_coarse(const gab_paths *paths, const int32_t coarse[3])
{
  int32_t cell[3];
  gab_path_child(paths, coarse, 0, cell);
  return paths->what(paths->user, cell);
}

uint32_t gab_child_surroundings(const gab_paths *paths, const int32_t coarse[3])
{
  uint32_t around = 0;
  for (int direction = 0; direction < GAB_DIRECTIONS; direction++) {
    int offset[3];
    gab_direction_offset(direction, offset);
    if (paths->lattice->dimension == 2 && offset[2] != 0) continue;
    const int32_t cell[3] = {coarse[0] + offset[0], coarse[1] + offset[1], coarse[2] + offset[2]};
    if (place_of_coarse(paths, cell).kind == GAB_PATH_COARSE) around |= UINT32_C(1) << direction;
  }
  return around;
}

/* Paths of two sub-steps stay within the cell and the next cell along c. */
bool gab_child_may_meet(uint32_t around, const int c[3])
{
  for (int z = 0; z <= abs(c[2]); z++)
    for (int y = 0; y <= abs(c[1]); y++)
      for (int x = 0; x <= abs(c[0]); x++)
        if (!(around >> gab_direction_of(x * c[0], y * c[1], z * c[2]) & 1)) return true;
  return false;
}

static bool is_reflected_back(const gab_paths *paths, const int32_t coarse[3], const int32_t beyond[3],
                              uint8_t flip)
{
  int32_t partner[3];
  partner_place(coarse, beyond, flip, partner);
  const gab_path_place back = place_of_coarse(paths, partner);
  return is_slip(&back, flip);
}

/* Source of the coarse link of (X, q). @return false if there is no link because a finer block lies there */
static bool source_of_link(const gab_paths *paths, const int32_t coarse[3], int q, gab_path_state *source)
{
  const int8_t *c = paths->lattice->c[q];
  const gab_path_state thrown_back = {.cell = {coarse[0], coarse[1], coarse[2]},
                                      .q = gab_lattice_opposite(q)};
  *source = (gab_path_state){.cell = {coarse[0] - c[0], coarse[1] - c[1], coarse[2] - c[2]}, .q = q};
  gab_path_place place = place_of_coarse(paths, source->cell);
  if (place.kind == GAB_PATH_COARSE) return true;
  if (place.kind == GAB_PATH_SLIP && is_reflected_back(paths, coarse, source->cell, place.flip)) {
    int mirrored_c[3];
    for (int axis = 0; axis < 3; axis++) {
      bool flips = place.flip >> axis & 1;
      mirrored_c[axis] = flips ? -c[axis] : c[axis];
      if (flips) source->cell[axis] = coarse[axis];
    }
    source->q = gab_lattice_direction(paths->lattice, mirrored_c);
    if (place_of_coarse(paths, source->cell).kind == GAB_PATH_COARSE) return true;
  }
  *source = thrown_back;
  return place.kind != GAB_PATH_FINE && place.kind != GAB_PATH_FINE_WALL;
}

/* @return false for ordinary streaming */
static bool find_arrival(const gab_paths *paths, const int32_t coarse[3], int q, gab_child_arrival *arrival)
{
  gab_child_touch ignored[GAB_CHILD_COUNT_MAX];
  gab_path_state source;
  const int n = child_count(paths);
  memcpy(arrival->cell, coarse, sizeof arrival->cell);
  arrival->q = q;
  arrival->touched = find_touches(paths, coarse, q, arrival->touch);
  bool has_link = source_of_link(paths, coarse, q, &source);
  if (!has_link) {
    arrival->keep = 0;
    arrival->back = n - arrival->touched;
    return true;
  }
  int there = find_touches(paths, source.cell, gab_lattice_opposite(source.q), ignored);
  int most = there > arrival->touched ? there : arrival->touched;
  arrival->keep = n - most;
  arrival->back = most - arrival->touched;
  return most > 0;
}

gab_status gab_child_arrivals(const gab_paths *paths, const int32_t lo[3], const int32_t hi[3],
                              gab_child_arrival_fn visit, void *user)
{
  for (int32_t z = lo[2]; z < hi[2]; z++)
    for (int32_t y = lo[1]; y < hi[1]; y++)
      for (int32_t x = lo[0]; x < hi[0]; x++) {
        const int32_t cell[3] = {x, y, z};
        if (place_of_coarse(paths, cell).kind != GAB_PATH_COARSE) continue;
        const uint32_t around = gab_child_surroundings(paths, cell);
        for (int q = 1; q < paths->lattice->q; q++) {
          gab_child_arrival arrival;
          const int8_t *c = paths->lattice->c[q];
          if (!gab_child_may_meet(around, (const int[3]){-c[0], -c[1], -c[2]})) continue;
          if (find_arrival(paths, cell, q, &arrival)) GAB_TRY(visit(user, &arrival));
        }
      }
  return GAB_OK;
}
