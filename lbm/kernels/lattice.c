#include "lbm/kernels/lattice.h"
#include "lbm/kernels/lattice_list_impl.h"

#include <strings.h>

#define VELOCITY(q, cx, cy, cz, w) [q] = {(cx), (cy), (cz)}, [(q) + 1] = {-(cx), -(cy), -(cz)},
#define WEIGHT(q, cx, cy, cz, w)   [q] = (w), [(q) + 1] = (w),

const gab_lattice gab_lattice_d2q9 = {.name = "D2Q9",
                                      .dimension = 2,
                                      .q = 9,
                                      .c = {GAB_D2Q9_PAIRS(VELOCITY)},
                                      .weight = {GAB_D2Q9_PAIRS(WEIGHT)[0] = GAB_D2Q9_REST}};

const gab_lattice gab_lattice_d3q19 = {.name = "D3Q19",
                                       .dimension = 3,
                                       .q = 19,
                                       .c = {GAB_D3Q19_PAIRS(VELOCITY)},
                                       .weight = {GAB_D3Q19_PAIRS(WEIGHT)[0] = GAB_D3Q19_REST}};

const gab_lattice *gab_lattice_by_name(const char *name)
{
  if (strcasecmp(name, gab_lattice_d2q9.name) == 0) return &gab_lattice_d2q9;
  if (strcasecmp(name, gab_lattice_d3q19.name) == 0) return &gab_lattice_d3q19;
  gab_error_set(GAB_ERR_INPUT, __FILE__, __LINE__, "there is no lattice \"%s\"; known are D2Q9 and D3Q19",
                name);
  return NULL;
}

double gab_lattice_equilibrium(const gab_lattice *lattice, int q, double drho, const double u[3])
{
  const int8_t *c = lattice->c[q];
  double cu = c[0] * u[0] + c[1] * u[1] + c[2] * u[2];
  double uu = u[0] * u[0] + u[1] * u[1] + u[2] * u[2];
  return lattice->weight[q] * (drho + (1 + drho) * (3 * cu + 4.5 * cu * cu - 1.5 * uu));
}
