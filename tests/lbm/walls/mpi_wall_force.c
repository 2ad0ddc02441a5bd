/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: np=1,4 timeout=200 */
/* Wall shear stress on round walls, compared with known values.
 * Between two cylinders, in a flow around their axis driven by a local force G, it is C / r^2 - G r / 3 on both walls
 * (Couette flow for G = 0): the error of the mean decreases with the width of the cells.
 * Around the cylinders of an array, momentum exchange equals the integral of stress and pressure over a circle in the
 * fluid to 0.3 %. Friction is half of the force (as in Stokes flow), and the integral of the friction of cells is
 * that of gab_lbm_wall_loads(). Friction and pressure in the cells next to the wall give less than the force, since
 * the pressure is that at the centres of cells. Extrapolated to the wall, it makes up for more than half of the
 * difference, which decreases with the width of the cells. On a staircase more than a tenth of the friction acts on
 * the steps, for any width of the cells. */
#include "lbm/observe/wall_loads.h"
#include "lbm/step/local_force.h"
#include "tests/lbm/walls/wall_shear_common.h"

/* ---------------------------------------------------------------- between cylinders */

typedef struct annulus {
  double centre, inner, outer, force, constant; /* C */
  gab_forest *forest;
  double sum[2], worst; /* of shear divided by the expected value, on the inner and the outer wall */
  uint64_t seen[2];
} annulus;

static void drive_around(void *user, const gab_block *block, const int32_t first[3], int32_t count,
                         double *const force[3])
{
  const annulus *a = user;
  for (int32_t i = 0; i < count; i++) {
    double at[3];
    gab_block_cell_centre(a->forest, block, first[0] + i, first[1], first[2], at);
    const double x = at[0] - a->centre, y = at[1] - a->centre, r = hypot(x, y);
    force[0][i] = -a->force * y / r;
    force[1][i] = a->force * x / r;
  }
}

/* The fluid drives both walls in the direction of the force. */
static void compare_annulus(void *user, const sight *at)
{
  annulus *a = user;
  if (isnan(at->shear[0])) return;
  const double x = at->centre[0] - a->centre, y = at->centre[1] - a->centre, r = hypot(x, y);
  const int outside = r > (a->inner + a->outer) / 2;
  const double wall = outside ? a->outer : a->inner;
  const double expected = fabs(a->constant / (wall * wall) - a->force * wall / 3);
  const double found = (at->shear[1] * x - at->shear[0] * y) / r / expected;
  a->sum[outside] += found;
  a->worst = fmax(a->worst, fabs(found - 1));
  a->seen[outside]++;
}

/* Torques of both cylinders divided by the known ones: by momentum exchange, and by friction. */
typedef struct torques {
  double all[2], friction[2];
} torques;

static torques torques_of(view *of, const annulus *a)
{
  gab_body_load loads[2];
  gab_wall_load parts[2];
  torques found;
  gab_lbm_request_forces(of->it.lbm);
  flow_run(&of->it, 1);
  REQUIRE_OK(gab_lbm_loads(of->it.lbm, loads));
  REQUIRE_OK(gab_lbm_wall_loads(of->quantities, parts));
  for (int k = 0; k < 2; k++) {
    const double wall = k == 0 ? a->inner : a->outer;
    const double wanted = 2 * pi * wall * wall * fabs(a->constant / (wall * wall) - a->force * wall / 3);
    found.all[k] = loads[k].torque[2] / wanted - 1;
    found.friction[k] = parts[k].friction_torque[2] / wanted - 1;
    const double unit = sqrt(wanted / (2 * pi * wall * wall)) * 6; /* friction velocity / viscosity */
    CHECK(0 < parts[k].y_plus_least && parts[k].y_plus_least < parts[k].y_plus_mean);
    CHECK(parts[k].y_plus_mean > 0.4 * unit && parts[k].y_plus_mean < 0.8 * unit);
    CHECK(parts[k].y_plus_most > 0.8 * unit && parts[k].y_plus_most < 1.5 * unit);
  }
  return found;
}

/* @param[out] mean  errors on the inner and the outer wall @return error of the worst cell */
static double between_cylinders(gab_world *world, int fine, gab_wall wall, double mean[2], torques *found)
{
  const int32_t width = 32 * fine;
  annulus a = {.centre = width / 2. + 0.2, .inner = 6.1 * fine, .outer = 14.2 * fine};
  a.force = 1e-5 / (fine * fine);
  a.constant = 2 * a.force * (a.outer - a.inner) / 3 / (1 / (a.inner * a.inner) - 1 / (a.outer * a.outer));
  const gab_body bodies[2] = {{.shape = GAB_SHAPE_CYLINDER,
                               .wall = wall,
                               .centre = {a.centre, a.centre, 0},
                               .radius = a.inner,
                               .axis = 2},
                              {.shape = GAB_SHAPE_CYLINDER,
                               .wall = wall,
                               .inside_is_fluid = true,
                               .centre = {a.centre, a.centre, 0},
                               .radius = a.outer,
                               .axis = 2}};
  flow_case given = {.dimension = 2,
                     .cells = {width, width, 1},
                     .block = {width / 4, width / 2, 1},
                     .bodies = bodies,
                     .body_count = 2};
  given.options = (gab_lbm_options){.omega = 1, .kernel = "in_place"};
  view of = open_view(world, &given, NULL, NULL);
  a.forest = of.it.forest;
  const gab_local_force force = {"a stirrer", &a, drive_around};
  REQUIRE_OK(gab_lbm_set_local_force(of.it.lbm, &force));
  flow_run(&of.it, 500 * fine * fine);
  visit(&of, compare_annulus, &a);
  REQUIRE_OK(gab_world_sum_u64(world, a.seen, 2));
  REQUIRE_OK(gab_world_max_f64(world, &a.worst, 1));
  for (int k = 0; k < 2; k++) mean[k] = sum_of(world, a.sum[k]) / (double)a.seen[k] - 1;
  *found = torques_of(&of, &a);
  close_view(&of);
  return a.worst;
}

