/* SPDX-License-Identifier: Apache-2.0 */
/* Populations across a border between two levels, compared with virtual particles that are moved one by one, in
 * integers: for random patterns of coarse and fine cells, solid cells and sides. */
#include "lbm/levels/child_paths_impl.h"

#include "core/base/hash.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_CELLS = 20 * 20 * 20, Q = GAB_LATTICE_MAX_Q };

typedef struct grid {
  const gab_lattice *lattice;
  int32_t size[3]; /* of fine resolution */
  uint8_t kind[MOST_CELLS];
  uint8_t sides[3]; /* per axis: 0 periodic, otherwise the kind of both sides */
} grid;

/* By cell of fine resolution; a coarse cell has its value at the place of its first child. */
typedef struct values {
  int64_t at[MOST_CELLS][Q];
} values;

static size_t index_of(const grid *it, const int32_t cell[3])
{
  size_t index = 0;
  for (int axis = 2; axis >= 0; axis--) {
    int32_t n = it->size[axis];
    index = index * (size_t)n + (size_t)(((cell[axis] % n) + n) % n);
  }
  return index;
}

static void cell_at(const grid *it, size_t index, int32_t cell[3])
{
  for (int axis = 0; axis < 3; axis++) {
    cell[axis] = (int32_t)(index % (size_t)it->size[axis]);
    index /= (size_t)it->size[axis];
  }
}

static size_t cell_count(const grid *it)
{
  return (size_t)it->size[0] * (size_t)it->size[1] * (size_t)it->size[2];
}

static gab_path_place what(const void *user, const int32_t cell[3])
{
  const grid *it = user;
  gab_path_place place = {.kind = GAB_PATH_SLIP};
  bool outside = false;
  for (int axis = 0; axis < it->lattice->dimension; axis++) {
    if (it->sides[axis] == 0 || (cell[axis] >= 0 && cell[axis] < it->size[axis])) continue;
    outside = true;
    if (it->sides[axis] == GAB_PATH_SLIP) place.flip |= (uint8_t)(1 << axis);
    else if (place.kind != GAB_PATH_WALL) place.kind = it->sides[axis];
  }
  if (!outside) place = (gab_path_place){.kind = it->kind[index_of(it, cell)]};
  return place;
}

static bool is_fluid(const grid *it, const int32_t cell[3])
{
  int kind = what(it, cell).kind;
  return kind == GAB_PATH_COARSE || kind == GAB_PATH_FINE;
}

/* ------------------------------------------------------------------------------------------ patterns */

typedef struct recipe {
  int dimension;
  int32_t coarse[3];
  int32_t patch;                                /* coarse cells per side of a patch of one level */
  int fine_percent, coarse_solids, fine_solids; /* percent */
  uint8_t sides[3];
  bool full; /* D3Q27 */
} recipe;

static uint64_t draw(uint64_t seed, const int32_t cell[3], uint64_t stream)
{
  return gab_hash_counter(seed, stream, (uint64_t)((cell[2] * 1000 + cell[1]) * 1000 + cell[0])) % 100;
}

static void make_grid(grid *it, const recipe *given, uint64_t seed)
{
  it->lattice = given->full ? &gab_lattice_d3q27 : gab_lattice_usual(given->dimension);
  memcpy(it->sides, given->sides, sizeof it->sides);
  for (int axis = 0; axis < 3; axis++)
    it->size[axis] = given->coarse[axis] * (axis < given->dimension ? 2 : 1);
  assert_true(cell_count(it) <= MOST_CELLS);
  for (size_t i = 0; i < cell_count(it); i++) {
    int32_t cell[3], parent[3], patch[3];
    cell_at(it, i, cell);
    for (int axis = 0; axis < 3; axis++) {
      parent[axis] = cell[axis] / (axis < given->dimension ? 2 : 1);
      patch[axis] = parent[axis] / given->patch;
    }
    bool fine = draw(seed, patch, 1) < (uint64_t)given->fine_percent;
    bool solid = fine ? draw(seed, cell, 2) < (uint64_t)given->fine_solids
                      : draw(seed, parent, 3) < (uint64_t)given->coarse_solids;
    it->kind[i] =
        fine ? (solid ? GAB_PATH_FINE_WALL : GAB_PATH_FINE) : (solid ? GAB_PATH_WALL : GAB_PATH_COARSE);
  }
}

