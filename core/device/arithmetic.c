/* SPDX-License-Identifier: Apache-2.0 */
/* gab_device_check_arithmetic(): the same operations on the device and here. */
#include "core/device/device_impl.h"

#include "core/base/hash.h"

#include <math.h>
#include <string.h>

extern const char gab_device_arithmetic_text[]; /* made of arithmetic_text.inc by the build */

#define GAB_INLINE static
#define REAL       double
#define NAME(part) double_##part
#define GAB_FMA    fma
#define GAB_SQRT   sqrt
#include "core/device/arithmetic.inc"
#undef REAL
#undef NAME
#undef GAB_FMA
#undef GAB_SQRT
#define REAL       float
#define NAME(part) float_##part
#define GAB_FMA    fmaf
#define GAB_SQRT   sqrtf
#include "core/device/arithmetic.inc"

enum { SAMPLES = 4096, GROUP = 64 };
static const char *const names[GAB_OPERATIONS] = {"a * b + c",
                                                  "fma(a, b, c)",
                                                  "a / b",
                                                  "sqrt(|a|)",
                                                  "(a - b) * c - a / (b * c)",
                                                  "fma(a, b, -(a * b))",
                                                  "1 / (1 + fma(a, a, b * b))",
                                                  "a + b"};

/* Ordinary numbers mostly; some with an exponent from denormal to huge, zeros, infinities. */
static double sample(uint64_t index, int least, int most)
{
  const uint64_t bits = gab_hash_counter(1, 1, index), kind = gab_hash_counter(1, 2, index);
  const double mantissa = 1 + (double)(bits >> 11) * 0x1p-53, sign = kind & 16 ? -1 : 1;
  switch (kind % 16) {
  case 0:
    return sign *
           ldexp(mantissa, least + (int)(gab_hash_counter(1, 3, index) % (uint64_t)(most - least + 1)));
  case 1:
    return sign * ldexp(mantissa, least + (int)(gab_hash_counter(1, 3, index) % 24));
  case 2:
    return kind & 32 ? sign * INFINITY : sign * 0.0;
  default:
    return sign * ldexp(mantissa, (int)(gab_hash_counter(1, 3, index) % 16) - 12);
  }
}

static bool same(const void *a, const void *b, size_t bytes, bool both_nan)
{
  return both_nan || memcmp(a, b, bytes) == 0;
}

static gab_status compare_double(const gab_device *device, const double *in, const double *out)
{
  for (int i = 0; i < SAMPLES; i++)
    for (int which = 0; which < GAB_OPERATIONS; which++) {
      const double *x = in + 3 * i, found = out[i * GAB_OPERATIONS + which];
      const double expected = double_operation(which, x[0], x[1], x[2]);
      if (!same(&found, &expected, sizeof found, isnan(found) && isnan(expected)))
        GAB_FAIL(
            GAB_ERR_SUSPECT,
            "%s: %s in double differs from the processor's: a = %a, b = %a, c = %a give %a, not %a: results would not be "
            "the same to the last bit",
            device->about.name, names[which], x[0], x[1], x[2], found, expected);
    }
  return GAB_OK;
}

static gab_status compare_float(const gab_device *device, const float *in, const float *out)
{
  for (int i = 0; i < SAMPLES; i++)
    for (int which = 0; which < GAB_OPERATIONS; which++) {
      const float *x = in + 3 * i, found = out[i * GAB_OPERATIONS + which];
      const float expected = float_operation(which, x[0], x[1], x[2]);
      if (!same(&found, &expected, sizeof found, isnan(found) && isnan(expected)))
        GAB_FAIL(
            GAB_ERR_SUSPECT,
            "%s: %s in float differs from the processor's: a = %a, b = %a, c = %a give %a, not %a: results would not be "
            "the same to the last bit",
            device->about.name, names[which], (double)x[0], (double)x[1], (double)x[2], (double)found,
            (double)expected);
    }
  return GAB_OK;
}

static void fill(bool is_double, void *in)
{
  for (uint64_t i = 0; i < 3 * SAMPLES; i++)
    if (is_double) ((double *)in)[i] = sample(i, -1074, 1023);
    else ((float *)in)[i] = (float)sample(i, -149, 127);
}

static gab_status run(gab_device *device, bool is_double, const void *in, size_t in_bytes, void *out,
                      size_t out_bytes)
{
  gab_device_program *program = NULL;
  gab_device_memory *from = NULL, *to = NULL;
  const uint32_t count = SAMPLES;
  gab_status status = gab_device_build(device, gab_device_arithmetic_text,
                                       is_double ? "-DREAL=double" : "-DREAL=float", &program);
  if (status == GAB_OK) status = gab_device_alloc(device, in_bytes, &from);
  if (status == GAB_OK) status = gab_device_alloc(device, out_bytes, &to);
  if (status == GAB_OK) status = gab_device_write(from, 0, in, in_bytes);
  if (status == GAB_OK) {
    const gab_device_argument arguments[] = {GAB_DEVICE_BUFFER(from), GAB_DEVICE_BUFFER(to),
                                             GAB_DEVICE_VALUE(count)};
    status = gab_device_launch(program, "gab_arithmetic", SAMPLES, GROUP, arguments, 3);
  }
  if (status == GAB_OK) status = gab_device_read(to, 0, out, out_bytes);
  gab_device_free(&from);
  gab_device_free(&to);
  return status;
}

static gab_status check(gab_device *device, bool is_double)
{
  const size_t real = is_double ? sizeof(double) : sizeof(float);
  const size_t in_bytes = 3 * SAMPLES * real, out_bytes = (size_t)SAMPLES * GAB_OPERATIONS * real;
  void *in = NULL, *out = NULL;
  gab_status status = gab_alloc(in_bytes, GAB_MEMORY_OTHER, &in);
  if (status == GAB_OK) status = gab_alloc(out_bytes, GAB_MEMORY_OTHER, &out);
  if (status == GAB_OK) {
    fill(is_double, in);
    status = run(device, is_double, in, in_bytes, out, out_bytes);
  }
  if (status == GAB_OK) status = is_double ? compare_double(device, in, out) : compare_float(device, in, out);
  gab_free(&in);
  gab_free(&out);
  return status;
}

gab_status gab_device_check_arithmetic(gab_device *device)
{
  if (device->about.has_double) GAB_TRY(check(device, true));
  return check(device, false);
}
