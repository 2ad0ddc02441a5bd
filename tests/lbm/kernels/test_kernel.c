/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: labels=quick timeout=60 */
#include "core/base/hash.h"
#include "lbm/lbm_impl.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* Random populations in all cells and ghosts; random runs: every second row omits about a fifth of its cells, the
 * others few, so that there are short and long runs. */
typedef struct sample {
  const gab_lattice *lattice;
  gab_field *src, *dst;
  gab_run runs[20 * 20 * 40];
  size_t run_count;
  gab_storage two_grids[2], in_place[2];
} sample;

static double random_number(uint64_t stream, uint64_t counter)
{
  return gab_hash_uniform(7, stream, counter);
}

static void list_runs(sample *it, uint64_t seed)
{
  const int32_t *cells = it->src->shape.cells;
  it->run_count = 0;
  for (int32_t z = 0; z < cells[2]; z++)
    for (int32_t y = 0; y < cells[1]; y++)
      for (int32_t x = 0; x < cells[0]; x++) {
        if (random_number(seed + 1, (uint64_t)(x + 100 * (y + 100 * z))) < (y % 2 ? 0.2 : 0.02)) continue;
        uint32_t start = (uint32_t)gab_field_index(&it->src->map, x, y, z, 0);
        gab_run *last = it->run_count > 0 ? &it->runs[it->run_count - 1] : NULL;
        if (last && last->y == y && last->z == z && last->x + last->length == x) last->length++;
        else it->runs[it->run_count++] = (gab_run){.start = start, .length = 1, .x = x, .y = y, .z = z};
      }
}

static void make_sample(sample *it, const gab_lattice *lattice, gab_precision precision, uint64_t seed)
{
  bool deep = lattice->dimension == 3;
  gab_field_shape shape = {{37, 11, deep ? 5 : 1}, {1, 1, deep}, lattice->q, GAB_LAYOUT_SOA, precision};
  it->lattice = lattice;
  assert_int_equal(gab_field_create(&shape, &it->src), GAB_OK);
  assert_int_equal(gab_field_create(&shape, &it->dst), GAB_OK);
  for (size_t i = 0; i < it->src->map.elements; i++) {
    double value = 0.02 * (random_number(seed, i) - 0.5);
    if (precision == GAB_PRECISION_FLOAT) ((float *)it->src->data)[i] = (float)value;
    else ((double *)it->src->data)[i] = value;
  }
  list_runs(it, seed);
  gab_storage_fill(lattice, &it->src->map, false, it->two_grids);
  gab_storage_fill(lattice, &it->src->map, true, it->in_place);
}

/* A kernel with any model. */
typedef struct any_kernel {
  const gab_collision *collision;
  gab_kernel_variant variant;
} any_kernel;

/* Lattice, precision, model, force: the number seeds the random numbers. TRT and MRT keep theirs; those of D3Q27
 * follow all others. */
static const gab_collision *const new_models[] = {&gab_collision_rr, &gab_collision_smagorinsky},
                                  *const full_models[] = {&gab_collision_trt, &gab_collision_rr,
                                                          &gab_collision_smagorinsky};
enum {
  D2Q9,
  D3Q19,
  D3Q27,
  FIRST_LATTICES = 2 * GAB_KERNELS_PER_LATTICE,
  FIRST_KERNELS = 2 * FIRST_LATTICES,
  FULL_KERNELS = FIRST_KERNELS + (int)(sizeof new_models / sizeof new_models[0]) * FIRST_LATTICES,
  KERNELS = FULL_KERNELS + (int)(sizeof full_models / sizeof full_models[0]) * GAB_KERNELS_PER_LATTICE
};
static gab_kernel_variant variant_of_number(int number)
{
  return (gab_kernel_variant){number / GAB_KERNELS_PER_LATTICE,
                              (gab_kernel_reals)(number / 2 % GAB_REALS_COUNT), number % 2};
}
static any_kernel kernel_of_number(int number)
{
  const int full = number - FULL_KERNELS;
  if (full >= 0)
    return (any_kernel){full_models[full / GAB_KERNELS_PER_LATTICE],
                        variant_of_number(D3Q27 * GAB_KERNELS_PER_LATTICE + full % GAB_KERNELS_PER_LATTICE)};
  if (number >= FIRST_KERNELS)
    return (any_kernel){new_models[number / FIRST_LATTICES - 2], variant_of_number(number % FIRST_LATTICES)};
  return (any_kernel){number / 2 % 2 ? &gab_collision_mrt : &gab_collision_trt,
                      variant_of_number(number / 4 * 2 + number % 2)};
}
static const gab_lattice *lattice_of(any_kernel which) { return gab_lattice_at(which.variant.lattice); }
static const gab_kernel *kernel_in(gab_kernel_kind family, any_kernel which)
{
  return gab_kernel_of(which.collision->kernels, family, which.variant);
}