static void parent_of(const grid *it, const int32_t cell[3], int32_t first_child[3])
{
  for (int axis = 0; axis < 3; axis++)
    first_child[axis] = axis < it->lattice->dimension ? cell[axis] - (cell[axis] & 1) : cell[axis];
}

/* ------------------------------------------------------------------------------------------ by particles */

/* One sub-step of one particle. @return false if it leaves */
static bool move(const grid *it, gab_path_state *at)
{
  const gab_lattice *lattice = it->lattice;
  const int8_t *c = lattice->c[at->q];
  int32_t next[3] = {at->cell[0] + c[0], at->cell[1] + c[1], at->cell[2] + c[2]};
  gab_path_place place = what(it, next);
  int flipped[3] = {c[0], c[1], c[2]};
  if (place.kind == GAB_PATH_OPEN) return false;
  if (place.kind == GAB_PATH_SLIP)
    for (int axis = 0; axis < 3; axis++)
      if (place.flip >> axis & 1) {
        next[axis] = at->cell[axis];
        flipped[axis] = -c[axis];
      }
  if (!is_fluid(it, next)) {
    at->q = gab_lattice_opposite(at->q);
    return true;
  }
  memcpy(at->cell, next, sizeof next);
  for (at->q = 0; lattice->c[at->q][0] != flipped[0] || lattice->c[at->q][1] != flipped[1] ||
                  lattice->c[at->q][2] != flipped[2];)
    at->q++;
  return true;
}

/* Moves all particles at fluid cells; no two may meet. */
static void move_all(const grid *it, const values *before, values *after)
{
  static bool taken[MOST_CELLS][Q];
  memset(taken, 0, sizeof taken);
  memset(after, 0, sizeof *after);
  for (size_t i = 0; i < cell_count(it); i++)
    for (int q = 0; q < it->lattice->q; q++) {
      gab_path_state at = {.q = q};
      cell_at(it, i, at.cell);
      if (!is_fluid(it, at.cell) || !move(it, &at)) continue;
      size_t to = index_of(it, at.cell);
      assert_false(taken[to][at.q]);
      taken[to][at.q] = true;
      after->at[to][at.q] = before->at[i][q];
    }
}

/* Fine cells redistribute their populations and conserve the sum. */
static void collide_fine(const grid *it, values *f)
{
  for (size_t i = 0; i < cell_count(it); i++)
    if (it->kind[i] == GAB_PATH_FINE)
      for (int q = 1; q < it->lattice->q; q++) {
        int64_t half = f->at[i][q] / 3;
        f->at[i][q] -= half;
        f->at[i][(q * 5 + 3) % it->lattice->q] += half;
      }
}

static void random_state(const grid *it, uint64_t seed, values *f)
{
  memset(f, 0, sizeof *f);
  for (size_t i = 0; i < cell_count(it); i++) {
    int32_t cell[3], first[3];
    cell_at(it, i, cell);
    if (!is_fluid(it, cell)) continue;
    if (it->kind[i] == GAB_PATH_COARSE) parent_of(it, cell, first);
    else memcpy(first, cell, sizeof first);
    for (int q = 0; q < it->lattice->q; q++)
      f->at[i][q] = (int64_t)(gab_hash_counter(seed, (uint64_t)q, index_of(it, first)) % 1000000);
  }
}

/* ------------------------------------------------------------------------------------------ by the lists */