/* ---------------------------------------------------------------- around a cylinder */

enum { MOST = 64, FIELDS = 5 }; /* pressure; stress xx, xy, yy; friction along x */
typedef struct picture {
  int32_t width;
  double radius, centre;
  double *value; /* [field][y][x], of all processes */
} picture;

static double value_at(const picture *p, int field, int x, int y)
{
  const double value = p->value[(field * p->width + y) * p->width + x];
  return value < -1e100 ? NAN : value;
}

static void note(void *user, const sight *at)
{
  picture *p = user;
  const double values[FIELDS] = {at->pressure, at->stress[0], at->stress[1], at->stress[2], at->shear[0]};
  for (int field = 0; field < FIELDS; field++)
    if (!isnan(values[field]))
      p->value[((int64_t)field * p->width + at->cell[1]) * p->width + at->cell[0]] = values[field];
}

static double between_cells(const picture *p, int field, double x, double y)
{
  const int i = (int)floor(x - 0.5), j = (int)floor(y - 0.5);
  const double a = x - 0.5 - i, b = y - 0.5 - j;
  return (1 - b) * ((1 - a) * value_at(p, field, i, j) + a * value_at(p, field, i + 1, j)) +
         b * ((1 - a) * value_at(p, field, i, j + 1) + a * value_at(p, field, i + 1, j + 1));
}

/* Force on the cylinder along x through a circle in the fluid, with the body force on the fluid between (inertia is
 * 1e-4 of it). */
static double through_circle(const picture *p, double radius, double force)
{
  enum { POINTS = 2000 };
  double sum = pi * (radius * radius - p->radius * p->radius) * force;
  for (int k = 0; k < POINTS; k++) {
    const double angle = 2 * pi * k / POINTS, x = p->centre + radius * cos(angle),
                 y = p->centre + radius * sin(angle);
    sum += 2 * pi * radius / POINTS *
           ((between_cells(p, 1, x, y) - between_cells(p, 0, x, y)) * cos(angle) +
            between_cells(p, 2, x, y) * sin(angle));
  }
  return sum;
}

/* The pressure on the wall, extrapolated along the normal like the stress. */
static double pressure_on_wall(const picture *p, int x, int y, double angle, double distance)
{
  const double normal[2] = {cos(angle), sin(angle)};
  double pressure = value_at(p, 0, x, y);
  for (int axis = 0; axis < 2; axis++) {
    const int ex = axis == 0, ey = axis == 1;
    const double here = value_at(p, 0, x, y), low = value_at(p, 0, x - ex, y - ey),
                 high = value_at(p, 0, x + ex, y + ey);
    const double slope = isnan(low)    ? isnan(high) ? 0 : high - here
                         : isnan(high) ? here - low
                                       : (high - low) / 2;
    pressure -= distance * normal[axis] * slope;
  }
  return pressure;
}

enum { SECTORS = 24 };
typedef struct share {
  double circle, friction, in_cells,
      on_wall,           /* of the force by momentum exchange; the last two of pressure */
      pressure, viscous; /* by gab_lbm_wall_loads() */
} share;

static share of_sectors(const picture *p)
{
  double sum[SECTORS][4] = {{0}};
  share all = {0};
  for (int y = 1; y < p->width - 1; y++)
    for (int x = 1; x < p->width - 1; x++) {
      if (isnan(value_at(p, 4, x, y))) continue;
      const double from[2] = {x + 0.5 - p->centre, y + 0.5 - p->centre}, angle = atan2(from[1], from[0]);
      double *to = sum[(int)((angle + pi) / (2 * pi) * SECTORS) % SECTORS];
      to[0] += value_at(p, 4, x, y);
      to[1] -= value_at(p, 0, x, y) * cos(angle);
      to[2] -= pressure_on_wall(p, x, y, angle, hypot(from[0], from[1]) - p->radius) * cos(angle);
      to[3] += 1;
    }
  for (int sector = 0; sector < SECTORS; sector++) {
    const double length = 2 * pi * p->radius / SECTORS / sum[sector][3];
    REQUIRE(sum[sector][3] > 0);
    all.friction += length * sum[sector][0];
    all.in_cells += length * sum[sector][1];
    all.on_wall += length * sum[sector][2];
  }
  return all;
}

