/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: series in time, from text. */
#include "tests/fuzz/fuzz_main.h"

#include "core/config/time_series.h"
#include "core/memory/memory.h"

#include <math.h>

#ifndef GAB_LIBFUZZER
static const fuzz_seed fuzz_seeds[] = {
    FUZZ_SEED("time,flow\n# measured\n0,1\n0.5, 2e-3\n1;-3\r\n"),
    FUZZ_SEED("1 2\n2\t3\n\n1e3 4"),
    FUZZ_SEED("0 0\n1e308 1\n1.5e308 -1e308\n"),
};
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  gab_time_series *series = NULL;
  const bool repeats = size > 0 && data[0] % 2 == 1;
  const gab_status status = gab_time_series_parse("fuzz.csv", (const char *)data, size, repeats, &series);
  FUZZ_EXPECT(status == GAB_OK || (status == GAB_ERR_INPUT && gab_error_message()[0]));
  if (status == GAB_OK) {
    double first, last;
    gab_time_series_range(series, &first, &last);
    FUZZ_EXPECT(first < last && gab_time_series_equal(series, series));
    const double most = gab_time_series_largest(series);
    const double at[] = {first - 1, first, (first + last) / 2, last, last + 1, 0};
    for (size_t i = 0; i < sizeof at / sizeof *at; i++)
      FUZZ_EXPECT(!(fabs(gab_time_series_at(series, at[i])) > most * (1 + 1e-12)));
  }
  gab_time_series_destroy(&series);
  FUZZ_EXPECT(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return 0;
}

FUZZ_MAIN