typedef struct run {
  const grid *it;
  gab_paths paths;
  const values *start, *half; /* sent at t, and by fine cells at t + 1/2 */
  values *ghosts;             /* sent by children of coarse cells to fine cells */
  values *ends;               /* n times the arrivals of coarse cells, at the place of the first child */
  bool second, plain;
  size_t pulls, touches;
  bool (*used)[Q]; /* fine starts of s1 (first half) and s2 */
} run;

static int64_t coarse_value(const run *r, const int32_t cell[3], int q)
{
  return r->start->at[index_of(r->it, cell)][q];
}

/* Arrival in a coarse cell by its own link, as in links.c. */
static int64_t coarse_link(const run *r, const int32_t child[3], int q)
{
  const gab_lattice *lattice = r->it->lattice;
  int32_t from[3], first[3];
  int c[3];
  parent_of(r->it, child, first);
  gab_path_place place;
  for (int axis = 0; axis < 3; axis++)
    from[axis] = first[axis] - lattice->c[q][axis] * (axis < lattice->dimension ? 2 : 1);
  place = what(r->it, from);
  for (int axis = 0; axis < 3; axis++) {
    bool flips = place.kind == GAB_PATH_SLIP && (place.flip >> axis & 1);
    c[axis] = flips ? -lattice->c[q][axis] : lattice->c[q][axis];
    if (flips) from[axis] = first[axis];
  }
  if (place.kind == GAB_PATH_OPEN) return 0;
  if (what(r->it, from).kind != GAB_PATH_COARSE) return coarse_value(r, first, gab_lattice_opposite(q));
  int there = 0;
  while (lattice->c[there][0] != c[0] || lattice->c[there][1] != c[1] || lattice->c[there][2] != c[2])
    there++;
  return coarse_value(r, from, there);
}

static gab_status take_pull(void *user, const gab_child_explosion *pull)
{
  run *r = user;
  const gab_path_state *from = &pull->second.from;
  int64_t value = coarse_value(r, pull->at.cell, pull->at.q);
  if (r->second && pull->second.kind == GAB_PATH_OPEN) value = coarse_link(r, pull->at.cell, pull->at.q);
  else if (r->second) value = coarse_value(r, from->cell, from->q);
  if (pull->second.kind == GAB_PATH_FINE && !r->second) {
    bool *used = &r->used[index_of(r->it, from->cell)][from->q];
    assert_false(*used);
    *used = true;
  }
  r->ghosts->at[index_of(r->it, pull->at.cell)][pull->at.q] = value;
  r->pulls++;
  return GAB_OK;
}

static void take_pulls(run *r, bool second)
{
  r->second = second;
  memset(r->ghosts, 0, sizeof *r->ghosts);
  const int edge = 2;
  int32_t lo[3], hi[3];
  for (size_t i = 0; i < cell_count(r->it); i++) {
    cell_at(r->it, i, lo);
    bool first = true;
    for (int axis = 0; axis < r->it->lattice->dimension; axis++) first = first && lo[axis] % edge == 0;
    for (int axis = 0; axis < 3; axis++) hi[axis] = lo[axis] + (axis < r->it->lattice->dimension ? edge : 1);
    if (first) assert_int_equal(gab_child_explosions(&r->paths, lo, hi, take_pull, r), GAB_OK);
  }
}

