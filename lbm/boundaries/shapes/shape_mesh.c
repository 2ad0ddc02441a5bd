/* SPDX-License-Identifier: Apache-2.0 */
/* A body of triangles, from a file. */
#include "lbm/boundaries/mesh/mesh.h"
#include "lbm/boundaries/body_shape_impl.h"

#include "core/memory/memory.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof *(array))

typedef struct mesh_body {
  gab_mesh mesh;
  gab_mesh_report report;
} mesh_body;

static const struct {
  const char *name;
  double metres;
} units[] = {{"m", 1}, {"cm", 0.01}, {"mm", 0.001}, {"um", 1e-6}, {"inch", 0.0254}, {"foot", 0.3048}};

static const gab_config_key mesh_keys[] = {
    {.name = "file",
     .type = GAB_CONFIG_STRING,
     .file = GAB_CONFIG_FILE_BY_CASE,
     .doc = "STL file (binary or ASCII) or OBJ file of a closed surface."},
    {.name = "units",
     .type = GAB_CONFIG_CHOICE,
     .choices = "m|cm|mm|um|inch|foot",
     .default_text = "m",
     .doc = "Unit of the coordinates in the file."},
    {.name = "scale",
     .type = GAB_CONFIG_REAL,
     .min = 0,
     .max = INFINITY,
     .min_excluded = true,
     .default_text = "1",
     .doc = "Factor of all coordinates, in addition to units."},
    {.name = "rotate",
     .type = GAB_CONFIG_REAL,
     .length_min = 3,
     .length_max = 3,
     .unit = "degrees",
     .default_text = "[0, 0, 0]",
     .doc = "Angles about the axes x, y and z of the file, in this order, before translate and fit."},
    {.name = "translate",
     .type = GAB_CONFIG_REAL,
     .length_min = 3,
     .length_max = 3,
     .unit = "m",
     .default_text = "[0, 0, 0]",
     .doc = "Displacement, after scale and rotate."},
    {.name = "fit",
     .type = GAB_CONFIG_REAL,
     .length_min = 6,
     .length_max = 6,
     .unit = "m",
     .default_text = GAB_CONFIG_OPTIONAL,
     .doc =
         "Instead of units, scale and translate: corners lo and hi of a box; the body fills it as far as its "
         "proportions allow, in the middle."},
    {.name = "repair",
     .type = GAB_CONFIG_CHOICE,
     .choices = "none|winding",
     .default_text = "none",
     .doc =
         "none: a surface that is open, crossed or not oriented is refused. winding: neighbouring triangles are "
         "oriented alike and holes are closed; inside is where the winding number is not 0."},
};

/* ---------------------------------------------------------------- parameters */

static gab_status read_fit(const gab_config *config, const char *path, gab_mesh_placement *placement)
{
  static const char *const others[] = {"units", "scale", "translate"};
  char fit[GAB_CONFIG_PATH_CAPACITY], key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  if (!gab_config_is_set(config, gab_config_path(fit, "%s.fit", path))) return GAB_OK;
  const double *box = gab_config_reals(config, fit, &count);
  for (size_t i = 0; i < COUNT(others); i++)
    if (gab_config_is_set(config, gab_config_path(key, "%s.%s", path, others[i])))
      return gab_config_fail(config, key, "has no effect with fit; leave one of them out");
  placement->fits = true;
  for (int axis = 0; axis < 3; axis++) {
    placement->fit_lo[axis] = box[axis];
    placement->fit_hi[axis] = box[axis + 3];
    if (!(box[axis] < box[axis + 3]))
      return gab_config_fail(config, fit, "%g is not below %g along %c: give the lower corner first",
                             box[axis], box[axis + 3], (int)"xyz"[axis]);
  }
  return GAB_OK;
}

static gab_status read_placement(const gab_config *config, const char *path, gab_mesh_placement *placement)
{
  char key[GAB_CONFIG_PATH_CAPACITY];
  size_t count;
  *placement = (gab_mesh_placement){.scale = gab_config_real(config, gab_config_path(key, "%s.scale", path))};
  placement->scale *= units[gab_config_choice_index(config, gab_config_path(key, "%s.units", path))].metres;
  const double *angles = gab_config_reals(config, gab_config_path(key, "%s.rotate", path), &count);
  memcpy(placement->degrees, angles, sizeof placement->degrees);
  const double *shift = gab_config_reals(config, gab_config_path(key, "%s.translate", path), &count);
  memcpy(placement->translation, shift, sizeof placement->translation);
  return read_fit(config, path, placement);
}

static void release_mesh(void *data)
{
  mesh_body *made = data;
  if (!made) return;
  gab_mesh_release(&made->mesh);
  gab_free(&made);
}

