/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-device-bench: compares the bits of a device with those of the processor, and the speed of D3Q19 TRT in
 * place with a copy measured in the same run. Needs no MPI; scripts/measure/device.sh builds it with only a
 * compiler. */
#include "apps/device/device_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
    "usage: gabion-device-bench [OPTION]...\n"
    "\n"
    "  --backend NAME   cuda or opencl (default: the first that has a device)\n"
    "  --number N       of the device within the backend (default 0)\n"
    "  --cells N        cells along each axis of the box that is timed (default 256); blocks of N, 64 and 32\n"
    "  --check-cells N  of the box that is compared with a plain loop on the processor (default 64)\n"
    "  --steps N        steps of that comparison (default 20)\n"
    "  --block N        with --checksum: cells along each axis of a block (default: of the box)\n"
    "  --reals N        with --checksum: 0 double (default), 1 float, 2 mixed\n"
    "  --quick          no comparison at the timed size\n"
    "  --models         only checksums of small boxes on all lattices with all collisions\n"
    "  --checksum       only the checksum of the box of --check-cells after --steps\n"
    "  --endless        with --checksum: never ends\n";

static bool take_number(const char *name, int *index, int argc, char **argv, int *value)
{
  char *end = NULL;
  if (strcmp(argv[*index], name) != 0) return false;
  const long number = ++*index < argc ? strtol(argv[*index], &end, 10) : -1;
  if (!end || *end || end == argv[*index] || number < 0 || number > 1000000) {
    fprintf(stderr, "gabion-device-bench: %s needs a number\n", name);
    exit(2);
  }
  *value = (int)number;
  return true;
}

static void parse(int argc, char **argv, bench_options *options)
{
  for (int i = 1; i < argc; i++) {
    if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) options->backend = argv[++i];
    else if (strcmp(argv[i], "--checksum") == 0) options->checksum = true;
    else if (strcmp(argv[i], "--endless") == 0) options->endless = true;
    else if (strcmp(argv[i], "--quick") == 0) options->quick = true;
    else if (strcmp(argv[i], "--models") == 0) options->models = true;
    else if (!take_number("--number", &i, argc, argv, &options->number) &&
             !take_number("--cells", &i, argc, argv, &options->cells) &&
             !take_number("--check-cells", &i, argc, argv, &options->check_cells) &&
             !take_number("--block", &i, argc, argv, &options->block) &&
             !take_number("--reals", &i, argc, argv, &options->reals) &&
             !take_number("--steps", &i, argc, argv, &options->steps)) {
      const bool help = strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0;
      fputs(usage, help ? stdout : stderr);
      exit(help ? 0 : 2);
    }
  }
}

/* The first backend with a device. */
static const char *find_backend(void)
{
  for (int i = 0; gab_device_backend_at(i); i++) {
    int count = 0;
    if (gab_device_count(gab_device_backend_at(i), &count) == GAB_OK && count > 0)
      return gab_device_backend_at(i);
  }
  return NULL;
}

static gab_status run(gab_device *device, const bench_options *options)
{
  if (options->models) return bench_models(device);
  if (options->checksum) return bench_checksum(device, options);
  const gab_device_about *about = gab_device_of(device);
  printf("## %s\n\n%s, %.1f GiB, %s\n\n", about->name, about->backend, (double)about->memory / (1 << 30),
         about->runtime);
  GAB_TRY(bench_self_test(device));
  GAB_TRY(bench_bits(device, options));
  return bench_speed(device, options);
}

int main(int argc, char **argv)
{
  bench_options options = {.cells = 256, .check_cells = 64, .steps = 20};
  gab_device *device = NULL;
  parse(argc, argv, &options);
  if (!options.backend) options.backend = find_backend();
  if (!options.backend) {
    printf("no device here: neither CUDA nor OpenCL has one\n");
    return 77;
  }
  gab_status status = gab_device_open(options.backend, options.number, &device);
  if (status == GAB_OK) status = run(device, &options);
  if (status != GAB_OK) fprintf(stderr, "gabion-device-bench: %s\n", gab_error_message());
  gab_device_close(&device);
  return gab_status_exit_code(status);
}
