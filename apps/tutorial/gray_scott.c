/* SPDX-License-Identifier: Apache-2.0 */
/* Two substances that react, in space: U feeds on what flows in, V on U, and it decays (Gray & Scott 1984; Pearson 1993).
 *
 *   gabion-launch -n 4 build/bin/gray_scott run apps/tutorial/gray_scott.yaml
 *
 *   du/dt = D_u Laplace(u) - u v^2 + F (1 - u)          dv/dt = D_v Laplace(v) + u v^2 - (F + k) v
 *
 * Two fields in one stencil (apps/driver/stencil/stencil.h); units of a cell and a step. */
#include "gabion/stencil.h"

/* ---- 1. Parameters. Diffusion is stable up to 1/6. */
#define REAL(key, most, preset, what)                                                                        \
  {                                                                                                          \
    .name = key, .type = GAB_CONFIG_REAL, .min = 0, .max = most, .default_text = preset, .doc = what         \
  }
static const gab_config_key keys[] = {REAL("diffusion_u", 0.16, "0.12", "Diffusion of U."),
                                      REAL("diffusion_v", 0.16, "0.06", "Diffusion of V."),
                                      REAL("feed", 1, "0.037", "Rate F at which U flows in."),
                                      REAL("kill", 1, "0.06", "Rate k at which V decays, beside F.")};

/* ---- 2. At first there is U everywhere, and V in two cubes. */
static void start(const gab_config *config, const double centre[3], double *values)
{
  const double near[2][3] = {{26, 28, 30}, {38, 36, 34}};
  values[0] = 1;
  for (int i = 0; i < 2; i++)
    if (fabs(centre[0] - near[i][0]) < 4 && fabs(centre[1] - near[i][1]) < 4 &&
        fabs(centre[2] - near[i][2]) < 4)
      values[0] = 0.5, values[1] = 0.25;
  (void)config;
}

/* ---- 3. A step of a block. In a row cells are side by side; rows and layers are so far apart: */
static inline double laplace(const double *c, ptrdiff_t row, ptrdiff_t layer)
{
  return c[-1] + c[1] + c[-row] + c[row] + c[-layer] + c[layer] - 6 * c[0];
}

static void react(const gab_stencil_block *at)
{
  const double area = at->width * at->width; /* wider cells: blocks adapt */
  const double diffusion_u = gab_config_real(at->config, "gray_scott.diffusion_u") / area;
  const double diffusion_v = gab_config_real(at->config, "gray_scott.diffusion_v") / area;
  const double feed = gab_config_real(at->config, "gray_scott.feed");
  const double decay = feed + gab_config_real(at->config, "gray_scott.kill");
  const gab_field_map *map = &at->now->map; /* that of `next', too */
  const ptrdiff_t row = map->stride[1], layer = map->stride[2];
  for (int32_t z = 0; z < at->cells[2]; z++)
    for (int32_t y = 0; y < at->cells[1]; y++) {
      const size_t first = gab_field_index(map, 0, y, z, 0), other = gab_field_index(map, 0, y, z, 1);
      const double *u = (const double *)at->now->data + first, *v = (const double *)at->now->data + other;
      double *u_next = (double *)at->next->data + first, *v_next = (double *)at->next->data + other;
#pragma omp simd
      for (int32_t x = 0; x < at->cells[0]; x++) {
        const double reaction = u[x] * v[x] * v[x];
        u_next[x] = u[x] + diffusion_u * laplace(u + x, row, layer) - reaction + feed * (1 - u[x]);
        v_next[x] = v[x] + diffusion_v * laplace(v + x, row, layer) + reaction - decay * v[x];
      }
    }
}

/* ---- 4. The table: how much there is of both. */
static const char *const fields[] = {"u", "v", NULL};
static const gab_stencil gray_scott = {.name = "gray_scott",
                                       .title = "a reaction of two substances",
                                       .dimension = 3,
                                       .keys = keys,
                                       .key_count = sizeof keys / sizeof keys[0],
                                       .fields = fields,
                                       .start = start,
                                       .update = react,
                                       .adaptive = true,
                                       .sums = fields};

int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &gray_scott); }
