/* SPDX-License-Identifier: Apache-2.0 */
/** @file nontemporal_impl.h
 *  @brief Stores that bypass the cache (x86: non-temporal; elsewhere ordinary ones).
 *
 *  An ordinary store fetches its cache line from memory first; a non-temporal one that fills the line does not. For data
 *  larger than the caches that is not read soon, this saves a third of the traffic of a copy, and the cache keeps its
 *  content. Such stores are unordered: call gab_nontemporal_fence() before another thread may read the data.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_NONTEMPORAL_IMPL_H
#define GABION_CORE_NONTEMPORAL_IMPL_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <immintrin.h>
#endif

enum { GAB_CACHE_LINE = 64 };

/** @param[out] to  at the beginning of a line @param[in] from  anywhere */
static inline void gab_nontemporal_line(unsigned char *to, const unsigned char *from)
{
#if defined(__AVX512F__)
  _mm512_stream_si512((void *)to, _mm512_loadu_si512(from));
#elif defined(__AVX__)
  for (int i = 0; i < GAB_CACHE_LINE; i += 32)
    _mm256_stream_si256((void *)(to + i), _mm256_loadu_si256((const void *)(from + i)));
#elif defined(__SSE2__)
  for (int i = 0; i < GAB_CACHE_LINE; i += 16)
    _mm_stream_si128((void *)(to + i), _mm_loadu_si128((const void *)(from + i)));
#else
  memcpy(to, from, GAB_CACHE_LINE);
#endif
}

/** Like memcpy(): whole lines by non-temporal stores, incomplete ones at both ends by ordinary ones. */
static inline void gab_nontemporal_copy(unsigned char *to, const unsigned char *from, size_t count)
{
  size_t head = (size_t)(-(uintptr_t)to % GAB_CACHE_LINE);
  if (head > count) head = count;
  memcpy(to, from, head);
  to += head;
  from += head;
  count -= head;
  for (; count >= GAB_CACHE_LINE; count -= GAB_CACHE_LINE, to += GAB_CACHE_LINE, from += GAB_CACHE_LINE)
    gab_nontemporal_line(to, from);
  memcpy(to, from, count);
}

static inline void gab_nontemporal_fence(void)
{
#ifdef __SSE2__
  _mm_sfence();
#endif
}

#endif
