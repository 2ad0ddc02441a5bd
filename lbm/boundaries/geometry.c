/* SPDX-License-Identifier: Apache-2.0 */
#include "lbm/boundaries/geometry_impl.h"

#include "core/memory/memory.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_BODIES = 1 << 20, MOST_SHAPES = 1 << 24, IMAGES = 27 };

/* Cubes of cells of level 0 with the shapes that may make a cell in them solid, so that a cell asks no
 * others.
 */
typedef struct bins {
  int64_t count[3];
  int shift;       /* a cube has 2^shift cells along an axis */
  size_t *start;   /* per cube, x fastest, and at the end */
  uint32_t *shape; /* ascending within a cube */
} bins;

struct gab_geometry {
  gab_domain domain;
  gab_body *bodies;
  gab_mask *masks;         /* one per body, empty unless the body has a picture */
  gab_composed **composed; /* one per body, NULL unless it is a set or rotated */
  double (*middle)[3];     /* one per body, in cells of level 0 from the corner of the domain */
  size_t body_count;
  gab_shape_data *shapes; /* the bodies, their copies, and images of these beyond periodic sides, by body */
  size_t shape_count;
  size_t *first_shape; /* per body, and at the end */
  bins bins;
};

/* ------------------------------------------------------------------------------------------ making it */

static gab_status check_domain(const gab_domain *domain)
{
  if (domain->dimension != 2 && domain->dimension != 3)
    GAB_FAIL(GAB_ERR_INPUT, "a domain has 2 or 3 dimensions, not %d", domain->dimension);
  for (int axis = 0; axis < 3; axis++)
    if (domain->cells[axis] < 1 || (domain->dimension == 2 && axis == 2 && domain->cells[axis] != 1))
      GAB_FAIL(GAB_ERR_INPUT, "a domain of dimension %d cannot have %" PRId64 " cells along axis %d",
               domain->dimension, domain->cells[axis], axis);
  if (!(domain->dx > 0 && isfinite(domain->dx)))
    GAB_FAIL(GAB_ERR_INPUT, "the width of a cell must be positive, not %g", domain->dx);
  return GAB_OK;
}

/* Appends a shape; only counts it before there is memory for them. */
static void add_shape(gab_geometry *geometry, const gab_shape_data *shape)
{
  if (geometry->shapes) geometry->shapes[geometry->shape_count] = *shape;
  geometry->shape_count++;
}

static void move_shape(gab_shape_data *shape, int axis, double shift)
{
  shape->centre[axis] += shift;
  shape->lo[axis] += shift;
  shape->hi[axis] += shift;
}

/* Appends the images of a shape that reach into the domain, itself first. */
static void add_images(gab_geometry *geometry, const gab_shape_data *shape)
{
  add_shape(geometry, shape);
  if (shape->inverted) return;
  for (int image = 0; image < IMAGES; image++) {
    int at[3] = {image % 3 - 1, image / 3 % 3 - 1, image / 9 - 1};
    gab_shape_data moved = *shape;
    bool reaches = at[0] != 0 || at[1] != 0 || at[2] != 0;
    for (int axis = 0; reaches && axis < 3; axis++) {
      if (at[axis] == 0) continue;
      double size = (double)geometry->domain.cells[axis], shift = at[axis] * size;
      reaches = geometry->domain.periodic[axis] && shape->hi[axis] - shape->lo[axis] < size &&
                shape->hi[axis] + shift >= 0 && shape->lo[axis] + shift <= size;
      move_shape(&moved, axis, shift);
    }
    if (reaches) add_shape(geometry, &moved);
  }
}

static void add_copies(gab_geometry *geometry, const gab_body *body, const gab_shape_data *shape)
{
  int64_t at[3], count[3];
  for (int axis = 0; axis < 3; axis++) count[axis] = body->copies[axis] > 1 ? body->copies[axis] : 1;
  for (at[2] = 0; at[2] < count[2]; at[2]++)
    for (at[1] = 0; at[1] < count[1]; at[1]++)
      for (at[0] = 0; at[0] < count[0]; at[0]++) {
        gab_shape_data copy = *shape;
        for (int axis = 0; axis < 3; axis++)
          if (at[axis] > 0)
            move_shape(&copy, axis, (double)at[axis] * body->copy_offset[axis] / geometry->domain.dx);
        add_images(geometry, &copy);
      }
}

