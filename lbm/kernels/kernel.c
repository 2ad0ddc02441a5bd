/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/collision/rheology.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/lbm_impl.h"

#include <stdio.h>
#include <string.h>

static gab_kernel_reals reals_of(const gab_lbm_options *options)
{
  if (options->precision == GAB_PRECISION_DOUBLE) return GAB_REALS_DOUBLE;
  return options->mixed ? GAB_REALS_MIXED : GAB_REALS_FLOAT;
}

gab_kernel_variant gab_kernel_wanted(const gab_lbm_options *options)
{
  const double *force = options->force;
  return (gab_kernel_variant){.lattice = options->lattice ? gab_lattice_number(options->lattice) : 0,
                              .reals = reals_of(options),
                              .forced =
                                  options->force_varies || force[0] != 0 || force[1] != 0 || force[2] != 0};
}

const gab_kernel *gab_kernel_find(const char *name, const gab_collision *collision, gab_kernel_variant wanted)
{
  const gab_kernel_family *family = gab_kernel_family_by_name(name);
  if (!family || gab_collision_check_lattice(collision, gab_lattice_at(wanted.lattice)) != GAB_OK)
    return NULL;
  if (family->sweep) return gab_kernel_of_own(family, collision, wanted);
  const gab_kernel *kernel = gab_kernel_of(collision->kernels, gab_kernel_kind_of(family), wanted);
  if (kernel->run)
    return gab_lattice_is_own(wanted.lattice) ? gab_kernel_on_own_lattice(family, kernel, wanted) : kernel;
  gab_error_set(
      GAB_ERR_INPUT, __FILE__, __LINE__,
      "%s has no kernel \"%s\" on the lattice %s: it is computed cell by cell there (auto, in_place, "
      "sparse, reference)",
      collision->title, family->name, gab_lattice_at(wanted.lattice)->name);
  return NULL;
}

static bool is_defined_on(const gab_collision *collision, int number)
{
  const gab_kernel_variant any = {.lattice = number};
  return gab_kernel_of(collision->kernels, GAB_FAMILY_REFERENCE, any)->run != NULL;
}

/* "trt, srt" */
static void list_defined_on(int number, char *text, size_t capacity)
{
  text[0] = '\0';
  for (int i = 0; gab_collision_at(i); i++) {
    const size_t used = strlen(text);
    if (is_defined_on(gab_collision_at(i), number))
      snprintf(text + used, capacity - used, "%s%s", used ? ", " : "", gab_collision_at(i)->name);
  }
}

gab_status gab_collision_check_lattice(const gab_collision *collision, const gab_lattice *lattice)
{
  const int number = gab_lattice_number(lattice);
  if (number < 0)
    GAB_FAIL(GAB_ERR_INPUT,
             "the lattice %s is none of gab_lattice_at(): a program's own is registered by "
             "gab_lattice_register()",
             lattice ? lattice->name : "NULL");
  if (is_defined_on(collision, number)) return GAB_OK;
  if (gab_lattice_is_own(number)) {
    char defined[256];
    list_defined_on(number, defined, sizeof defined);
    GAB_FAIL(GAB_ERR_INPUT,
             "%s is not defined on the lattice %s, which is user-defined: available are %s, and "
             "models that a program registers with their kernels or as the function of one cell",
             collision->title, lattice->name, defined);
  }
  GAB_FAIL(GAB_ERR_INPUT, "%s is not defined on the lattice %s%s%s", collision->title, lattice->name,
           collision->lattices ? ": " : "", collision->lattices ? collision->lattices : "");
}

static int fields_of(const gab_kernel *kernel) { return kernel->in_place ? 1 : 2; }

int gab_lbm_fields(const gab_lbm_options *options)
{
  const gab_collision *collision = gab_lbm_collision(options);
  gab_kernel_variant wanted = gab_kernel_wanted(options);
  const int last = options->lattice ? wanted.lattice : GAB_LATTICE_COUNT - 1;
  for (; wanted.lattice <= last; wanted.lattice++) {
    const gab_kernel *kernel = gab_kernel_find(options->kernel, collision, wanted);
    if (kernel) return fields_of(kernel);
  }
  return 0;
}