static gab_status take_arrival(void *user, const gab_child_arrival *arrival)
{
  run *r = user;
  int32_t child[3];
  for (int axis = 0; axis < 3; axis++)
    child[axis] = arrival->cell[axis] * (axis < r->it->lattice->dimension ? 2 : 1);
  int64_t sum = arrival->back * coarse_value(r, child, gab_lattice_opposite(arrival->q));
  if (arrival->keep > 0) sum += arrival->keep * coarse_link(r, child, arrival->q);
  assert_true(arrival->keep >= 0 && arrival->back >= 0 &&
              arrival->keep + arrival->back + arrival->touched == 1 << r->it->lattice->dimension);
  for (int i = 0; i < arrival->touched; i++) {
    const gab_child_touch *touch = &arrival->touch[i];
    const gab_path_state *start = &touch->start;
    size_t from = index_of(r->it, start->cell);
    bool *used = &r->used[from + (touch->second ? MOST_CELLS : 0)][start->q];
    assert_false(*used);
    *used = true;
    sum += (touch->second ? r->half : r->start)->at[from][start->q];
    gab_path_state end;
    assert_true(gab_child_leaves(&r->paths, start, touch->second, &end) && end.q == arrival->q);
    for (int axis = 0; axis < r->it->lattice->dimension; axis++)
      assert_int_equal(end.cell[axis], child[axis] + (touch->child >> axis & 1));
    r->touches++;
  }
  r->ends->at[index_of(r->it, child)][arrival->q] = sum;
  return GAB_OK;
}

/* Ordinary streaming of fine cells, including ghosts. */
static void stream_fine(const run *r, const values *sent, values *arrived)
{
  memset(arrived, 0, sizeof *arrived);
  for (size_t i = 0; i < cell_count(r->it); i++)
    for (int q = 0; q < r->it->lattice->q && r->it->kind[i] == GAB_PATH_FINE; q++) {
      gab_path_state now = {.q = q};
      gab_path_step step = {.kind = GAB_PATH_FINE};
      cell_at(r->it, i, now.cell);
      step.from = now;
      if (q > 0) gab_path_back(&r->paths, &now, &step);
      size_t from = index_of(r->it, step.from.cell);
      if (step.kind == GAB_PATH_OPEN) continue;
      arrived->at[i][q] = (step.kind == GAB_PATH_FINE ? sent : r->ghosts)->at[from][step.from.q];
    }
}

/* All populations of coarse cells that are in no list. */
static void stream_coarse(const run *r)
{
  for (size_t i = 0; i < cell_count(r->it); i++) {
    int32_t cell[3], first[3];
    cell_at(r->it, i, cell);
    parent_of(r->it, cell, first);
    if (r->it->kind[i] != GAB_PATH_COARSE || memcmp(cell, first, sizeof cell) != 0) continue;
    const int n = 1 << r->it->lattice->dimension;
    for (int q = 0; q < r->it->lattice->q; q++)
      r->ends->at[i][q] = n * (q == 0 ? r->start->at[i][0] : coarse_link(r, cell, q));
  }
}

static void take_arrivals(run *r)
{
  stream_coarse(r);
  int32_t lo[3] = {0, 0, 0}, hi[3];
  for (int axis = 0; axis < 3; axis++)
    hi[axis] = r->it->size[axis] / (axis < r->it->lattice->dimension ? 2 : 1);
  assert_int_equal(gab_child_arrivals(&r->paths, lo, hi, take_arrival, r), GAB_OK);
}

/* ------------------------------------------------------------------------------------------ comparison */

static values start, half, moved, end, ghosts, fine, coarse;
static bool used[2 * MOST_CELLS][Q];

/* Fine starts that must be in a list: their particles enter a coarse cell at once, or one sub-step later. */
static void every_fine_start_has_an_end(const run *r)
{
  for (int second = 0; second < 2; second++)
    for (size_t i = 0; i < cell_count(r->it); i++)
      for (int q = 1; q < r->it->lattice->q && r->it->kind[i] == GAB_PATH_FINE; q++) {
        gab_path_state at = {.q = q};
        cell_at(r->it, i, at.cell);
        bool expected = move(r->it, &at) && what(r->it, at.cell).kind == GAB_PATH_COARSE;
        if (expected && !second) expected = move(r->it, &at);
        assert_int_equal(r->used[i + (second ? MOST_CELLS : 0)][q], expected);
      }
}