/* Of its extent with all copies; of the domain along axes where it is endless. */
static void find_middle(const gab_domain *domain, const gab_body *given, double middle[3])
{
  gab_body shape = *given;
  double lo[3], hi[3];
  shape.inside_is_fluid = false;
  gab_body_extent(&shape, domain->dimension, lo, hi);
  for (int axis = 0; axis < domain->dimension; axis++) {
    const bool is_round = given->set == GAB_SET_NONE &&
                          (given->shape == GAB_SHAPE_SPHERE || given->shape == GAB_SHAPE_CYLINDER);
    const bool is_single = is_round && given->copies[axis] <= 1 && given->rotation[0] == 0 &&
                           given->rotation[1] == 0 && given->rotation[2] == 0;
    const bool is_endless = !isfinite(lo[axis]) || !isfinite(hi[axis]);
    const double at = is_single ? given->centre[axis] : 0.5 * (lo[axis] + hi[axis]);
    middle[axis] = is_endless ? 0.5 * (double)domain->cells[axis] : (at - domain->origin[axis]) / domain->dx;
  }
}

static gab_status copy_body(gab_geometry *geometry, size_t index, const gab_body *given)
{
  gab_body *body = &geometry->bodies[index];
  const int dimension = geometry->domain.dimension;
  *body = *given;
  body->name[GAB_BODY_NAME_LENGTH - 1] = '\0';
  if (body->name[0] == '\0') snprintf(body->name, sizeof body->name, "body %zu", index);
  GAB_TRY(gab_body_check(body, dimension));
  find_middle(&geometry->domain, body, geometry->middle[index]);
  if (gab_body_is_composed(body)) GAB_TRY(gab_composed_create(body, dimension, &geometry->composed[index]));
  body->parts = NULL; /* those of the caller */
  if (body->set == GAB_SET_NONE && body->shape == GAB_SHAPE_MASK)
    GAB_TRY(gab_mask_read(body->mask, &geometry->masks[index]));
  return GAB_OK;
}

/* Twice: to count them, and to add them. */
static gab_status add_bodies(gab_geometry *geometry, bool is_first)
{
  geometry->shape_count = 0;
  for (size_t i = 0; i < geometry->body_count; i++) {
    const gab_body *body = &geometry->bodies[i];
    const gab_body *evaluated = geometry->composed[i] ? gab_composed_body(geometry->composed[i]) : body;
    const gab_shape_data shape = gab_shape_of(evaluated, (int)i, &geometry->masks[i], &geometry->domain);
    if (is_first && shape.shape == GAB_SHAPE_OWN && gab_distance_exists(&shape))
      GAB_TRY(gab_distance_check(&shape, &geometry->domain, body->name));
    geometry->first_shape[i] = geometry->shape_count;
    add_copies(geometry, body, &shape);
    if (geometry->shape_count > MOST_SHAPES)
      GAB_FAIL(GAB_ERR_INPUT, "%s: there are more than %d bodies with all copies", body->name, MOST_SHAPES);
  }
  geometry->first_shape[geometry->body_count] = geometry->shape_count;
  return GAB_OK;
}

static gab_status make_shapes(gab_geometry *geometry, const gab_body *bodies)
{
  for (size_t i = 0; i < geometry->body_count; i++) GAB_TRY(copy_body(geometry, i, &bodies[i]));
  GAB_TRY(add_bodies(geometry, true));
  GAB_TRY(GAB_NEW_ARRAY(&geometry->shapes, geometry->shape_count, GAB_MEMORY_OTHER));
  return add_bodies(geometry, false);
}

static gab_status allocate(gab_geometry *geometry, size_t body_count)
{
  GAB_TRY(GAB_NEW_ARRAY(&geometry->bodies, body_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&geometry->masks, body_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&geometry->composed, body_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&geometry->middle, body_count, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&geometry->first_shape, body_count + 1, GAB_MEMORY_OTHER));
  geometry->body_count = body_count;
  return GAB_OK;
}

/* ------------------------------------------------------------------------------------------ bins */

