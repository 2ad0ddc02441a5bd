/* SPDX-License-Identifier: Apache-2.0 */
#include "core/base/exact_sum.h"

#include <math.h>
#include <string.h>

enum {
  BIT_OF_SMALLEST = 14, /* 2^-1074, the smallest double, is bit 14 above 2^-1088 */
  NAN_SEEN = 1,
  PLUS_INFINITY_SEEN = 2,
  MINUS_INFINITY_SEEN = 4
};

/* An addition changes a digit by less than 2^32, so 2^30 of them do not overflow int64. */
static const uint32_t most_pending = UINT32_C(1) << 30;
static const int64_t digit_base = INT64_C(1) << 32;

void gab_exact_clear(gab_exact_sum *sum) { *sum = (gab_exact_sum){0}; }

/* Brings all digits except the last into [0, 2^32); the last one has the sign. */
static void propagate_carries(gab_exact_sum *sum)
{
  int64_t carry = 0;
  for (int i = 0; i < GAB_EXACT_LIMBS - 1; i++) {
    int64_t digit = sum->limb[i] + carry;
    int64_t rest = digit % digit_base;
    if (rest < 0) rest += digit_base;
    carry = (digit - rest) / digit_base;
    sum->limb[i] = rest;
  }
  sum->limb[GAB_EXACT_LIMBS - 1] += carry;
  sum->pending = 0;
}

void gab_exact_add(gab_exact_sum *sum, double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  unsigned exponent = (unsigned)(bits >> 52) & 0x7FFU;
  uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
  bool negative = bits >> 63;
  if (exponent == 0x7FFU) {
    sum->specials |= mantissa ? NAN_SEEN : negative ? MINUS_INFINITY_SEEN : PLUS_INFINITY_SEEN;
    return;
  }
  if (exponent > 0) {
    mantissa |= UINT64_C(1) << 52;
    exponent--; /* subnormals share the scale of the first normal exponent */
  }
  if (sum->pending >= most_pending) propagate_carries(sum);
  sum->pending++;
  unsigned place = exponent + BIT_OF_SMALLEST, shift = place % 32;
  int64_t *limb = &sum->limb[place / 32];
  uint64_t low = (mantissa & 0xFFFFFFFFU) << shift, high = (mantissa >> 32) << shift;
  int64_t sign = negative ? -1 : 1;
  limb[0] += sign * (int64_t)(low & 0xFFFFFFFFU);
  limb[1] += sign * (int64_t)((low >> 32) + (high & 0xFFFFFFFFU));
  limb[2] += sign * (int64_t)(high >> 32);
}

void gab_exact_merge(gab_exact_sum *sum, const gab_exact_sum *other)
{
  gab_exact_sum addend = *other;
  if (sum->pending >= most_pending / 2) propagate_carries(sum);
  if (addend.pending >= most_pending / 2) propagate_carries(&addend);
  for (int i = 0; i < GAB_EXACT_LIMBS; i++) sum->limb[i] += addend.limb[i];
  sum->pending += addend.pending + 1;
  sum->specials |= addend.specials;
}

static int highest_bit(const gab_exact_sum *sum)
{
  for (int i = GAB_EXACT_LIMBS - 1; i >= 0; i--)
    for (int bit = 62; sum->limb[i] != 0 && bit >= 0; bit--)
      if (sum->limb[i] >> bit & 1) return 32 * i + bit;
  return -1;
}

static uint64_t bit_at(const gab_exact_sum *sum, int bit)
{
  return bit < 0 ? 0 : (uint64_t)(sum->limb[bit / 32] >> (bit % 32)) & 1;
}

/* Rounds a non-negative sum with propagated carries to nearest even; the result as the bits of a double. */
static uint64_t rounded_bits(const gab_exact_sum *sum)
{
  const uint64_t infinity_bits = UINT64_C(0x7FF) << 52;
  int top = highest_bit(sum);
  if (top < 0) return 0;
  if (top >= BIT_OF_SMALLEST + 2098) return infinity_bits; /* 2^1024 and more */
  int last = top - 52 > BIT_OF_SMALLEST ? top - 52 : BIT_OF_SMALLEST;
  uint64_t mantissa = 0;
  for (int bit = top; bit >= last; bit--) mantissa = mantissa << 1 | bit_at(sum, bit);
  bool above_half = false;
  for (int bit = last - 2; bit >= BIT_OF_SMALLEST && !above_half; bit--) above_half = bit_at(sum, bit);
  if (bit_at(sum, last - 1) && (above_half || (mantissa & 1))) mantissa++;
  /* The leading bit of the mantissa, and a carry of the rounding, are added to the exponent field. */
  uint64_t bits = ((uint64_t)(last - BIT_OF_SMALLEST) << 52) + mantissa;
  return bits < infinity_bits ? bits : infinity_bits;
}

double gab_exact_value(const gab_exact_sum *sum)
{
  const uint32_t both = PLUS_INFINITY_SEEN | MINUS_INFINITY_SEEN;
  if ((sum->specials & NAN_SEEN) || (sum->specials & both) == both) return (double)NAN;
  if (sum->specials & PLUS_INFINITY_SEEN) return (double)INFINITY;
  if (sum->specials & MINUS_INFINITY_SEEN) return -(double)INFINITY;
  gab_exact_sum work = *sum;
  propagate_carries(&work);
  bool negative = work.limb[GAB_EXACT_LIMBS - 1] < 0;
  if (negative) {
    for (int i = 0; i < GAB_EXACT_LIMBS; i++) work.limb[i] = -work.limb[i];
    propagate_carries(&work);
  }
  uint64_t bits = rounded_bits(&work) | (negative ? UINT64_C(1) << 63 : 0);
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}