static int64_t mass(const grid *it, const values *fine_part, const values *coarse_part)
{
  int64_t sum = 0;
  for (size_t i = 0; i < cell_count(it); i++)
    for (int q = 0; q < it->lattice->q; q++)
      sum += it->kind[i] == GAB_PATH_FINE     ? fine_part->at[i][q]
             : it->kind[i] == GAB_PATH_COARSE ? coarse_part->at[i][q]
                                              : 0;
  return sum;
}

static void expect_same_fine(const grid *it, const values *wanted, const values *seen)
{
  for (size_t i = 0; i < cell_count(it); i++)
    if (it->kind[i] == GAB_PATH_FINE) assert_memory_equal(wanted->at[i], seen->at[i], sizeof seen->at[i]);
}

/* All children of a coarse cell together. */
static void expect_same_coarse(const grid *it, const values *wanted, const values *seen)
{
  static values sums;
  memset(&sums, 0, sizeof sums);
  for (size_t i = 0; i < cell_count(it); i++) {
    int32_t cell[3], first[3];
    cell_at(it, i, cell);
    parent_of(it, cell, first);
    if (it->kind[i] != GAB_PATH_COARSE) continue;
    for (int q = 0; q < it->lattice->q; q++) sums.at[index_of(it, first)][q] += wanted->at[i][q];
  }
  assert_memory_equal(sums.at, seen->at, sizeof sums.at);
}

static run check(const grid *it, bool has_walls, bool is_open, uint64_t seed)
{
  run r = {
      .it = it, .paths = {.lattice = it->lattice, .what = what, .user = it}, .start = &start, .half = &half};
  r.ghosts = &ghosts;
  r.ends = &coarse;
  r.used = used;
  memset(used, 0, sizeof used);
  memset(&coarse, 0, sizeof coarse);
  random_state(it, seed, &start);
  move_all(it, &start, &moved);
  take_pulls(&r, false);
  stream_fine(&r, &start, &fine);
  expect_same_fine(it, &moved, &fine);

  half = moved;
  collide_fine(it, &half);
  move_all(it, &half, &end);
  take_pulls(&r, true);
  stream_fine(&r, &half, &fine);
  if (!is_open) expect_same_fine(it, &end, &fine);
  take_arrivals(&r);
  if (!has_walls) expect_same_coarse(it, &end, &coarse);
  if (!is_open) every_fine_start_has_an_end(&r);
  if (!is_open) assert_int_equal(mass(it, &start, &start), mass(it, &fine, &coarse));
  return r;
}

static grid the_grid;

static void try_recipe(const recipe *given, int rounds)
{
  bool has_walls = given->coarse_solids > 0 || given->fine_solids > 0, is_open = false;
  size_t pulls = 0, touches = 0;
  for (int axis = 0; axis < 3; axis++) {
    has_walls = has_walls || given->sides[axis] != 0;
    is_open = is_open || given->sides[axis] == GAB_PATH_OPEN;
  }
  for (uint64_t seed = 0; seed < (uint64_t)rounds; seed++) {
    make_grid(&the_grid, given, seed);
    run r = check(&the_grid, has_walls, is_open, seed + 1000);
    pulls += r.pulls;
    touches += r.touches;
  }
  assert_true(pulls > 0 && touches > 0);
}

static void paths_without_walls_are_those_of_particles(void **state)
{
  (void)state;
  for (int32_t patch = 1; patch <= 5; patch++) {
    const recipe plane = {.dimension = 2, .coarse = {10, 10, 1}, .patch = patch, .fine_percent = 50};
    recipe space = {.dimension = 3, .coarse = {8, 8, 8}, .patch = patch, .fine_percent = 50};
    try_recipe(&plane, 20);
    if (patch != 3) try_recipe(&space, 2);
    space.full = true;
    if (patch != 3) try_recipe(&space, 2);
  }
}