/* Small enough that a cube meets few of many bodies, and few enough to be no matter in memory. */
static void size_bins(const gab_domain *domain, size_t shapes, bins *made)
{
  const double most = 8 * (double)shapes + 64;
  const int least_shift = 2;
  for (made->shift = least_shift;; made->shift++) {
    for (int axis = 0; axis < 3; axis++) made->count[axis] = ((domain->cells[axis] - 1) >> made->shift) + 1;
    if ((double)made->count[0] * (double)made->count[1] * (double)made->count[2] <= most) return;
  }
}

/* The cubes [*first, *last] along an axis that a shape can have cells in. A cell more on both sides, since
 * the bounding box is rounded. @return false if there are none */
static bool bins_of(const bins *made, const gab_shape_data *shape, int axis, int64_t *first, int64_t *last)
{
  const double width = ldexp(1, made->shift), end = (double)made->count[axis] * width;
  *first = 0;
  *last = made->count[axis] - 1;
  if (shape->inverted) return true;
  double lo = shape->lo[axis] - 1, hi = shape->hi[axis] + 1;
  if (hi < 0 || lo > end) return false;
  if (lo > 0) *first = (int64_t)(lo / width);
  if (hi < end) *last = (int64_t)(hi / width);
  return *first <= *last;
}

/* Lists the shape in its cubes, or only counts, at the cube's next place. */
static void put_into_bins(bins *made, const gab_shape_data *shape, uint32_t index, size_t *next)
{
  const double width = ldexp(1, made->shift);
  int64_t first[3], last[3], at[3];
  for (int axis = 0; axis < 3; axis++)
    if (!bins_of(made, shape, axis, &first[axis], &last[axis])) return;
  for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
    for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
      for (at[0] = first[0]; at[0] <= last[0]; at[0]++) {
        double lo[3], hi[3];
        for (int axis = 0; axis < 3; axis++) {
          lo[axis] = (double)at[axis] * width;
          hi[axis] = lo[axis] + width;
        }
        if (gab_shape_relation(shape, lo, hi) == GAB_RELATION_APART) continue;
        size_t *place = &next[(at[2] * made->count[1] + at[1]) * made->count[0] + at[0]];
        if (made->shape) made->shape[*place] = index;
        ++*place;
      }
}

static gab_status make_bins(gab_geometry *geometry)
{
  bins *made = &geometry->bins;
  size_bins(&geometry->domain, geometry->shape_count, made);
  size_t count = (size_t)(made->count[0] * made->count[1] * made->count[2]);
  void *starts, *shapes;
  GAB_TRY(gab_alloc((count + 1) * sizeof *made->start, GAB_MEMORY_OTHER, &starts));
  made->start = starts;
  /* Counted one place further on: the sums are then where the cubes begin, and after filling where they end,
   * which is where the next ones begin. */
  for (size_t i = 0; i < geometry->shape_count; i++)
    put_into_bins(made, &geometry->shapes[i], (uint32_t)i, made->start + 1);
  for (size_t bin = 0; bin < count; bin++) made->start[bin + 1] += made->start[bin];
  GAB_TRY(gab_alloc(made->start[count] * sizeof *made->shape, GAB_MEMORY_OTHER, &shapes));
  made->shape = shapes;
  for (size_t i = 0; i < geometry->shape_count; i++)
    put_into_bins(made, &geometry->shapes[i], (uint32_t)i, made->start);
  for (size_t bin = count; bin > 0; bin--) made->start[bin] = made->start[bin - 1];
  made->start[0] = 0;
  return GAB_OK;
}

static size_t bin_of(const gab_geometry *geometry, int level, const int64_t inside[3])
{
  const bins *all = &geometry->bins;
  int64_t at[3];
  for (int axis = 0; axis < 3; axis++)
    at[axis] = inside[axis] >> (all->shift + (axis < geometry->domain.dimension ? level : 0));
  return (size_t)((at[2] * all->count[1] + at[1]) * all->count[0] + at[0]);
}

/* ------------------------------------------------------------------------------------------ life */

