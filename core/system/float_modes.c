/* SPDX-License-Identifier: Apache-2.0 */
#include "core/system/float_modes.h"

#include "core/base/log.h"

#include <fenv.h>
#include <stdint.h>

#ifdef __x86_64__
#include <xmmintrin.h>
/* Flush to zero, denormals are zero; the two bits of the rounding of vectors and scalars. */
enum { FLUSH = 0x8000, ARE_ZERO = 0x0040, ROUNDING = 0x6000 };
#endif

/* @return whether denormal numbers were taken as zero, or vectors rounded otherwise than fegetround() says */
static bool keep_denormals(void)
{
#if defined __x86_64__
  const unsigned before = _mm_getcsr(), wanted = before & ~(unsigned)(FLUSH | ARE_ZERO | ROUNDING);
  if (before == wanted) return false;
  _mm_setcsr(wanted);
  return true;
#elif defined __aarch64__
  const uint64_t flush = (uint64_t)1 << 24;
  uint64_t control;
  __asm__ volatile("mrs %0, fpcr" : "=r"(control));
  if (!(control & flush)) return false;
  control &= ~flush;
  __asm__ volatile("msr fpcr, %0" : : "r"(control));
  return true;
#else
  return false;
#endif
}

static bool settle_thread(void)
{
  const bool rounds = fegetround() != FE_TONEAREST;
  if (rounds) fesetround(FE_TONEAREST);
  return keep_denormals() || rounds;
}

bool gab_float_modes_settle(void)
{
  bool found = settle_thread(); /* before threads begin, which inherit it */
#pragma omp parallel reduction(|| : found)
  found = settle_thread() || found;
  if (found)
    gab_log_all(
        GAB_LOG_WARNING,
        "numbers were not rounded to nearest, or denormal ones counted as zero (is a library built with "
        "-ffast-math?): set back, since results depend on it");
  return found;
}