static gab_precision precision_of(any_kernel which)
{
  return which.variant.reals == GAB_REALS_DOUBLE ? GAB_PRECISION_DOUBLE : GAB_PRECISION_FLOAT;
}

static void sweep_two_grids(const sample *it, const gab_kernel *kernel, gab_field *to,
                            const gab_collision_rates *rates)
{
  const gab_sweep sweep = {.from = it->src->data,
                           .to = to->data,
                           .arriving = it->two_grids[0].arriving,
                           .sent = it->two_grids[0].sent,
                           .rates = rates};
  kernel->run(&sweep, it->runs, it->run_count);
}

static void drop_sample(sample *it)
{
  gab_field_destroy(&it->src);
  gab_field_destroy(&it->dst);
}

static sample one;

static void vector_kernels_give_the_same_bits_as_the_reference(void **state)
{
  (void)state;
  const gab_collision_rates rates[] = {
      {1.3, 0.9, {1e-3, -2e-3, 5e-4}, 1e-2, -3e-2, 2e-2, -1e-2, 0.3, .level = 0},
      {1.99, 1.99, {1e-5, 0, 0}, -1e-3, 1e-2, 0, 0.1, 2, .level = 0},
      {0.51, 1.7, {0, 0, -1e-2}, 1e-3, 1e-3, 1e-3, 1e-3, 18, .level = 0}};
  for (int variant = 0; variant < KERNELS; variant++)
    for (size_t r = 0; r < 3; r++) {
      const any_kernel which = kernel_of_number(variant);
      const gab_lattice *lattice = lattice_of(which);
      gab_collision_rates used = rates[r];
      if (lattice->dimension == 2) used.force[2] = 0;
      make_sample(&one, lattice, precision_of(which), 100 * r + (uint64_t)variant);
      size_t bytes = one.dst->map.elements * gab_precision_bytes(one.dst->shape.precision);
      gab_field *other;
      assert_int_equal(gab_field_create(&one.dst->shape, &other), GAB_OK);
      sweep_two_grids(&one, kernel_in(GAB_FAMILY_REFERENCE, which), one.dst, &used);
      sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), other, &used);
      assert_memory_equal(one.dst->data, other->data, bytes);
      gab_field_destroy(&other);
      drop_sample(&one);
    }
}

/* One hash of the results of kernels for some numbers. */
static uint64_t hash_of_bits(int first, int last)
{
  const gab_collision_rates rates = {1.3, 0.9, {1e-3, -2e-3, 0}, 1e-2, -3e-2, 2e-2, -1e-2, 0.3, .level = 0};
  uint64_t all = 0;
  for (int variant = first; variant < last; variant++) {
    const any_kernel which = kernel_of_number(variant);
    make_sample(&one, lattice_of(which), precision_of(which), 5);
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    for (size_t k = 0; k < one.run_count; k++)
      for (int32_t i = 0; i < one.runs[k].length; i++)
        for (int q = 0; q < one.lattice->q; q++) {
          double value = gab_field_get(one.dst, one.runs[k].x + i, one.runs[k].y, one.runs[k].z, q);
          uint64_t bits;
          memcpy(&bits, &value, sizeof bits);
          all = gab_hash_counter(all, bits, (uint64_t)variant);
        }
    drop_sample(&one);
  }
  return all;
}

/* They change only with the arithmetic: not with the compiler, its options, or the instructions of the machine. */
static void bits_are_those_of_every_machine(void **state)
{
  (void)state;
  assert_int_equal(hash_of_bits(0, FIRST_KERNELS), UINT64_C(0x73dab64b80a5c8e5));
  const uint64_t of_new_models[] = {UINT64_C(0x9774edfc55f1b12c), UINT64_C(0xcddc50dba5e838a6)};
  for (int model = 0; model < 2; model++) {
    const int first = FIRST_KERNELS + model * FIRST_LATTICES;
    assert_int_equal(hash_of_bits(first, first + FIRST_LATTICES), of_new_models[model]);
  }
  const uint64_t of_full[] = {UINT64_C(0xb91af884d1a7e06c), UINT64_C(0xbc65ac4b2dca9050),
                              UINT64_C(0xd0219bea55480017)};
  for (int model = 0; model < 3; model++) {
    const int first = FULL_KERNELS + model * GAB_KERNELS_PER_LATTICE;
    assert_int_equal(hash_of_bits(first, first + GAB_KERNELS_PER_LATTICE), of_full[model]);
  }
}