gab_status gab_geometry_create(const gab_domain *domain, const gab_body *bodies, size_t body_count,
                               gab_geometry **geometry)
{
  *geometry = NULL;
  GAB_TRY(check_domain(domain));
  if (body_count > MOST_BODIES)
    GAB_FAIL(GAB_ERR_INPUT, "%zu bodies are more than %d", body_count, MOST_BODIES);
  gab_geometry *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->domain = *domain;
  gab_status status = allocate(made, body_count);
  if (status == GAB_OK) status = make_shapes(made, bodies);
  if (status == GAB_OK) status = make_bins(made);
  if (status != GAB_OK) {
    gab_geometry_destroy(&made);
    return status;
  }
  *geometry = made;
  return GAB_OK;
}

void gab_geometry_destroy(gab_geometry **geometry)
{
  gab_geometry *gone = *geometry;
  if (!gone) return;
  for (size_t i = 0; i < gone->body_count; i++) {
    gab_mask_release(&gone->masks[i]);
    gab_composed_destroy(&gone->composed[i]);
  }
  gab_free(&gone->composed);
  gab_free(&gone->middle);
  gab_free(&gone->bodies);
  gab_free(&gone->masks);
  gab_free(&gone->shapes);
  gab_free(&gone->first_shape);
  gab_free(&gone->bins.start);
  gab_free(&gone->bins.shape);
  gab_free(geometry);
}

size_t gab_geometry_body_count(const gab_geometry *geometry) { return geometry->body_count; }
const gab_body *gab_geometry_body(const gab_geometry *geometry, size_t index)
{
  return &geometry->bodies[index];
}
const gab_domain *gab_geometry_domain(const gab_geometry *geometry) { return &geometry->domain; }
const gab_shape_data *gab_geometry_shapes(const gab_geometry *geometry, size_t *count)
{
  *count = geometry->shape_count;
  return geometry->shapes;
}

/* ------------------------------------------------------------------------------------------ asking it */

/* Brings a cell into the domain along periodic axes. @return false if it is outside along another one */
static bool wrap(const gab_domain *domain, int level, const int64_t cell[3], int64_t inside[3])
{
  for (int axis = 0; axis < 3; axis++) {
    bool refines = axis < domain->dimension;
    int64_t size = domain->cells[axis] << (refines ? level : 0);
    inside[axis] = cell[axis];
    if (cell[axis] >= 0 && cell[axis] < size) continue;
    if (!domain->periodic[axis]) return false;
    inside[axis] = ((cell[axis] % size) + size) % size;
  }
  return true;
}

/* Exact for every cell index below 2^52. */
static double centre_of(int64_t index, int level, bool refines)
{
  return ldexp((double)index + 0.5, refines ? -level : 0);
}

static void centre_of_cell(const gab_domain *domain, int level, const int64_t cell[3], double centre[3])
{
  for (int axis = 0; axis < 3; axis++) centre[axis] = centre_of(cell[axis], level, axis < domain->dimension);
}

int gab_geometry_cell(const gab_geometry *geometry, int level, const int64_t cell[3])
{
  int64_t inside[3];
  if (!wrap(&geometry->domain, level, cell, inside)) return GAB_CELL_OUTSIDE;
  double centre[3];
  centre_of_cell(&geometry->domain, level, inside, centre);
  const bins *all = &geometry->bins;
  const size_t bin = bin_of(geometry, level, inside);
  for (size_t i = all->start[bin]; i < all->start[bin + 1]; i++) {
    const gab_shape_data *shape = &geometry->shapes[all->shape[i]];
    if (gab_shape_is_solid(shape, centre)) return shape->body;
  }
  return GAB_CELL_FLUID;
}

/* Halves the box along its longest axis until its cells are all solid, all fluid, or one. */
static bool covers_any(const gab_geometry *geometry, const gab_shape_data *shape, int level,
                       const gab_box *box)
{
  double lo[3], hi[3];
  int longest = 0;
  int64_t cells = 1;
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < geometry->domain.dimension;
    if (box->hi[axis] <= box->lo[axis]) return false;
    lo[axis] = centre_of(box->lo[axis], level, refines);
    hi[axis] = centre_of(box->hi[axis] - 1, level, refines);
    cells *= box->hi[axis] - box->lo[axis];
    if (box->hi[axis] - box->lo[axis] > box->hi[longest] - box->lo[longest]) longest = axis;
  }
  if (cells == 1) return gab_shape_is_solid(shape, lo);
  const gab_relation relation = gab_shape_relation(shape, lo, hi);
  if (relation != GAB_RELATION_MIXED) return relation == GAB_RELATION_COVERED;
  gab_box left = *box, right = *box;
  left.hi[longest] = right.lo[longest] = (box->lo[longest] + box->hi[longest]) / 2;
  return covers_any(geometry, shape, level, &left) || covers_any(geometry, shape, level, &right);
}