static void every_path_starts_and_ends_once_among_walls(void **state)
{
  (void)state;
  for (int32_t patch = 1; patch <= 4; patch++)
    for (int variant = 0; variant < 6; variant++) {
      recipe plane = {.dimension = 2, .coarse = {9, 10, 1}, .patch = patch, .fine_percent = 50};
      plane.coarse_solids = variant % 2 ? 30 : 10;
      plane.fine_solids = variant % 3 ? 25 : 0;
      if (variant >= 2) plane.sides[variant % 2] = GAB_PATH_WALL;
      recipe space = plane;
      space.dimension = 3;
      space.coarse[2] = 8;
      if (variant >= 4) space.sides[2] = GAB_PATH_WALL;
      try_recipe(&plane, 20);
      try_recipe(&space, 1);
      space.full = true;
      try_recipe(&space, 1);
    }
}

static void free_slip_sides_conserve_mass(void **state)
{
  (void)state;
  for (int variant = 0; variant < 4; variant++) {
    recipe plane = {.dimension = 2, .coarse = {10, 8, 1}, .patch = 2 + variant % 2, .fine_percent = 50};
    plane.sides[0] = variant % 2 ? GAB_PATH_SLIP : GAB_PATH_WALL;
    plane.sides[1] = GAB_PATH_SLIP;
    plane.fine_solids = plane.coarse_solids = variant >= 2 ? 20 : 0;
    recipe space = plane;
    space.dimension = 3;
    space.coarse[2] = 8;
    space.sides[2] = variant >= 2 ? GAB_PATH_SLIP : 0;
    try_recipe(&plane, 20);
    try_recipe(&space, 1);
    space.full = true;
    try_recipe(&space, 1);
  }
}

static void open_sides_take_the_coarse_link(void **state)
{
  (void)state;
  const recipe plane = {.dimension = 2,
                        .coarse = {8, 8, 1},
                        .patch = 2,
                        .fine_percent = 50,
                        .sides = {GAB_PATH_OPEN, GAB_PATH_WALL, 0}};
  try_recipe(&plane, 20);
}

static void uniform_flow_stays_uniform(void **state)
{
  (void)state;
  static const recipe recipes[] = {
      {.dimension = 2, .coarse = {10, 10, 1}, .patch = 2, .fine_percent = 50},
      {.dimension = 3, .coarse = {8, 8, 8}, .patch = 2, .fine_percent = 40},
      {.dimension = 3, .coarse = {8, 8, 8}, .patch = 2, .fine_percent = 40, .full = true}};
  for (int i = 0; i < 3; i++) {
    make_grid(&the_grid, &recipes[i], 7);
    for (size_t k = 0; k < cell_count(&the_grid); k++)
      for (int q = 0; q < Q; q++) start.at[k][q] = q < the_grid.lattice->q ? 1 << q : 0;
    half = start;
    run r = {.it = &the_grid, .paths = {the_grid.lattice, what, &the_grid}, .start = &start, .half = &half};
    r.ghosts = &ghosts;
    r.ends = &coarse;
    r.used = used;
    memset(used, 0, sizeof used);
    memset(&coarse, 0, sizeof coarse);
    take_pulls(&r, false);
    stream_fine(&r, &start, &fine);
    expect_same_fine(&the_grid, &start, &fine);
    take_pulls(&r, true);
    stream_fine(&r, &half, &fine);
    expect_same_fine(&the_grid, &start, &fine);
    take_arrivals(&r);
    expect_same_coarse(&the_grid, &start, &coarse);
  }
}

int main(void)
{
  const struct CMUnitTest tests[] = {cmocka_unit_test(paths_without_walls_are_those_of_particles),
                                     cmocka_unit_test(every_path_starts_and_ends_once_among_walls),
                                     cmocka_unit_test(free_slip_sides_conserve_mass),
                                     cmocka_unit_test(open_sides_take_the_coarse_link),
                                     cmocka_unit_test(uniform_flow_stays_uniform)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