/* From the same floats, each result is that of the double kernel, rounded once. */
static void mixed_kernels_compute_in_double_and_store_floats(void **state)
{
  (void)state;
  const gab_collision_rates rates = {1.3, 0.9, {1e-3, -2e-3, 0}, 1e-2, -3e-2, 2e-2, -1e-2, 0.3, .level = 0};
  static sample wide;
  for (int variant = 0; variant < KERNELS; variant++) {
    any_kernel which = kernel_of_number(variant);
    if (which.variant.reals != GAB_REALS_MIXED) continue;
    const gab_lattice *lattice = lattice_of(which);
    make_sample(&one, lattice, GAB_PRECISION_FLOAT, (uint64_t)variant);
    make_sample(&wide, lattice, GAB_PRECISION_DOUBLE, (uint64_t)variant);
    assert_int_equal(gab_field_copy(wide.src, one.src), GAB_OK);
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    which.variant.reals = GAB_REALS_DOUBLE;
    sweep_two_grids(&wide, kernel_in(GAB_FAMILY_VECTOR, which), wide.dst, &rates);
    for (size_t k = 0; k < one.run_count; k++)
      for (int32_t i = 0; i < one.runs[k].length; i++)
        for (int q = 0; q < lattice->q; q++) {
          const gab_run *run = &one.runs[k];
          float wanted = (float)gab_field_get(wide.dst, run->x + i, run->y, run->z, q);
          assert_true(gab_field_get(one.dst, run->x + i, run->y, run->z, q) == (double)wanted);
        }
    drop_sample(&one);
    drop_sample(&wide);
  }
}

/* Position of a population sent by a cell, ghosts included if it is inside the field. */
static bool place_of(const sample *it, const gab_storage *state, int32_t x, int32_t y, int32_t z, int q,
                     size_t *place)
{
  const int32_t cell[3] = {x, y, z};
  for (int axis = 0; axis < 3; axis++) {
    int32_t there = cell[axis] + state->shift[q][axis], ghosts = it->src->shape.ghosts[axis];
    if (there < -ghosts || there >= it->src->shape.cells[axis] + ghosts) return false;
  }
  *place = gab_place(gab_field_index(&it->src->map, x, y, z, 0), state->sent[q]);
  return true;
}

typedef void (*place_visitor)(void *user, int32_t x, int32_t y, int32_t z, int q, size_t place);
static void each_place(const sample *it, const gab_storage *state, place_visitor visit, void *user)
{
  const int32_t *cells = it->src->shape.cells, *ghosts = it->src->shape.ghosts;
  for (int q = 0; q < it->lattice->q; q++)
    for (int32_t z = -ghosts[2]; z < cells[2] + ghosts[2]; z++)
      for (int32_t y = -ghosts[1]; y < cells[1] + ghosts[1]; y++)
        for (int32_t x = -ghosts[0]; x < cells[0] + ghosts[0]; x++) {
          size_t place;
          if (place_of(it, state, x, y, z, q, &place)) visit(user, x, y, z, q, place);
        }
}

static void mark_place(void *user, int32_t x, int32_t y, int32_t z, int q, size_t place)
{
  unsigned char *taken = user;
  (void)x, (void)y, (void)z, (void)q;
  assert_true(place < one.src->map.elements);
  assert_int_equal(taken[place], 0);
  taken[place] = 1;
}

static void no_two_populations_share_a_place_in_any_state(void **state)
{
  (void)state;
  for (int number = 0; gab_lattice_at(number); number++) {
    make_sample(&one, gab_lattice_at(number), GAB_PRECISION_DOUBLE, 1);
    const gab_storage *states[] = {&one.two_grids[0], &one.in_place[0], &one.in_place[1]};
    for (size_t i = 0; i < 3; i++) {
      void *taken;
      assert_int_equal(gab_alloc(one.src->map.elements, GAB_MEMORY_OTHER, &taken), GAB_OK);
      each_place(&one, states[i], mark_place, taken);
      gab_free(&taken);
    }
    assert_ptr_equal(one.two_grids[0].next, &one.two_grids[0]);
    assert_ptr_equal(one.in_place[0].next, &one.in_place[1]);
    assert_ptr_equal(one.in_place[1].next, &one.in_place[0]);
    drop_sample(&one);
  }
}

static void bring_from_two_grids(void *user, int32_t x, int32_t y, int32_t z, int q, size_t place)
{
  gab_field *to = user;
  double value = gab_field_get(one.src, x, y, z, q);
  if (to->shape.precision == GAB_PRECISION_FLOAT) ((float *)to->data)[place] = (float)value;
  else ((double *)to->data)[place] = value;
}