/* Cells of the domain with centres in the bounding box of a shape, which is rounded. */
static gab_box cells_around(const gab_domain *domain, const gab_shape_data *shape, int level)
{
  gab_box box;
  for (int axis = 0; axis < 3; axis++) {
    const int shift = axis < domain->dimension ? level : 0;
    const double size = (double)(domain->cells[axis] << shift), slack = 1e-9 * (1 + size);
    const double first = shape->inverted ? 0 : ceil(ldexp(shape->lo[axis], shift) - 0.5 - slack),
                 last = shape->inverted ? size : floor(ldexp(shape->hi[axis], shift) - 0.5 + slack) + 1;
    box.lo[axis] = first > 0 ? (int64_t)fmin(first, size) : 0;
    box.hi[axis] = last < size ? (int64_t)fmax(last, 0) : (int64_t)size;
  }
  return box;
}

bool gab_geometry_covers_cells(const gab_geometry *geometry, int level, size_t body)
{
  for (size_t i = geometry->first_shape[body]; i < geometry->first_shape[body + 1]; i++) {
    const gab_box box = cells_around(&geometry->domain, &geometry->shapes[i], level);
    if (covers_any(geometry, &geometry->shapes[i], level, &box)) return true;
  }
  return false;
}

/* By the surface as described, in the length of the link from its fluid end. */
static double crossing_of(const gab_geometry *geometry, int level, const int64_t solid[3], int body,
                          const int8_t c[3])
{
  const double half_way = 0.5;
  int64_t inside[3];
  if (!wrap(&geometry->domain, level, solid, inside)) return half_way;
  double centre[3], direction[3];
  centre_of_cell(&geometry->domain, level, inside, centre);
  for (int axis = 0; axis < 3; axis++)
    direction[axis] = ldexp(c[axis], axis < geometry->domain.dimension ? -level : 0);
  for (size_t i = geometry->first_shape[body]; i < geometry->first_shape[body + 1]; i++) {
    const gab_shape_data *shape = &geometry->shapes[i];
    double in, out;
    if (!gab_shape_is_solid(shape, centre)) continue;
    if (!gab_shape_interval(shape, centre, direction, &in, &out)) continue;
    /* From the solid cell the fluid begins where the ray leaves the shape, or enters an inverted one. */
    double distance = 1 - (shape->inverted ? in : out);
    if (distance > -DBL_EPSILON && distance <= 1 + DBL_EPSILON) return fmin(fmax(distance, DBL_EPSILON), 1);
  }
  return half_way;
}

double gab_geometry_wall_distance(const gab_geometry *geometry, int level, const int64_t solid[3], int body,
                                  const int8_t c[3])
{
  const double half_way = 0.5;
  if (body < 0 || geometry->bodies[body].wall == GAB_WALL_STAIRCASE) return half_way;
  return crossing_of(geometry, level, solid, body, c);
}

double gab_geometry_crossing(const gab_geometry *geometry, int level, const int64_t solid[3], int body,
                             const int8_t c[3], double point[3])
{
  const gab_domain *domain = &geometry->domain;
  const double distance = crossing_of(geometry, level, solid, body, c);
  int64_t inside[3];
  if (!wrap(domain, level, solid, inside)) memcpy(inside, solid, sizeof inside);
  for (int axis = 0; axis < 3; axis++)
    point[axis] =
        ldexp((double)inside[axis] + 0.5 + (1 - distance) * c[axis], axis < domain->dimension ? -level : 0);
  return distance;
}