static share around_a_cylinder(gab_world *world, int32_t width, gab_wall wall)
{
  const double nu = 1. / 6;
  picture p = {.width = width, .radius = 0.1875 * width, .centre = width / 2.};
  const size_t count = (size_t)FIELDS * (size_t)width * (size_t)width;
  const gab_body body = {.shape = GAB_SHAPE_CYLINDER,
                         .wall = wall,
                         .centre = {p.centre, p.centre, 0},
                         .radius = p.radius,
                         .axis = 2};
  flow_case given = {.dimension = 2,
                     .cells = {width, width, 1},
                     .block = {width / 4, width / 2, 1},
                     .bodies = &body,
                     .body_count = 1};
  given.options = (gab_lbm_options){.omega = 1 / (3 * nu + 0.5)};
  given.options.force[0] = 2e-6 * pow(64. / width, 3);
  view of = open_view(world, &given, NULL, NULL);
  flow_run(&of.it, 6000 * width * width / (64 * 64));
  gab_lbm_request_forces(of.it.lbm);
  flow_run(&of.it, 1);
  double force[3];
  REQUIRE_OK(gab_lbm_force(of.it.lbm, 0, force));
  const double fluid = width * width - pi * p.radius * p.radius;
  CHECK(fabs(force[0] / (fluid * given.options.force[0]) - 1) < 0.01);
  p.value = malloc(count * sizeof *p.value);
  REQUIRE(p.value);
  for (size_t i = 0; i < count; i++) p.value[i] = -1e200;
  visit(&of, note, &p);
  REQUIRE_OK(gab_world_max_f64(world, p.value, count));
  gab_wall_load parts;
  REQUIRE_OK(gab_lbm_wall_loads(of.quantities, &parts));
  share all = of_sectors(&p);
  all = (share){.circle = through_circle(&p, 1.5 * p.radius, given.options.force[0]) / force[0],
                .friction = all.friction / force[0],
                .in_cells = all.in_cells / force[0],
                .on_wall = all.on_wall / force[0],
                .pressure = parts.pressure[0] / force[0],
                .viscous = parts.friction[0] / force[0]};
  free(p.value);
  close_view(&of);
  return all;
}

static void check_annulus(gab_world *world)
{
  double smooth[2][2], steps[2][2], worst[2];
  torques fine[2], rough[2];
  for (int k = 0; k < 2; k++) {
    worst[k] = between_cylinders(world, 1 + k, GAB_WALL_INTERPOLATED, smooth[k], &fine[k]);
    between_cylinders(world, 1 + k, GAB_WALL_STAIRCASE, steps[k], &rough[k]);
    /* By momentum exchange and by friction alike: of second order on interpolated walls. */
    for (int of = 0; of < 2; of++) {
      CHECK(fabs(fine[k].all[of]) < 0.015 / (1 + 3 * k) && fabs(fine[k].friction[of]) < 0.052 / (1 + 3 * k));
      CHECK(fabs(rough[k].all[of]) < 0.005 && fabs(rough[k].friction[of]) < 0.05);
    }
  }
  CHECK(fabs(smooth[0][0]) < 0.03 && fabs(smooth[1][0]) < 0.005);
  CHECK(fabs(smooth[0][1]) < 0.003 && fabs(smooth[1][1]) < 0.003);
  CHECK(worst[0] < 0.06 && worst[1] < 0.06);
  for (int wall = 0; wall < 2; wall++)
    CHECK(steps[0][wall] < -0.1 && steps[0][wall] > -0.2 && steps[1][wall] < -0.1 && steps[1][wall] > -0.2);
}

static void check_cylinder(gab_world *world)
{
  const share coarse = around_a_cylinder(world, MOST / 2, GAB_WALL_INTERPOLATED),
              fine = around_a_cylinder(world, MOST, GAB_WALL_INTERPOLATED),
              steps = around_a_cylinder(world, MOST, GAB_WALL_STAIRCASE);
  const double missing = 1 - fine.friction - fine.in_cells, on_wall = 1 - fine.friction - fine.on_wall;
  CHECK(fabs(coarse.circle - 1) < 0.003 && fabs(fine.circle - 1) < 0.003 && fabs(steps.circle - 1) < 0.003);
  CHECK(fabs(coarse.pressure + coarse.viscous - 1) < 0.005 && fabs(fine.pressure + fine.viscous - 1) < 0.005);
  CHECK(fabs(steps.pressure + steps.viscous - 1) < 0.005);
  CHECK(fabs(fine.friction / fine.viscous - 1) < 0.01 && fabs(coarse.friction / coarse.viscous - 1) < 0.06);
  CHECK(missing > 0.033 && missing < 0.043 && on_wall > 0.01 && on_wall < 0.02);
  CHECK(1 - coarse.friction - coarse.in_cells > 2 * missing);
  CHECK(1 - coarse.friction - coarse.on_wall > 2 * on_wall);
  CHECK(steps.friction < 0.45 && steps.friction > 0.42);
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  check_annulus(world);
  check_cylinder(world);
  return test_end(&world);
}