/* Populations sent by the cells of the runs after a sweep. */
static void expect_sent(const gab_field *field, const gab_storage *state)
{
  for (size_t k = 0; k < one.run_count; k++)
    for (int32_t i = 0; i < one.runs[k].length; i++)
      for (int q = 0; q < one.lattice->q; q++) {
        double wanted = gab_field_get(one.dst, one.runs[k].x + i, one.runs[k].y, one.runs[k].z, q);
        double found = gab_value_at(field, gab_place(one.runs[k].start + (size_t)i, state->sent[q]));
        assert_memory_equal(&wanted, &found, sizeof wanted);
      }
}

static void in_place_kernels_give_the_same_bits_from_both_states(void **state)
{
  (void)state;
  const gab_collision_rates rates = {1.3, 0.9, {1e-3, -2e-3, 0}, 1e-2, -3e-2, 2e-2, -1e-2, 0.3, .level = 0};
  for (int variant = 0; variant < KERNELS; variant++)
    for (int odd = 0; odd < 2; odd++) {
      const any_kernel which = kernel_of_number(variant);
      const gab_lattice *lattice = lattice_of(which);
      make_sample(&one, lattice, precision_of(which), (uint64_t)(20 + 2 * variant + odd));
      gab_field *both;
      assert_int_equal(gab_field_create(&one.src->shape, &both), GAB_OK);
      const gab_storage *before = &one.in_place[odd];
      each_place(&one, before, bring_from_two_grids, both);
      sweep_two_grids(&one, kernel_in(GAB_FAMILY_REFERENCE, which), one.dst, &rates);
      const gab_sweep sweep = {.from = both->data,
                               .to = both->data,
                               .arriving = before->arriving,
                               .sent = before->next->sent,
                               .rates = &rates};
      kernel_in(GAB_FAMILY_IN_PLACE, which)->run(&sweep, one.runs, one.run_count);
      expect_sent(both, before->next);
      gab_field_destroy(&both);
      drop_sample(&one);
    }
}

static double pulled(const sample *it, const gab_run *run, int32_t i, int q)
{
  const int8_t *c = it->lattice->c[q];
  return gab_field_get(it->src, run->x + i - c[0], run->y - c[1], run->z - c[2], q);
}

/* Collision conserves mass and changes momentum by the force, in every cell. */
static void collision_keeps_mass_and_adds_the_force_to_momentum(void **state)
{
  (void)state;
  for (int variant = 0; variant < KERNELS; variant++) {
    const any_kernel which = kernel_of_number(variant);
    const gab_lattice *lattice = lattice_of(which);
    bool is_float = which.variant.reals != GAB_REALS_DOUBLE, forced = which.variant.forced;
    gab_collision_rates rates = {1.7,   0.8,  {2e-3, -1e-3, lattice->dimension == 3 ? 3e-3 : 0},
                                 -1e-2, 2e-2, 1e-2,
                                 -2e-2, 0.3,  .level = 0};
    make_sample(&one, lattice, precision_of(which), (uint64_t)variant);
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    double tolerance = is_float ? 1e-7 : 1e-16;
    for (size_t k = 0; k < one.run_count; k++)
      for (int32_t i = 0; i < one.runs[k].length; i++) {
        double mass = 0, momentum[3] = {0};
        for (int q = 0; q < lattice->q; q++) {
          double change = gab_field_get(one.dst, one.runs[k].x + i, one.runs[k].y, one.runs[k].z, q) -
                          pulled(&one, &one.runs[k], i, q);
          mass += change;
          for (int axis = 0; axis < 3; axis++) momentum[axis] += lattice->c[q][axis] * change;
        }
        assert_true(fabs(mass) < 10 * tolerance);
        for (int axis = 0; axis < 3; axis++)
          assert_true(fabs(momentum[axis] - (forced ? rates.force[axis] : 0)) < 10 * tolerance);
      }
    drop_sample(&one);
  }
}

static void equilibrium_is_a_fixed_point_without_force(void **state)
{
  (void)state;
  const double u[3] = {0.03, 0.04, 0};
  for (int number = 0; gab_lattice_at(number); number++) {
    const gab_lattice *lattice = gab_lattice_at(number);
    make_sample(&one, lattice, GAB_PRECISION_DOUBLE, 3);
    gab_box all = gab_field_whole(one.src);
    for (int q = 0; q < lattice->q; q++)
      gab_field_fill(one.src, q, &all, gab_lattice_equilibrium(lattice, q, 0.01, u));
    for (int mrt = 0; mrt < 2; mrt++) {
      gab_collision_rates rates = {1.9, 0.6, {0, 0, 0}, 1e-2, -2e-2, 1e-2, 3e-2, 0, .level = 0};
      const any_kernel which = {mrt ? &gab_collision_mrt : &gab_collision_trt, {.lattice = number}};
      if (gab_collision_check_lattice(which.collision, lattice) != GAB_OK) continue;
      sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
      for (int q = 0; q < lattice->q; q++)
        assert_true(fabs(gab_field_get(one.dst, one.runs[0].x, one.runs[0].y, one.runs[0].z, q) -
                         gab_lattice_equilibrium(lattice, q, 0.01, u)) < 1e-16);
    }
    drop_sample(&one);
  }
}