void gab_geometry_wall_velocity(const gab_geometry *geometry, int level, const int64_t cell[3], int body,
                                const double offset[3], double velocity[3])
{
  const gab_domain *domain = &geometry->domain;
  const gab_body *moved = &geometry->bodies[body];
  int64_t inside[3];
  double point[3];
  if (!wrap(domain, level, cell, inside)) memcpy(inside, cell, sizeof inside);
  centre_of_cell(domain, level, inside, point);
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < domain->dimension;
    const double size = (double)domain->cells[axis] * domain->dx;
    point[axis] += ldexp(offset[axis], refines ? -level : 0);
    point[axis] = refines ? domain->origin[axis] + point[axis] * domain->dx : 0;
    /* the image beyond a periodic side that is nearest to the centre */
    if (refines && domain->periodic[axis])
      point[axis] -= size * rint((point[axis] - moved->spin_centre[axis]) / size);
  }
  gab_body_velocity_at(moved, point, velocity);
}

void gab_geometry_torque_point(const gab_geometry *geometry, size_t body, double point[3])
{
  const gab_domain *domain = &geometry->domain;
  const gab_body *of = &geometry->bodies[body];
  const bool spins = of->spin[0] != 0 || of->spin[1] != 0 || of->spin[2] != 0;
  for (int axis = 0; axis < 3; axis++)
    point[axis] = axis >= domain->dimension ? 0
                  : of->has_torque_point    ? of->torque_point[axis]
                  : spins                   ? of->spin_centre[axis]
                          : domain->origin[axis] + geometry->middle[body][axis] * domain->dx;
}

void gab_geometry_arm(const gab_geometry *geometry, int level, size_t body, const double place[3],
                      double arm[3])
{
  const gab_domain *domain = &geometry->domain;
  double point[3];
  gab_geometry_torque_point(geometry, body, point);
  for (int axis = 0; axis < 3; axis++) {
    const double size = (double)domain->cells[axis];
    if (axis < domain->dimension) {
      arm[axis] = ldexp(place[axis], -level);
      if (domain->periodic[axis]) arm[axis] -= size * rint((arm[axis] - geometry->middle[body][axis]) / size);
      arm[axis] -= (point[axis] - domain->origin[axis]) / domain->dx;
    } else arm[axis] = 0;
  }
}

/* The copy or image whose surface is nearest to a point. @param[out] distance  in cells of level 0 */
static const gab_shape_data *nearest_shape(const gab_geometry *geometry, int body, const double point[3],
                                           double *distance)
{
  const gab_shape_data *nearest = NULL;
  *distance = INFINITY;
  for (size_t i = geometry->first_shape[body]; i < geometry->first_shape[body + 1]; i++) {
    const double away = fabs(gab_shape_distance(&geometry->shapes[i], point));
    if (away < *distance) nearest = &geometry->shapes[i];
    *distance = fmin(*distance, away);
  }
  return nearest;
}

bool gab_geometry_normal(const gab_geometry *geometry, int level, const int64_t cell[3], int body,
                         double normal[3], double *distance)
{
  int64_t inside[3];
  double centre[3];
  if (!gab_body_has_surface(&geometry->bodies[body]) || !wrap(&geometry->domain, level, cell, inside))
    return false;
  centre_of_cell(&geometry->domain, level, inside, centre);
  const gab_shape_data *nearest = nearest_shape(geometry, body, centre, distance);
  *distance = ldexp(*distance, level);
  return nearest && gab_shape_normal(nearest, geometry->domain.dimension, centre, normal);
}

bool gab_geometry_normal_at(const gab_geometry *geometry, const double point[3], int body, double normal[3])
{
  double distance;
  if (!gab_body_has_surface(&geometry->bodies[body])) return false;
  const gab_shape_data *nearest = nearest_shape(geometry, body, point, &distance);
  return nearest && gab_shape_normal(nearest, geometry->domain.dimension, point, normal);
}

bool gab_geometry_is_in_group(const gab_geometry *geometry, const double point[3], int body,
                              const char *group)
{
  double distance;
  if (!gab_body_has_surface(&geometry->bodies[body])) return false;
  const gab_shape_data *nearest = nearest_shape(geometry, body, point, &distance);
  return nearest && gab_shape_is_in_group(nearest, group, point);
}

