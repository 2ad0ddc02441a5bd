/* SPDX-License-Identifier: Apache-2.0 */
/** @file lanes_impl.h
 *  @brief Some doubles at once (eight with AVX-512, else four or two), for the fast kernels: vectors of the
 *  compiler, and what they lack (comparisons as masks, partial loads, square roots) by intrinsics where the
 *  machine has AVX-512 or AVX, written out otherwise. Every operation is the IEEE one on each lane: results do not
 *  depend on how many there are.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_PHASEFIELD_LANES_IMPL_H
#define GABION_PHASEFIELD_LANES_IMPL_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __AVX__
#include <immintrin.h>
#endif

/* All functions here are inlined: how vectors would be handed over does not matter. */
#pragma GCC diagnostic ignored "-Wpsabi"

#if defined(__AVX512F__)
enum { LANES = 8 };
typedef double vec __attribute__((vector_size(64)));
#elif defined(__AVX__)
enum { LANES = 4 };
typedef double vec __attribute__((vector_size(32)));
#else
enum { LANES = 2 };
typedef double vec __attribute__((vector_size(16)));
#endif

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum { HALF = LANES / 2 };

INLINE vec splat(double x) { return x - (vec){0}; }

#ifdef __AVX512F__

typedef __mmask8 lanes; /* one bit per lane */
INLINE lanes first_lanes(int64_t count) { return (lanes)(count >= LANES ? 0xff : (1 << count) - 1); }
INLINE vec load_row(const double *from, lanes which) { return (vec)_mm512_maskz_loadu_pd(which, from); }
INLINE void store_row(double *to, lanes which, vec x) { _mm512_mask_storeu_pd(to, which, (__m512d)x); }
INLINE lanes greater(vec a, vec b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_GT_OQ); }
INLINE lanes equal(vec a, vec b) { return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_EQ_OQ); }
INLINE vec choose(lanes which, vec yes, vec no)
{
  return (vec)_mm512_mask_blend_pd(which, (__m512d)no, (__m512d)yes);
}
INLINE lanes both(lanes a, lanes b) { return (lanes)(a & b); }
INLINE lanes butnot(lanes a, lanes b) { return (lanes)(a & ~b); }
INLINE bool any(lanes which) { return which != 0; }
INLINE bool all_of(lanes which, lanes wanted) { return (which & wanted) == wanted; }
INLINE vec root(vec x) { return (vec)_mm512_sqrt_pd((__m512d)x); }
INLINE vec shifted_in(vec before, vec x) /* the last lane of `before`, then the first seven of x */
{
  return (vec)_mm512_alignr_epi64((__m512i)x, (__m512i)before, 7);
}
/* Of two rows: the first HALF lanes are of one, the others of the next one. */
INLINE vec load_rows(const double *from, ptrdiff_t apart)
{
  return (vec)_mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_loadu_pd(from)), _mm256_loadu_pd(from + apart),
                                 1);
}
INLINE void store_rows(double *to, ptrdiff_t apart, vec x)
{
  _mm256_storeu_pd(to, _mm512_castpd512_pd256((__m512d)x));
  _mm256_storeu_pd(to + apart, _mm512_extractf64x4_pd((__m512d)x, 1));
}
INLINE vec shifted_in_rows(vec before, vec x) /* shifted_in() in either half */
{
  const __m512i places = _mm512_setr_epi64(3, 8, 9, 10, 7, 12, 13, 14);
  return (vec)_mm512_permutex2var_pd((__m512d)before, places, (__m512d)x);
}
INLINE vec row_before(vec before, vec x) /* the second half of `before`, then the first one of x */
{
  return (vec)_mm512_alignr_epi64((__m512i)x, (__m512i)before, HALF);
}

#elif defined(__AVX__)

typedef int64_t lanes __attribute__((vector_size(sizeof(vec))));
INLINE lanes first_lanes(int64_t count)
{
  const lanes number = {0, 1, 2, 3};
  return (lanes)(number < (count - (lanes){0}));
}
INLINE vec load_row(const double *from, lanes which) { return (vec)_mm256_maskload_pd(from, (__m256i)which); }
INLINE void store_row(double *to, lanes which, vec x) { _mm256_maskstore_pd(to, (__m256i)which, (__m256d)x); }
INLINE lanes greater(vec a, vec b) { return (lanes)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_GT_OQ); }
INLINE lanes equal(vec a, vec b) { return (lanes)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_EQ_OQ); }
INLINE vec choose(lanes which, vec yes, vec no)
{
  return (vec)_mm256_blendv_pd((__m256d)no, (__m256d)yes, (__m256d)which);
}
INLINE lanes both(lanes a, lanes b) { return a & b; }
INLINE lanes butnot(lanes a, lanes b) { return a & ~b; }
INLINE bool any(lanes which) { return !_mm256_testz_pd((__m256d)which, (__m256d)which); }
INLINE bool all_of(lanes which, lanes wanted) { return _mm256_testc_pd((__m256d)which, (__m256d)wanted); }
INLINE vec root(vec x) { return (vec)_mm256_sqrt_pd((__m256d)x); }
INLINE vec row_before(vec before, vec x) /* the second half of `before`, then the first one of x */
{
  return (vec)_mm256_permute2f128_pd((__m256d)before, (__m256d)x, 0x21);
}
INLINE vec shifted_in_rows(vec before,
                           vec x) /* in either half: its last lane of `before`, then its first of x */
{
  return (vec)_mm256_shuffle_pd((__m256d)before, (__m256d)x, 0x5);
}
INLINE vec shifted_in(vec before, vec x) /* the last lane of `before`, then the first three of x */
{
  return shifted_in_rows(row_before(before, x), x);
}
INLINE vec load_rows(const double *from, ptrdiff_t apart)
{
  return (vec)_mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(from)), _mm_loadu_pd(from + apart), 1);
}
INLINE void store_rows(double *to, ptrdiff_t apart, vec x)
{
  _mm_storeu_pd(to, _mm256_castpd256_pd128((__m256d)x));
  _mm_storeu_pd(to + apart, _mm256_extractf128_pd((__m256d)x, 1));
}