/* The orthogonal basis, written again from the papers: rows of the moments by direction. */
typedef struct moment {
  double row[GAB_LATTICE_MAX_Q], rate;
} moment;

static int list_moments(const gab_lattice *lattice, double shear, double energy, double square, double flux,
                        double fourth, double third, moment *list)
{
  const bool deep = lattice->dimension == 3;
  for (int q = 0; q < lattice->q; q++) {
    const double x = lattice->c[q][0], y = lattice->c[q][1], z = lattice->c[q][2], cc = x * x + y * y + z * z;
    const double plane[] = {1,
                            3 * cc - 4,
                            4 - 10.5 * cc + 4.5 * cc * cc,
                            x,
                            (3 * cc - 5) * x,
                            y,
                            (3 * cc - 5) * y,
                            x * x - y * y,
                            x * y};
    const double space[] = {1,
                            19 * cc - 30,
                            12 - 26.5 * cc + 10.5 * cc * cc,
                            x,
                            (5 * cc - 9) * x,
                            y,
                            (5 * cc - 9) * y,
                            z,
                            (5 * cc - 9) * z,
                            3 * x * x - cc,
                            (3 * cc - 5) * (3 * x * x - cc),
                            y * y - z * z,
                            (3 * cc - 5) * (y * y - z * z),
                            x * y,
                            y * z,
                            x * z,
                            (y * y - z * z) * x,
                            (z * z - x * x) * y,
                            (x * x - y * y) * z};
    for (int k = 0; k < lattice->q; k++) list[k].row[q] = deep ? space[k] : plane[k];
  }
  const double plane[] = {1, energy, square, 1, flux, 1, flux, shear, shear};
  const double space[] = {1,      energy, square, 1,     flux,  1,     flux,  1,     flux, shear,
                          fourth, shear,  fourth, shear, shear, shear, third, third, third};
  for (int k = 0; k < lattice->q; k++) list[k].rate = deep ? space[k] : plane[k];
  return lattice->q;
}