static gab_status read_mesh(const gab_config *config, const char *path, int dimension, gab_body *body)
{
  char key[GAB_CONFIG_PATH_CAPACITY], file[PATH_MAX];
  gab_mesh_source source = {.file = file};
  mesh_body *made;
  if (dimension != 3)
    return gab_config_fail(config, path, "a mesh needs 3 dimensions; in 2D use a polygon or a mask");
  GAB_TRY(read_placement(config, path, &source.placement));
  source.is_repaired = gab_config_choice_index(config, gab_config_path(key, "%s.repair", path)) == 1;
  GAB_TRY(gab_config_file_of(config, gab_config_path(key, "%s.file", path), file));
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = gab_mesh_load(&source, &made->mesh, &made->report);
  if (status != GAB_OK) {
    char why[1024];
    snprintf(why, sizeof why, "%s", gab_error_message());
    release_mesh(made);
    return status == GAB_ERR_INPUT ? gab_config_fail(config, key, "%s", why) : status;
  }
  for (int axis = 0; axis < 3; axis++) { /* conversion to cells must not cut off the outermost points */
    const double slack = 1e-12 * fmax(fabs(made->mesh.lo[axis]), fabs(made->mesh.hi[axis]));
    body->lo[axis] = made->mesh.lo[axis] - slack;
    body->hi[axis] = made->mesh.hi[axis] + slack;
  }
  body->data = made;
  return GAB_OK;
}

/* ---------------------------------------------------------------- geometry */

static const gab_mesh *mesh_of(const gab_body *body) { return &((const mesh_body *)body->data)->mesh; }

static double distance_to_mesh(const gab_body *body, const double point[3])
{
  double nearest[3];
  size_t triangle;
  const double distance = gab_mesh_distance(mesh_of(body), point, nearest, &triangle);
  return gab_mesh_has(mesh_of(body), point) ? -distance : distance;
}

static bool mesh_contains(const gab_body *body, const double point[3])
{
  return gab_mesh_has(mesh_of(body), point);
}

static double crossing_of_mesh(const gab_body *body, const double from[3], const double to[3])
{
  double t;
  if (gab_mesh_has(mesh_of(body), to)) /* seen from the fluid: the first crossing */
    return gab_mesh_crossing(mesh_of(body), from, to, &t) ? t : 1;
  return gab_mesh_crossing(mesh_of(body), to, from, &t) ? 1 - t : 0;
}

static gab_relation relation_to_mesh(const gab_body *body, const double lo[3], const double hi[3])
{
  switch (gab_mesh_state_of(mesh_of(body), lo, hi)) {
  case GAB_MESH_OUTSIDE:
    return GAB_RELATION_APART;
  case GAB_MESH_INSIDE:
    return GAB_RELATION_COVERED;
  case GAB_MESH_SURFACE:
    break;
  }
  return GAB_RELATION_MIXED;
}

static bool mesh_is_in_group(const gab_body *body, const char *group, const double point[3])
{
  double nearest[3];
  size_t triangle;
  (void)gab_mesh_distance(mesh_of(body), point, nearest, &triangle);
  return gab_mesh_is_in_group(mesh_of(body), triangle, group);
}

static double group_of_mesh(const gab_body *body, const char *group, double lo[3], double hi[3])
{
  return gab_mesh_group_area(mesh_of(body), group, lo, hi);
}

static void describe_mesh(const gab_body *body, double dx, char *text, size_t capacity)
{
  const mesh_body *made = body->data;
  const gab_mesh_report *report = &made->report;
  const gab_mesh *mesh = &made->mesh;
  size_t faults = 0;
  for (int kind = 0; kind < GAB_MESH_FAULT_COUNT; kind++) faults += report->faults[kind];
  double size[3];
  for (int axis = 0; axis < 3; axis++) size[axis] = mesh->hi[axis] - mesh->lo[axis];
  int used = snprintf(
      text, capacity,
      "%zu triangles, %zu %s, size %.6g x %.6g x %.6g m = %.4g x %.4g x %.4g cells, volume %.6g m^3, "
      "area %.6g m^2, ",
      report->triangles, report->components, report->components == 1 ? "part" : "parts", size[0], size[1],
      size[2], size[0] / dx, size[1] / dx, size[2] / dx, report->volume, report->area);
  if (used < 0 || (size_t)used >= capacity) return;
  if (faults == 0) snprintf(text + used, capacity - (size_t)used, "closed, ");
  else
    snprintf(text + used, capacity - (size_t)used, "%zu %s, %zu faults repaired, ", report->holes,
             report->holes == 1 ? "hole" : "holes", faults);
  const size_t length = strlen(text);
  snprintf(text + length, capacity - length, "%.1f MB %s", 1e-6 * (double)gab_mesh_bytes(mesh),
           mesh->shared.bytes ? "on each node" : "in each process");
}

const gab_body_shape gab_shape_mesh = {
    .name = "mesh",
    .doc = "A closed surface of triangles from an STL or OBJ file, in 3D.",
    .keys = mesh_keys,
    .key_count = COUNT(mesh_keys),
    .read = read_mesh,
    .distance = distance_to_mesh,
    .is_exact = true,
    .contains = mesh_contains,
    .crossing = crossing_of_mesh,
    .relation = relation_to_mesh,
    .is_in_group = mesh_is_in_group,
    .group_area = group_of_mesh,
    .describe = describe_mesh,
    .release = release_mesh,
};
