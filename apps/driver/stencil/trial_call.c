/* SPDX-License-Identifier: Apache-2.0 */
/* One call of update on a copy of a block, and the cells it wrote. */
#include "apps/driver/stencil/trial_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef _OPENMP
#include <omp.h>
#endif

/* ---------------------------------------------------------------- poison */

/* Quiet NaNs that a debugger shows as "now", "next" and a region. */
static double nan_of(bool is_next, trial_region region)
{
  const uint64_t bits =
      (is_next ? UINT64_C(0x7ff86e6578740000) : UINT64_C(0x7ff86e6f77000000)) + (uint64_t)region;
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static bool is_same(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

static double poison(const trial *it, const trial_subject *subject, trial_poison kind, bool is_next,
                     size_t element, trial_region region, int component)
{
  if (kind == TRIAL_NAN) return nan_of(is_next, region);
  if (kind == TRIAL_HUGE) return 1e200;
  const int last = it->layout.shape.components - 1;
  const size_t from = (size_t)(component < 0 ? 0 : component > last ? last : component);
  const uint64_t mixed =
      (element + 1) * (kind == TRIAL_VALUES ? UINT64_C(0x9e3779b97f4a7c15) : UINT64_C(0xd1b54a32d192ed03));
  const double value = subject->given[from * it->cells + (size_t)((mixed >> 32) * it->cells >> 32)];
  return is_next ? 2 * value + 1 : value;
}

static trial_poison kind_of(const trial_way *how, size_t element)
{
  return element < how->border ? how->poison : how->behind;
}

/* @param[in] from  `now' or `first' of the block @param[in] offset  of the elements of that field */
static void fill(trial *it, const trial_subject *subject, const trial_way *how, const gab_field *from,
                 size_t offset, double *memory)
{
  gab_field view = gab_app_trial_view(&it->layout, memory);
  const size_t each = (size_t)it->layout.component;
  size_t i = 0;
  for (int component = -1; component <= it->layout.shape.components; component++)
    for (const size_t end = i + each; i < end; i++)
      memory[i] = poison(it, subject, kind_of(how, offset + i), false, i, it->regions[i], component);
  gab_app_trial_copy(&it->layout, &view, from);
}

static void fill_now(trial *it, const trial_subject *subject, const trial_way *how, double *memory)
{
  fill(it, subject, how, subject->at.now, 0, memory);
}

/* Always NaNs outside of the cells, so that writes there are detected. */
static void fill_next(trial *it, const trial_subject *subject, const trial_way *how, double *memory)
{
  const size_t each = (size_t)it->layout.component;
  size_t i = 0;
  for (int component = -1; component <= it->layout.shape.components; component++)
    for (const size_t end = i + each; i < end; i++) {
      const trial_poison kind =
          it->regions[i] == TRIAL_CELL ? kind_of(how, it->layout.elements + i) : TRIAL_NAN;
      memory[i] = poison(it, subject, kind, true, i, it->regions[i], component);
    }
}

/* ---------------------------------------------------------------- unset memory */

/* Called through a pointer unknown to the compiler, so that its frame covers that of update. */
static void dirty_stack(int byte)
{
  volatile unsigned char frame[32 << 10];
  for (size_t i = 0; i < sizeof frame; i++) frame[i] = (unsigned char)byte;
}
static void (*volatile dirty)(int) = dirty_stack;

static void dirty_heap(int byte)
{
  enum { SIZES = 64, EACH = 8 };
  void *pieces[EACH];
  for (size_t size = 1; size <= SIZES; size++) {
    for (int i = 0; i < EACH; i++)
      if ((pieces[i] = malloc(16 * size))) memset(pieces[i], byte, 16 * size);
    for (int i = 0; i < EACH; i++) free(pieces[i]);
  }
}

/* Larger allocations: malloc() itself fills them, with the complement of the given byte. */
static void tell_malloc(int byte)
{
#if defined(__GLIBC__) && defined(M_PERTURB)
  const char *told = getenv("MALLOC_PERTURB_");
  (void)mallopt(M_PERTURB, byte ? byte ^ 0xff : told ? atoi(told) : 0);
#else
  (void)byte;
#endif
}

/* In a parallel region, as in a step. */
static void call(const gab_stencil_block *at, bool other_memory, bool other_thread)
{
  const int byte = other_memory ? 0xfe : 0x3f; /* doubles of -5e303 and of 5e-4 */
  tell_malloc(byte);
#ifdef _OPENMP
  const int threads = omp_get_max_threads() > 1 ? 2 : 1;
#pragma omp parallel num_threads(threads)
  if (omp_get_thread_num() == (other_thread ? omp_get_num_threads() - 1 : 0))
#else
  (void)other_thread;
#endif
  {
    dirty_heap(byte);
    dirty(byte);
    gab_app_stencil_update(at);
  }
  tell_malloc(0);
}

/* ---------------------------------------------------------------- written elements */

static void note(trial *it, trial_fault fault, size_t element)
{
  if (it->fault != TRIAL_FINE) return;
  it->fault = fault;
  it->element = element;
}

/* All ghosts together may be written, as by a copy of the field, and the whole memory, as by memset(). */
static void check_outside(trial *it, const double *next)
{
  const size_t first = (size_t)it->layout.component, behind = it->layout.elements - first;
  size_t ghosts = 0, written_ghosts = 0, kept = 0, written = 0, ghost = 0, outside = it->layout.elements;
  for (size_t i = 0; i < it->layout.elements; i++) {
    const trial_region region = it->regions[i];
    if (region == TRIAL_CELL) continue;
    const bool is_kept = is_same(next[i], nan_of(true, region));
    const bool is_ghost = region == TRIAL_GHOST || region == TRIAL_UNFILLED;
    ghosts += is_ghost;
    if (!is_kept && is_ghost && written_ghosts++ == 0) ghost = i;
    if (!is_kept && !is_ghost && outside == it->layout.elements) outside = i;
    if (i < first || i >= behind) written += !is_kept;
    else kept += is_kept;
  }
  if (kept == 0 && written == 0) return;
  if (written_ghosts > 0 && written_ghosts < ghosts) note(it, TRIAL_WRITES_OUTSIDE, ghost);
  if (outside < it->layout.elements) note(it, TRIAL_WRITES_OUTSIDE, outside);
}

static void check_set(trial *it, const double *next)
{
  const double unset = nan_of(true, TRIAL_CELL);
  it->left_out = 0;
  for (size_t i = 0; i < it->layout.elements; i++)
    if (is_same(next[i], unset) && it->left_out++ == 0) note(it, TRIAL_LEAVES_OUT, i);
}

bool gab_app_trial_is_unset(const trial *it, const trial_subject *subject, const double *result)
{
  const trial_place place = gab_app_trial_place(&it->layout, it->element);
  const int32_t *cells = it->layout.shape.cells, *at = place.at;
  const size_t row = (size_t)at[2] * (size_t)cells[1] + (size_t)at[1],
               value = (size_t)place.component * it->cells + row * (size_t)cells[0] + (size_t)at[0];
  return is_same(result[value],
                 poison(it, subject, TRIAL_VALUES, true, it->element, TRIAL_CELL, place.component));
}

static void pack(const gab_field *next, double *result)
{
  const gab_box box = gab_field_interior(next);
  gab_field_pack_box(next, &box, NULL, next->shape.components, result);
}

gab_field gab_app_trial_fill(trial *it, const trial_subject *subject, const trial_way *how, double *memory)
{
  fill_now(it, subject, how, memory);
  return gab_app_trial_view(&it->layout, memory);
}

void gab_app_trial_call(trial *it, const trial_subject *subject, const trial_way *how, double *result)
{
  double *now = it->now + (how->other_memory ? TRIAL_SHIFT : 0),
         *next = it->next + (how->other_memory ? TRIAL_SHIFT : 0);
  gab_field now_view = gab_app_trial_view(&it->layout, now),
            next_view = gab_app_trial_view(&it->layout, next);
  double *first = it->first ? it->first + (how->other_memory ? TRIAL_SHIFT : 0) : NULL;
  gab_field first_view = now_view;
  gab_stencil_block at = subject->at;
  it->fault = TRIAL_FINE;
  fill_now(it, subject, how, now);
  fill_next(it, subject, how, next);
  memcpy(it->before, now, it->layout.elements * sizeof *now);
  if (first) {
    first_view = gab_app_trial_view(&it->layout, first);
    fill(it, subject, how, subject->at.first, 2 * it->layout.elements, first);
    memcpy(it->first_before, first, it->layout.elements * sizeof *first);
  }
  at.now = &now_view;
  at.next = &next_view;
  at.first = first ? &first_view : &now_view;
  call(&at, how->other_memory, how->other_thread);
  for (size_t i = 0; i < it->layout.elements; i++)
    if (!is_same(now[i], it->before[i])) note(it, TRIAL_WRITES_NOW, i);
  for (size_t i = 0; first && i < it->layout.elements; i++)
    if (!is_same(first[i], it->first_before[i])) note(it, TRIAL_WRITES_FIRST, i);
  check_outside(it, next);
  if (how->poison == TRIAL_NAN && how->behind == TRIAL_NAN) check_set(it, next);
  pack(&next_view, result);
}

void gab_app_trial_call_plain(trial *it, const trial_subject *subject, double *result)
{
  const gab_field *now = subject->at.now, *next = subject->at.next;
  gab_field now_copy = *now, next_copy = *next;
  gab_stencil_block at = subject->at;
  now_copy.data = it->now + it->layout.component;
  next_copy.data = it->next + it->layout.component;
  memcpy(now_copy.data, now->data, now->map.elements * sizeof(double));
  memcpy(next_copy.data, next->data, next->map.elements * sizeof(double));
  at.now = &now_copy;
  at.next = &next_copy;
  if (!it->first) at.first = &now_copy;
  call(&at, false, true);
  pack(&next_copy, result);
}

size_t gab_app_trial_difference(const double *a, const double *b, size_t count)
{
  for (size_t i = 0; i < count; i++)
    if (!is_same(a[i], b[i]) && !(isnan(a[i]) && isnan(b[i]))) return i;
  return count;
}