/* By matrices: every moment of n = f - f_eq + F/2 is reduced to (1 - rate) of it; the remaining part of F is added. */
static void collide_by_moments(const gab_lattice *lattice, const moment *list, const double force[3],
                               double *f)
{
  double drho = 0, u[3] = {0}, n[GAB_LATTICE_MAX_Q], source[GAB_LATTICE_MAX_Q], loss[GAB_LATTICE_MAX_Q] = {0};
  for (int q = 0; q < lattice->q; q++) {
    drho += f[q];
    for (int axis = 0; axis < 3; axis++) u[axis] += lattice->c[q][axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) u[axis] = (u[axis] + 0.5 * force[axis]) / (1 + drho);
  for (int q = 0; q < lattice->q; q++) {
    double cu = 0, cf = 0, uf = 0;
    for (int axis = 0; axis < 3; axis++) {
      cu += lattice->c[q][axis] * u[axis];
      cf += lattice->c[q][axis] * force[axis];
      uf += u[axis] * force[axis];
    }
    source[q] = lattice->weight[q] * (3 * (cf - uf) + 9 * cu * cf);
    n[q] = f[q] - gab_lattice_equilibrium(lattice, q, drho, u) + 0.5 * source[q];
  }
  for (int k = 0; k < lattice->q; k++) {
    double value = 0, norm = 0;
    for (int q = 0; q < lattice->q; q++)
      value += list[k].row[q] * n[q], norm += list[k].row[q] * list[k].row[q];
    for (int q = 0; q < lattice->q; q++) loss[q] += list[k].rate * value / norm * list[k].row[q];
  }
  for (int q = 0; q < lattice->q; q++) f[q] += source[q] - loss[q];
}

static void mrt_is_the_collision_by_matrices_of_moments(void **state)
{
  (void)state;
  const double shear = 1.6, odd = 0.9, energy = 1.19, square = 1.4, fourth = 1.3, third = 1.98;
  for (int deep = 0; deep < 2; deep++) {
    const gab_lattice *lattice = deep ? &gab_lattice_d3q19 : &gab_lattice_d2q9;
    moment list[GAB_LATTICE_MAX_Q];
    int count = list_moments(lattice, shear, energy, square, odd, fourth, third, list);
    for (int k = 0; k < count; k++)
      for (int m = 0; m < k; m++) {
        double product = 0;
        for (int q = 0; q < count; q++) product += list[k].row[q] * list[m].row[q];
        assert_true(product == 0);
      }
    gab_collision_rates rates = {.even = shear, .odd = odd, .force = {2e-3, -1e-3, deep ? 3e-3 : 0}};
    rates.energy = (energy - shear) / (deep ? 2394 : 36);
    rates.energy_square = (square - shear) / (deep ? 252 : 36);
    rates.stress = (fourth - shear) / 72;
    rates.third = (third - odd) / 8;
    make_sample(&one, lattice, GAB_PRECISION_DOUBLE, 77);
    const any_kernel which = {&gab_collision_mrt, {.lattice = deep ? D3Q19 : D2Q9, .forced = true}};
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    for (size_t k = 0; k < one.run_count; k++) {
      double f[GAB_LATTICE_MAX_Q];
      for (int q = 0; q < lattice->q; q++) f[q] = pulled(&one, &one.runs[k], 0, q);
      collide_by_moments(lattice, list, rates.force, f);
      for (int q = 0; q < lattice->q; q++)
        assert_true(fabs(f[q] - gab_field_get(one.dst, one.runs[k].x, one.runs[k].y, one.runs[k].z, q)) <
                    1e-16);
    }
    drop_sample(&one);
  }
}

static void mrt_with_the_rates_of_trt_is_trt(void **state)
{
  (void)state;
  const gab_collision_rates rates = {.even = 1.7, .odd = 0.8, .force = {2e-3, -1e-3, 0}};
  for (int variant = 0; variant < KERNELS; variant++) {
    any_kernel which = kernel_of_number(variant);
    if (which.collision != &gab_collision_trt || which.variant.lattice == D3Q27) continue;
    make_sample(&one, lattice_of(which), precision_of(which), (uint64_t)variant);
    gab_field *other;
    assert_int_equal(gab_field_create(&one.dst->shape, &other), GAB_OK);
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    which.collision = &gab_collision_mrt;
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), other, &rates);
    gab_box all = gab_field_interior(one.dst);
    for (int64_t z = 0; z < all.hi[2]; z++)
      for (int64_t y = 0; y < all.hi[1]; y++)
        for (int64_t x = 0; x < all.hi[0]; x++)
          for (int q = 0; q < one.lattice->q; q++)
            assert_true(gab_field_get(one.dst, (int32_t)x, (int32_t)y, (int32_t)z, q) ==
                        gab_field_get(other, (int32_t)x, (int32_t)y, (int32_t)z, q));
    gab_field_destroy(&other);
    drop_sample(&one);
  }
}

/* ------------------------------------------------------------------------------------------ recursive-regularised */

/* The Hermite polynomials of third and fourth order on a lattice, orthogonal to each other and to all of lower order.
 * With them the moments of n = f - f_eq + F/2 by recursion, and those of the equilibrium. */
typedef struct hermite_pair {
  int i, j, k; /* k < 0: c_i (c_j^2 - 1/3); else c_i (c_j^2 - 1/3) +- c_i (c_k^2 - 1/3) */
  double sign;
} hermite_pair;

static double third_polynomial(const hermite_pair *it, const int8_t *c)
{
  const double first = c[it->i] * (c[it->j] * c[it->j] - 1.0 / 3);
  return it->k < 0 ? first : first + it->sign * (c[it->i] * (c[it->k] * c[it->k] - 1.0 / 3));
}

static double third_moment(const hermite_pair *it, double rho, const double u[3], double a[3][3])
{
  const int i = it->i, j = it->j, k = it->k;
  const double first = rho * u[i] * u[j] * u[j] + u[i] * a[j][j] + 2 * u[j] * a[i][j];
  return k < 0 ? first : first + it->sign * (rho * u[i] * u[k] * u[k] + u[i] * a[k][k] + 2 * u[k] * a[i][k]);
}

/* Hermite polynomials of D3Q27: products over the axes of 1, c, c^2 - 1/3 by their orders, norms 1, 1/3, 2/9. Moments
 * of third and higher order by the recursive rule, with each pair of indices removed once. */
static double hermite_of_full(const int8_t *c, double rho, const double u[3], double a[3][3])
{
  double all = 0;
  for (int code = 0; code < 27; code++) {
    const int order[3] = {code % 3, code / 3 % 3, code / 9};
    int index[6], count = 0;
    double term = 1;
    for (int axis = 0; axis < 3; axis++) {
      for (int i = 0; i < order[axis]; i++) index[count++] = axis;
      if (order[axis] == 1) term *= 3 * c[axis];
      if (order[axis] == 2) term *= 4.5 * (c[axis] * c[axis] - 1.0 / 3);
    }
    if (count < 3) continue;
    double moment = rho;
    for (int i = 0; i < count; i++) moment *= u[index[i]];
    for (int i = 0; i < count; i++)
      for (int k = i + 1; k < count; k++) {
        double part = a[index[i]][index[k]];
        for (int other = 0; other < count; other++)
          if (other != i && other != k) part *= u[index[other]];
        moment += part;
      }
    all += term * moment;
  }
  return all;
}

