/* gabion-test: labels=quick timeout=60 */
#include "core/hash.h"
#include "lbm/lbm_impl.h"

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <string.h>

#include <cmocka.h>

/* Random populations in all cells and ghosts; random runs, about a fifth of the cells left out. */
typedef struct sample {
  const gab_lattice *lattice;
  gab_field *src, *dst;
  gab_run runs[20 * 20 * 40];
  size_t run_count;
} sample;

static double random_number(uint64_t stream, uint64_t counter)
{
  return (double)(gab_hash_counter(7, stream, counter) >> 11) * 0x1p-53;
}

static void list_runs(sample *it, uint64_t seed)
{
  const int32_t *cells = it->src->shape.cells;
  it->run_count = 0;
  for (int32_t z = 0; z < cells[2]; ++z)
    for (int32_t y = 0; y < cells[1]; ++y)
      for (int32_t x = 0; x < cells[0]; ++x) {
        if (random_number(seed + 1, (uint64_t)(x + 100 * (y + 100 * z))) < 0.2) continue;
        uint32_t start = (uint32_t)gab_field_index(&it->src->map, x, y, z, 0);
        gab_run *last = it->run_count > 0 ? &it->runs[it->run_count - 1] : NULL;
        if (last && last->y == y && last->z == z && last->x + last->length == x) ++last->length;
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
  for (size_t i = 0; i < it->src->map.elements; ++i) {
    double value = 0.02 * (random_number(seed, i) - 0.5);
    if (precision == GAB_PRECISION_FLOAT) ((float *)it->src->data)[i] = (float)value;
    else ((double *)it->src->data)[i] = value;
  }
  list_runs(it, seed);
}

static void drop_sample(sample *it)
{
  gab_field_destroy(&it->src);
  gab_field_destroy(&it->dst);
}

static sample one;

static void both_kernels_give_the_same_bits_for_all_variants(void **state)
{
  (void)state;
  const gab_collision_rates rates[] = {
      {1.3, 0.9, {1e-3, -2e-3, 5e-4}}, {1.99, 1.99, {1e-5, 0, 0}}, {0.51, 1.7, {0, 0, -1e-2}}};
  for (int variant = 0; variant < GAB_KERNELS_PER_FAMILY; ++variant)
    for (size_t r = 0; r < 3; ++r) {
      const gab_lattice *lattice = variant / 4 ? &gab_lattice_d3q19 : &gab_lattice_d2q9;
      gab_collision_rates used = rates[r];
      if (lattice->dimension == 2) used.force[2] = 0;
      make_sample(&one, lattice, (gab_precision)(variant / 2 % 2), 100 * r + (uint64_t)variant);
      size_t bytes = one.dst->map.elements * gab_precision_bytes(one.dst->shape.precision);
      gab_field *other;
      assert_int_equal(gab_field_create(&one.dst->shape, &other), GAB_OK);
      gab_kernels_reference[variant].run(&one.src->map, one.src->data, one.dst->data, one.runs, one.run_count,
                                         &used);
      gab_kernels_vector[variant].run(&one.src->map, one.src->data, other->data, one.runs, one.run_count,
                                      &used);
      assert_memory_equal(one.dst->data, other->data, bytes);
      gab_field_destroy(&other);
      drop_sample(&one);
    }
}

static double pulled(const sample *it, const gab_run *run, int32_t i, int q)
{
  const int8_t *c = it->lattice->c[q];
  return gab_field_get(it->src, run->x + i - c[0], run->y - c[1], run->z - c[2], q);
}

/* Collision keeps mass and changes momentum by the force, in every cell. */
static void collision_keeps_mass_and_adds_the_force_to_momentum(void **state)
{
  (void)state;
  for (int variant = 0; variant < GAB_KERNELS_PER_FAMILY; ++variant) {
    const gab_lattice *lattice = variant / 4 ? &gab_lattice_d3q19 : &gab_lattice_d2q9;
    bool is_float = variant / 2 % 2, forced = variant % 2;
    gab_collision_rates rates = {1.7, 0.8, {2e-3, -1e-3, lattice->dimension == 3 ? 3e-3 : 0}};
    make_sample(&one, lattice, is_float ? GAB_PRECISION_FLOAT : GAB_PRECISION_DOUBLE, (uint64_t)variant);
    gab_kernels_vector[variant].run(&one.src->map, one.src->data, one.dst->data, one.runs, one.run_count,
                                    &rates);
    double tolerance = is_float ? 1e-7 : 1e-16;
    for (size_t k = 0; k < one.run_count; ++k)
      for (int32_t i = 0; i < one.runs[k].length; ++i) {
        double mass = 0, momentum[3] = {0};
        for (int q = 0; q < lattice->q; ++q) {
          double change = gab_field_get(one.dst, one.runs[k].x + i, one.runs[k].y, one.runs[k].z, q) -
                          pulled(&one, &one.runs[k], i, q);
          mass += change;
          for (int axis = 0; axis < 3; ++axis) momentum[axis] += lattice->c[q][axis] * change;
        }
        assert_true(fabs(mass) < 10 * tolerance);
        for (int axis = 0; axis < 3; ++axis)
          assert_true(fabs(momentum[axis] - (forced ? rates.force[axis] : 0)) < 10 * tolerance);
      }
    drop_sample(&one);
  }
}

static void equilibrium_is_a_fixed_point_without_force(void **state)
{
  (void)state;
  const double u[3] = {0.03, 0.04, 0};
  for (int deep = 0; deep < 2; ++deep) {
    const gab_lattice *lattice = deep ? &gab_lattice_d3q19 : &gab_lattice_d2q9;
    make_sample(&one, lattice, GAB_PRECISION_DOUBLE, 3);
    gab_box all = gab_field_whole(one.src);
    for (int q = 0; q < lattice->q; ++q)
      gab_field_fill(one.src, q, &all, gab_lattice_equilibrium(lattice, q, 0.01, u));
    gab_collision_rates rates = {1.9, 0.6, {0, 0, 0}};
    gab_kernels_vector[4 * deep].run(&one.src->map, one.src->data, one.dst->data, one.runs, one.run_count,
                                     &rates);
    for (int q = 0; q < lattice->q; ++q)
      assert_true(fabs(gab_field_get(one.dst, one.runs[0].x, one.runs[0].y, one.runs[0].z, q) -
                       gab_lattice_equilibrium(lattice, q, 0.01, u)) < 1e-16);
    drop_sample(&one);
  }
}

static void kernels_are_found_by_family_and_named_by_variant(void **state)
{
  (void)state;
  const gab_kernel *kernel = gab_kernel_find("auto", &gab_lattice_d3q19, GAB_PRECISION_FLOAT, true);
  assert_string_equal(kernel->name, "vector/D3Q19/float/forced");
  assert_string_equal(gab_kernel_find("reference", &gab_lattice_d2q9, GAB_PRECISION_DOUBLE, false)->name,
                      "reference/D2Q9/double/free");
  assert_null(gab_kernel_find("fastest", &gab_lattice_d2q9, GAB_PRECISION_DOUBLE, false));
  assert_non_null(strstr(gab_error_message(), "reference"));
}

int main(void)
{
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(both_kernels_give_the_same_bits_for_all_variants),
      cmocka_unit_test(collision_keeps_mass_and_adds_the_force_to_momentum),
      cmocka_unit_test(equilibrium_is_a_fixed_point_without_force),
      cmocka_unit_test(kernels_are_found_by_family_and_named_by_variant),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