#else

typedef int64_t lanes __attribute__((vector_size(sizeof(vec))));
INLINE lanes first_lanes(int64_t count)
{
  lanes which = {0};
  for (int i = 0; i < LANES; i++) which[i] = i < count ? -1 : 0;
  return which;
}
INLINE vec load_row(const double *from, lanes which)
{
  vec x = {0};
  if (which[LANES - 1]) memcpy(&x, from, sizeof x);
  else
    for (int i = 0; i < LANES && which[i]; i++) x[i] = from[i];
  return x;
}
INLINE void store_row(double *to, lanes which, vec x)
{
  if (which[LANES - 1]) memcpy(to, &x, sizeof x);
  else
    for (int i = 0; i < LANES && which[i]; i++) to[i] = x[i];
}
INLINE lanes greater(vec a, vec b) { return (lanes)(a > b); }
INLINE lanes equal(vec a, vec b) { return (lanes)(a == b); }
INLINE vec choose(lanes which, vec yes, vec no) { return (vec)(((lanes)yes & which) | ((lanes)no & ~which)); }
INLINE lanes both(lanes a, lanes b) { return a & b; }
INLINE lanes butnot(lanes a, lanes b) { return a & ~b; }
INLINE bool any(lanes which)
{
  int64_t sum = 0;
  for (int i = 0; i < LANES; i++) sum |= which[i];
  return sum != 0;
}
INLINE bool all_of(lanes which, lanes wanted) { return !any(wanted & ~which); }
INLINE vec root(vec x)
{
  for (int i = 0; i < LANES; i++) x[i] = sqrt(x[i]);
  return x;
}
INLINE vec shifted_in(vec before, vec x)
{
  vec made = {0};
  made[0] = before[LANES - 1];
  for (int i = 1; i < LANES; i++) made[i] = x[i - 1];
  return made;
}
INLINE vec load_rows(const double *from, ptrdiff_t apart)
{
  vec x = {0};
  for (int i = 0; i < LANES; i++) x[i] = from[i % HALF + i / HALF * apart];
  return x;
}
INLINE void store_rows(double *to, ptrdiff_t apart, vec x)
{
  for (int i = 0; i < LANES; i++) to[i % HALF + i / HALF * apart] = x[i];
}
INLINE vec shifted_in_rows(vec before, vec x)
{
  vec made = {0};
  for (int i = 0; i < LANES; i++) made[i] = i % HALF == 0 ? before[i + HALF - 1] : x[i - 1];
  return made;
}
INLINE vec row_before(vec before, vec x)
{
  vec made = {0};
  for (int i = 0; i < LANES; i++) made[i] = i < HALF ? before[i + HALF] : x[i - HALF];
  return made;
}

#endif

INLINE vec load_all(const double *from)
{
  vec x;
  memcpy(&x, from, sizeof x);
  return x;
}
INLINE void store_all(double *to, vec x) { memcpy(to, &x, sizeof x); }

/* What a vector holds: up to LANES cells of a row, or HALF of each of two rows that follow each other. With masks on whole vectors,
 * too, a sweep of phi takes half as much again (AVX-512), so it is worth telling them apart. */
typedef enum chunk_kind { CHUNK_PART, CHUNK_WHOLE, CHUNK_TWO_ROWS } chunk_kind;

typedef struct chunk {
  chunk_kind kind;
  lanes which;     /* lanes that hold a cell: all, but of a part */
  ptrdiff_t apart; /* values from one row to the next */
} chunk;

INLINE chunk part_chunk(int64_t cells) { return (chunk){CHUNK_PART, first_lanes(cells), 0}; }
INLINE chunk whole_chunk(bool two_rows, ptrdiff_t apart)
{
  return (chunk){two_rows ? CHUNK_TWO_ROWS : CHUNK_WHOLE, first_lanes(LANES), apart};
}

INLINE vec load(const double *from, chunk in)
{
  if (in.kind == CHUNK_TWO_ROWS) return load_rows(from, in.apart);
  return in.kind == CHUNK_WHOLE ? load_all(from) : load_row(from, in.which);
}
INLINE void store(double *to, chunk in, vec x)
{
  if (in.kind == CHUNK_TWO_ROWS) store_rows(to, in.apart, x);
  else if (in.kind == CHUNK_WHOLE) store_all(to, x);
  else store_row(to, in.which, x);
}

#endif