/* From the definition: projections with computed norms, not simplified. */
static void collide_by_hermite(const gab_lattice *lattice, double omega, double eddies, const double force[3],
                               double *f)
{
  static const hermite_pair plane[] = {{0, 1, -1, 0}, {1, 0, -1, 0}},
                            space[] = {{0, 1, 2, 1},  {0, 1, 2, -1}, {1, 0, 2, 1},
                                       {1, 0, 2, -1}, {2, 0, 1, 1},  {2, 0, 1, -1}};
  const int dimension = lattice->dimension;
  double rho = 1, square = 0, j[3], u[3], t[3][3] = {{0}}, a[3][3] = {{0}};
  for (int axis = 0; axis < 3; axis++) j[axis] = 0.5 * force[axis];
  for (int q = 0; q < lattice->q; q++) {
    rho += f[q];
    for (int axis = 0; axis < 3; axis++) j[axis] += lattice->c[q][axis] * f[q];
  }
  for (int axis = 0; axis < 3; axis++) u[axis] = j[axis] / rho;
  for (int x = 0; x < dimension; x++)
    for (int y = 0; y < dimension; y++) {
      double arrived = 0;
      const double half = 0.5 * (u[x] * force[y] + u[y] * force[x]);
      for (int q = 0; q < lattice->q; q++) arrived += lattice->c[q][x] * lattice->c[q][y] * f[q];
      a[x][y] = arrived - rho * u[x] * u[y] - (x == y ? (rho - 1) / 3 : 0) + half;
      square += a[x][y] * a[x][y];
      t[x][y] = rho * u[x] * u[y] + half;
    }
  /* tau^2 - tau_0 tau = 9/2 C^2 sqrt(2 n:n) / rho, by Newton's iteration */
  double tau = 1 / omega;
  for (int i = 0; i < 50; i++) {
    const double excess = tau * tau - tau / omega - eddies / 4 * sqrt(2 * square) / rho;
    tau -= excess / (2 * tau - 1 / omega);
  }
  for (int x = 0; x < dimension; x++)
    for (int y = 0; y < dimension; y++) {
      a[x][y] *= 1 - 1 / tau;
      t[x][y] += a[x][y];
    }
  for (int q = 0; q < lattice->q; q++) {
    const int8_t *c = lattice->c[q];
    double sum = rho - 1;
    for (int x = 0; x < dimension; x++) {
      sum += 3 * c[x] * (j[x] + 0.5 * force[x]);
      for (int y = 0; y < dimension; y++) sum += 4.5 * (c[x] * c[y] - (x == y ? 1.0 / 3 : 0)) * t[x][y];
    }
    if (lattice->q == 27) sum += hermite_of_full(c, rho, u, a);
    for (int k = 0; k < (lattice->q == 27 ? 0 : dimension == 3 ? 6 : 2); k++) {
      const hermite_pair *third = dimension == 3 ? &space[k] : &plane[k];
      double norm = 0;
      for (int p = 0; p < lattice->q; p++)
        norm += lattice->weight[p] * third_polynomial(third, lattice->c[p]) *
                third_polynomial(third, lattice->c[p]);
      sum += third_polynomial(third, c) * third_moment(third, rho, u, a) / norm;
    }
    if (dimension == 2)
      sum += 81.0 / 4 * (c[0] * c[0] - 1.0 / 3) * (c[1] * c[1] - 1.0 / 3) *
             (rho * u[0] * u[0] * u[1] * u[1] + u[1] * u[1] * a[0][0] + u[0] * u[0] * a[1][1] +
              4 * u[0] * u[1] * a[0][1]);
    f[q] = lattice->weight[q] * sum;
  }
}

static void recursive_regularisation_is_the_projection_on_hermite_polynomials(void **state)
{
  (void)state;
  for (int variant = 0; variant < 12; variant++) {
    const int number = variant % 3, deep = number != D2Q9, forced = variant / 3 & 1, eddies = variant / 6;
    const gab_lattice *lattice = gab_lattice_at(number);
    const gab_collision_rates rates = {
        .even = 1.7, .force = {2e-3 * forced, -1e-3 * forced, 3e-3 * forced * deep}, .eddies = 0.7 * eddies};
    make_sample(&one, lattice, GAB_PRECISION_DOUBLE, 77);
    const any_kernel which = {eddies ? &gab_collision_smagorinsky : &gab_collision_rr,
                              {.lattice = number, .forced = forced}};
    sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
    for (size_t k = 0; k < one.run_count; k++) {
      double f[GAB_LATTICE_MAX_Q];
      for (int q = 0; q < lattice->q; q++) f[q] = pulled(&one, &one.runs[k], 0, q);
      collide_by_hermite(lattice, rates.even, rates.eddies, rates.force, f);
      for (int q = 0; q < lattice->q; q++)
        assert_true(fabs(f[q] - gab_field_get(one.dst, one.runs[k].x, one.runs[k].y, one.runs[k].z, q)) <
                    1e-16);
    }
    drop_sample(&one);
  }
}