/* The shapes whose surface may pass through a box; all of them if they are too many to be listed. */
enum { MOST_NEAR = 64 };
typedef struct near_shapes {
  size_t count;
  bool are_all;
  uint32_t list[MOST_NEAR];
} near_shapes;

/* Of the shapes that are near to a larger box. @return false if the box is covered by one of them */
static bool find_near(const gab_geometry *geometry, const double lo[3], const double hi[3],
                      const near_shapes *around, near_shapes *near)
{
  size_t count = around->are_all ? geometry->shape_count : around->count;
  *near = (near_shapes){.count = 0};
  for (size_t i = 0; i < count; i++) {
    size_t shape = around->are_all ? i : around->list[i];
    gab_relation relation = gab_shape_relation(&geometry->shapes[shape], lo, hi);
    if (relation == GAB_RELATION_COVERED) return false;
    if (relation == GAB_RELATION_APART) continue;
    if (near->count < MOST_NEAR) near->list[near->count] = (uint32_t)shape;
    near->count++;
  }
  near->are_all = near->count > MOST_NEAR;
  return true;
}

static uint64_t fluid_in(const gab_geometry *geometry, int level, const gab_box *box,
                         const near_shapes *around)
{
  double lo[3], hi[3];
  uint64_t volume = 1;
  int longest = 0;
  for (int axis = 0; axis < 3; axis++) {
    bool refines = axis < geometry->domain.dimension;
    if (box->hi[axis] <= box->lo[axis]) return 0;
    lo[axis] = centre_of(box->lo[axis], level, refines);
    hi[axis] = centre_of(box->hi[axis] - 1, level, refines);
    volume *= (uint64_t)(box->hi[axis] - box->lo[axis]);
    if (box->hi[axis] - box->lo[axis] > box->hi[longest] - box->lo[longest]) longest = axis;
  }
  near_shapes near;
  if (!find_near(geometry, lo, hi, around, &near)) return 0;
  if (near.count == 0) return volume;
  if (volume == 1) return gab_geometry_cell(geometry, level, box->lo) == GAB_CELL_FLUID;
  gab_box left = *box, right = *box;
  left.hi[longest] = right.lo[longest] = (box->lo[longest] + box->hi[longest]) / 2;
  return fluid_in(geometry, level, &left, &near) + fluid_in(geometry, level, &right, &near);
}

uint64_t gab_geometry_fluid_cells(const gab_geometry *geometry, int level, const gab_box *cells)
{
  gab_box box = *cells;
  for (int axis = 0; axis < 3; axis++) {
    int64_t size = geometry->domain.cells[axis] << (axis < geometry->domain.dimension ? level : 0);
    if (box.lo[axis] < 0) box.lo[axis] = 0;
    if (box.hi[axis] > size) box.hi[axis] = size;
  }
  const near_shapes all = {.are_all = true};
  return fluid_in(geometry, level, &box, &all);
}

/* Of a box inside of the domain, up to its surface: finer cells have their centres nearer to it. */
static bool is_clear_inside(const gab_geometry *geometry, int level, const gab_box *box)
{
  const bins *all = &geometry->bins;
  double lo[3], hi[3];
  int64_t first[3], last[3], at[3];
  for (int axis = 0; axis < 3; axis++) {
    const bool refines = axis < geometry->domain.dimension;
    const int shift = all->shift + (refines ? level : 0);
    if (box->hi[axis] <= box->lo[axis]) return true;
    lo[axis] = ldexp((double)box->lo[axis], refines ? -level : 0);
    hi[axis] = ldexp((double)box->hi[axis], refines ? -level : 0);
    first[axis] = box->lo[axis] >> shift;
    last[axis] = (box->hi[axis] - 1) >> shift;
  }
  for (at[2] = first[2]; at[2] <= last[2]; at[2]++)
    for (at[1] = first[1]; at[1] <= last[1]; at[1]++)
      for (at[0] = first[0]; at[0] <= last[0]; at[0]++) {
        const size_t bin = (size_t)((at[2] * all->count[1] + at[1]) * all->count[0] + at[0]);
        for (size_t i = all->start[bin]; i < all->start[bin + 1]; i++)
          if (gab_shape_relation(&geometry->shapes[all->shape[i]], lo, hi) != GAB_RELATION_APART)
            return false;
      }
  return true;
}