static bool accepts_on(const gab_lbm_options *options, const gab_collision *collision,
                       gab_kernel_variant wanted)
{
  const gab_kernel_family *family = gab_kernel_family_by_name(options->kernel);
  if (!family || !is_defined_on(collision, wanted.lattice)) return false;
  if (!family->sweep)
    return gab_kernel_of(collision->kernels, gab_kernel_kind_of(family), wanted)->run != NULL;
  return !family->refuses ||
         !family->refuses(collision, gab_lattice_at(wanted.lattice), wanted.reals, wanted.forced);
}

bool gab_lbm_accepts(const gab_lbm_options *options, const gab_collision *collision)
{
  gab_kernel_variant wanted = gab_kernel_wanted(options);
  if (options->collision == &gab_collision_rheology && collision != options->collision) return false;
  if (options->lattice) return accepts_on(options, collision, wanted);
  for (wanted.lattice = 0; wanted.lattice < GAB_LATTICE_COUNT; wanted.lattice++)
    if (accepts_on(options, collision, wanted)) return true;
  return false;
}

/* ------------------------------------------------------------------------------------------ in words */

/* Bytes of the vectors that this was compiled for, 0 if it is unknown. */
enum {
#if defined(__AVX512F__)
  VECTOR_BYTES = 64
#elif defined(__AVX2__)
  VECTOR_BYTES = 32
#elif defined(__SSE2__) || defined(__ARM_NEON) || defined(__ALTIVEC__)
  VECTOR_BYTES = 16
#else
  VECTOR_BYTES = 0
#endif
};

static const char *why_fused(void)
{
#if defined(__FP_FAST_FMA) || defined(__FMA__) || defined(__aarch64__)
  return "fused multiply-add by the processor";
#else
  return "fused multiply-add by the C library, which is slow: build for the processors that it is to run on "
         "(GABION_NATIVE, GABION_BASELINE)";
#endif
}

gab_status gab_lbm_choose_kernel(const gab_lbm_options *options, const int32_t cells[3],
                                 gab_lbm_kernel_choice *choice)
{
  const gab_kernel_variant wanted = gab_kernel_wanted(options);
  const gab_kernel *kernel = gab_kernel_find(options->kernel, gab_lbm_collision(options), wanted);
  if (!kernel) return GAB_ERR_INPUT;
  const bool is_asked = options->kernel && strcmp(options->kernel, "auto") != 0;
  const int q = options->lattice->q;
  const size_t stored = gab_precision_bytes(options->precision);
  choice->name = kernel->name;
  const size_t bytes = (size_t)q * stored * (size_t)fields_of(kernel);
  if (is_asked)
    snprintf(choice->family, sizeof choice->family, "as the parameter file says; %zu bytes per cell", bytes);
  else
    snprintf(
        choice->family, sizeof choice->family,
        "one field of populations per block, %zu bytes per cell (fluid cell where few are fluid): two thirds "
        "of the memory traffic of two",
        bytes);
  const size_t real = wanted.reals == GAB_REALS_FLOAT ? sizeof(float) : sizeof(double);
  if (options->collision && options->collision->cell && !gab_kernel_family_by_name(options->kernel)->sweep)
    snprintf(choice->processor, sizeof choice->processor,
             "one cell at a time, by the function of the collision model");
  else if (gab_lattice_is_own(wanted.lattice) && !gab_kernel_family_by_name(options->kernel)->sweep)
    snprintf(choice->processor, sizeof choice->processor,
             "one cell at a time, on the program's own lattice; %s", why_fused());
  else if (gab_kernel_family_by_name(options->kernel)->sweep)
    snprintf(choice->processor, sizeof choice->processor, "by the program's own kernel");
  else if (strncmp(kernel->name, "reference/", strlen("reference/")) == 0)
    snprintf(choice->processor, sizeof choice->processor, "one cell at a time; %s", why_fused());
  else
    snprintf(choice->processor, sizeof choice->processor, "vectors of %zu cells; %s",
             VECTOR_BYTES > real ? VECTOR_BYTES / real : 1, why_fused());
  const int32_t piece = (int32_t)(64 / stored);
  choice->advice[0] = '\0';
  if (cells[0] < piece)
    snprintf(choice->advice, sizeof choice->advice,
             "rows of %" PRId32 " cells are shorter than a cache line of %" PRId32
             ": blocks longer along x are faster",
             cells[0], piece);
  return GAB_OK;
}