static double equilibrium_of(const gab_collision *model, const gab_lattice *lattice, int q, const double u[3])
{
  const double second = gab_lattice_equilibrium(lattice, q, 0.01, u);
  return model->equilibrium_beyond ? second + model->equilibrium_beyond(lattice, q, 0.01, u) : second;
}

static void every_model_keeps_its_equilibrium(void **state)
{
  (void)state;
  for (int number = 0; gab_collision_at(number); number++)
    for (int l = 0; gab_lattice_at(l); l++) {
      const gab_lattice *lattice = gab_lattice_at(l);
      const double u[3] = {0.13, 0.04, lattice->dimension == 3 ? -0.07 : 0};
      const gab_collision_rates rates = {.even = 1.9, .odd = 0.6};
      const any_kernel which = {gab_collision_at(number), {.lattice = l}};
      if (gab_collision_check_lattice(which.collision, lattice) != GAB_OK) continue;
      make_sample(&one, lattice, GAB_PRECISION_DOUBLE, 3);
      gab_box all = gab_field_whole(one.src);
      for (int q = 0; q < lattice->q; q++)
        gab_field_fill(one.src, q, &all, equilibrium_of(which.collision, lattice, q, u));
      sweep_two_grids(&one, kernel_in(GAB_FAMILY_VECTOR, which), one.dst, &rates);
      for (int q = 0; q < lattice->q; q++)
        assert_true(fabs(gab_field_get(one.dst, one.runs[0].x, one.runs[0].y, one.runs[0].z, q) -
                         equilibrium_of(which.collision, lattice, q, u)) < 1e-16);
      drop_sample(&one);
    }
}

static void kernels_are_found_by_family_and_named_by_variant(void **state)
{
  (void)state;
  const gab_kernel_variant first = {.lattice = D3Q19, .reals = GAB_REALS_FLOAT, .forced = true}, second = {0},
                           third = {.reals = GAB_REALS_MIXED};
  assert_string_equal(gab_kernel_find("auto", &gab_collision_trt, first)->name,
                      "in_place/D3Q19/float/forced");
  assert_string_equal(gab_kernel_find("reference", &gab_collision_srt, second)->name,
                      "reference/D2Q9/double/free");
  assert_string_equal(gab_kernel_find("vector", &gab_collision_mrt, third)->name,
                      "vector/D2Q9/mixed/MRT/free");
  assert_true(gab_kernel_find("in_place", &gab_collision_mrt, third)->in_place &&
              !gab_kernel_find("vector", &gab_collision_mrt, third)->in_place);
  assert_null(gab_kernel_find("fastest", &gab_collision_trt, second));
  assert_non_null(strstr(gab_error_message(), "reference"));
  const gab_kernel_variant full = {.lattice = D3Q27};
  assert_string_equal(gab_kernel_find("sparse", &gab_collision_rr, full)->name,
                      "sparse/D3Q27/double/RR/free");
  assert_null(gab_kernel_find("vector", &gab_collision_mrt, full));
  assert_non_null(
      strstr(gab_error_message(), "MRT is not defined on the lattice D3Q27: its orthogonal basis"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(vector_kernels_give_the_same_bits_as_the_reference),
      cmocka_unit_test(bits_are_those_of_every_machine),
      cmocka_unit_test(mixed_kernels_compute_in_double_and_store_floats),
      cmocka_unit_test(no_two_populations_share_a_place_in_any_state),
      cmocka_unit_test(in_place_kernels_give_the_same_bits_from_both_states),
      cmocka_unit_test(collision_keeps_mass_and_adds_the_force_to_momentum),
      cmocka_unit_test(equilibrium_is_a_fixed_point_without_force),
      cmocka_unit_test(mrt_is_the_collision_by_matrices_of_moments),
      cmocka_unit_test(mrt_with_the_rates_of_trt_is_trt),
      cmocka_unit_test(recursive_regularisation_is_the_projection_on_hermite_polynomials),
      cmocka_unit_test(every_model_keeps_its_equilibrium),
      cmocka_unit_test(kernels_are_found_by_family_and_named_by_variant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