/* What lies beyond periodic sides is looked at where it comes back in, axis by axis. */
static bool is_clear(const gab_geometry *geometry, int level, gab_box box, int axis)
{
  const gab_domain *domain = &geometry->domain;
  for (; axis < 3; axis++) {
    const int64_t size = domain->cells[axis] << (axis < domain->dimension ? level : 0);
    if (domain->periodic[axis] && box.hi[axis] - box.lo[axis] >= size) {
      box.lo[axis] = 0;
      box.hi[axis] = size;
    } else if (domain->periodic[axis]) {
      gab_box below = box, above = box;
      below.lo[axis] += size;
      below.hi[axis] = size;
      above.lo[axis] = 0;
      above.hi[axis] -= size;
      if (box.lo[axis] < 0 && !is_clear(geometry, level, below, axis + 1)) return false;
      if (box.hi[axis] > size && !is_clear(geometry, level, above, axis + 1)) return false;
    }
    if (box.lo[axis] < 0) box.lo[axis] = 0;
    if (box.hi[axis] > size) box.hi[axis] = size;
  }
  return is_clear_inside(geometry, level, &box);
}

bool gab_geometry_is_clear(const gab_geometry *geometry, int level, const gab_box *cells)
{
  return geometry->shape_count == 0 || is_clear(geometry, level, *cells, 0);
}

static bool is_kept_cell(const gab_geometry *geometry, int level, const int64_t cell[3])
{
  const int body = gab_geometry_cell(geometry, level, cell);
  return body >= 0 && geometry->bodies[body].keeps_blocks;
}

/* Whether a body that keeps blocks could own cells of a box. */
static bool may_be_kept(const gab_geometry *geometry, int level, const gab_box *box)
{
  double lo[3], hi[3];
  for (int axis = 0; axis < 3; axis++) {
    const int shift = axis < geometry->domain.dimension ? -level : 0;
    lo[axis] = ldexp((double)box->lo[axis], shift);
    hi[axis] = ldexp((double)box->hi[axis], shift);
  }
  for (size_t i = 0; i < geometry->shape_count; i++) {
    const gab_shape_data *shape = &geometry->shapes[i];
    if (geometry->bodies[shape->body].keeps_blocks && gab_shape_relation(shape, lo, hi) != GAB_RELATION_APART)
      return true;
  }
  return false;
}

/* Another body may own all cells. */
static bool has_kept_cells(const gab_geometry *geometry, int level, gab_box box)
{
  if (!may_be_kept(geometry, level, &box)) return false;
  for (;;) {
    for (int64_t z = box.lo[2]; z < box.hi[2]; z++)
      for (int64_t y = box.lo[1]; y < box.hi[1]; y++)
        for (int64_t x = box.lo[0]; x < box.hi[0]; x++)
          if (is_kept_cell(geometry, level, (const int64_t[3]){x, y, z})) return true;
    if (level++ >= geometry->domain.deepest) return false;
    for (int axis = 0; axis < geometry->domain.dimension; axis++) {
      box.lo[axis] *= 2;
      box.hi[axis] *= 2;
    }
  }
}

bool gab_geometry_block_exists(void *user, int level, const gab_box *cells)
{
  return gab_geometry_has_fluid(user, level, cells) || has_kept_cells(user, level, *cells);
}

bool gab_geometry_has_fluid(const gab_geometry *geometry, int level, const gab_box *cells)
{
  gab_box box = *cells;
  if (gab_geometry_fluid_cells(geometry, level, &box) > 0) return true;
  while (level++ < geometry->domain.deepest) {
    for (int axis = 0; axis < geometry->domain.dimension; axis++) {
      box.lo[axis] *= 2;
      box.hi[axis] *= 2;
    }
    if (gab_geometry_fluid_cells(geometry, level, &box) > 0) return true;
  }
  return false;
}

uint64_t gab_geometry_block_weight(void *user, int level, const gab_box *cells)
{
  uint64_t count = gab_geometry_fluid_cells(user, level, cells);
  return count > 0 ? count : 1;
}
