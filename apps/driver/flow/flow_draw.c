/* SPDX-License-Identifier: Apache-2.0 */
/* `gabion check --draw`: the bodies as the grid sees them. Slices through the middle of the domain, and the surface between fluid and
 * solid cells for ParaView. */
#include "apps/driver/flow/simulation.h"

#include "blockforest/pictures/png_cells.h"
#include "blockforest/pictures/png_slice.h"
#include "core/base/buffer.h"
#include "core/base/log.h"
#include "core/memory/memory.h"
#include "core/system/file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { BOX = 16 };
static const double most_cells = 4e8, most_faces = 2e7;

/* ------------------------------------------------------------------------------------------ slices */

typedef struct plane {
  const gab_geometry *geometry;
  int level, axis, across[2];
  int64_t at; /* of the cells along the axis */
} plane;

/* Number of the body from 1; 0 in the fluid. */
static double body_at(void *user, int64_t horizontal, int64_t vertical)
{
  const plane *it = user;
  int64_t cell[3] = {0};
  cell[it->axis] = it->at;
  cell[it->across[0]] = horizontal;
  cell[it->across[1]] = vertical;
  return gab_geometry_cell(it->geometry, it->level, cell) + 1;
}

static gab_status draw_plane(const simulation *which, const char *folder, int level, int axis)
{
  const gab_domain *domain = gab_geometry_domain(which->geometry);
  char path[GAB_APP_PATH_LENGTH], subtitle[128];
  plane it = {.geometry = which->geometry, .level = level, .axis = axis};
  it.across[0] = axis == 0 ? 1 : 0;
  it.across[1] = axis == 2 ? 1 : 2;
  const double width = ldexp(domain->dx, -level);
  it.at = axis < domain->dimension ? (domain->cells[axis] << level) / 2 : 0;
  gab_cells_picture picture = {
      .path = path, .title = "body", .subtitle = subtitle, .value = body_at, .user = &it};
  for (int k = 0; k < 2; k++) {
    const int along = it.across[k];
    picture.axes[k] = "xyz"[along];
    picture.cells[k] = domain->cells[along] << level;
    picture.lower[k] = domain->origin[along];
    picture.upper[k] = domain->origin[along] + (double)domain->cells[along] * domain->dx;
  }
  picture.range[1] = (double)gab_geometry_body_count(which->geometry);
  snprintf(subtitle, sizeof subtitle, "0: fluid    cells of level %d    %c = %.6g", level, "xyz"[axis],
           axis < domain -> dimension ? domain -> origin[axis] + ((double)it.at + 0.5) * width : 0);
  snprintf(path, sizeof path, "%s/bodies-%c.png", folder, "xyz"[axis]);
  return gab_cells_picture_write(&picture);
}

/* ------------------------------------------------------------------------------------------ surface */

typedef struct surface {
  const simulation *which;
  int level;
  gab_buffer points, bodies; /* four points of three floats, and a number for each face */
  size_t faces;
} surface;

static gab_status add_face(surface *it, const int64_t cell[3], int axis, int upper, int body)
{
  const gab_domain *domain = gab_geometry_domain(it->which->geometry);
  const double width = ldexp(domain->dx, -it->level);
  const int b = (axis + 1) % 3, c = (axis + 2) % 3;
  static const int corner[4][2] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
  for (int k = 0; k < 4; k++) {
    const int turn = upper ? k : 3 - k; /* the normal points to the fluid */
    float point[3];
    point[axis] = (float)(domain->origin[axis] + (double)(cell[axis] + upper) * width);
    point[b] = (float)(domain->origin[b] + (double)(cell[b] + corner[turn][0]) * width);
    point[c] = (float)(domain->origin[c] + (double)(cell[c] + corner[turn][1]) * width);
    GAB_TRY(gab_put_bytes(&it->points, point, sizeof point));
  }
  const int32_t number = body;
  it->faces++;
  return gab_put_bytes(&it->bodies, &number, sizeof number);
}

static gab_status add_cell(surface *it, const int64_t cell[3])
{
  const gab_geometry *geometry = it->which->geometry;
  const int body = gab_geometry_cell(geometry, it->level, cell);
  if (body < 0) return GAB_OK;
  for (int axis = 0; axis < gab_geometry_domain(geometry)->dimension; axis++)
    for (int upper = 0; upper < 2; upper++) {
      int64_t next[3] = {cell[0], cell[1], cell[2]};
      next[axis] += upper ? 1 : -1;
      if (gab_geometry_cell(geometry, it->level, next) == GAB_CELL_FLUID)
        GAB_TRY(add_face(it, cell, axis, upper, body));
    }
  return GAB_OK;
}

/* Boxes without any solid point have no face; most of a domain is such. */
static gab_status add_box(surface *it, const int64_t first[3])
{
  const gab_domain *domain = gab_geometry_domain(it->which->geometry);
  gab_box box;
  int64_t cell[3];
  for (int axis = 0; axis < 3; axis++) {
    const int64_t size = domain->cells[axis] << (axis < domain->dimension ? it->level : 0);
    box.lo[axis] = first[axis];
    box.hi[axis] = first[axis] + BOX < size ? first[axis] + BOX : size;
  }
  if (gab_geometry_is_clear(it->which->geometry, it->level, &box)) return GAB_OK;
  for (cell[2] = box.lo[2]; cell[2] < box.hi[2]; cell[2]++)
    for (cell[1] = box.lo[1]; cell[1] < box.hi[1]; cell[1]++)
      for (cell[0] = box.lo[0]; cell[0] < box.hi[0]; cell[0]++) GAB_TRY(add_cell(it, cell));
  if ((double)it->faces > most_faces)
    GAB_FAIL(GAB_ERR_INPUT, "the surface has more than %g faces", most_faces);
  return GAB_OK;
}

static gab_status collect(surface *it)
{
  const gab_domain *domain = gab_geometry_domain(it->which->geometry);
  int64_t first[3], size[3];
  for (int axis = 0; axis < 3; axis++)
    size[axis] = domain->cells[axis] << (axis < domain->dimension ? it->level : 0);
  for (first[2] = 0; first[2] < size[2]; first[2] += BOX)
    for (first[1] = 0; first[1] < size[1]; first[1] += BOX)
      for (first[0] = 0; first[0] < size[0]; first[0] += BOX) GAB_TRY(add_box(it, first));
  return GAB_OK;
}

/* A block of raw data: its bytes, then itself. */
static gab_status put_block(gab_buffer *out, const void *bytes, size_t count)
{
  const uint64_t size = count;
  GAB_TRY(gab_put_bytes(out, &size, sizeof size));
  return gab_put_bytes(out, bytes, count);
}

static gab_status put_polygons(gab_buffer *out, size_t faces)
{
  int64_t *numbers;
  GAB_TRY(GAB_NEW_ARRAY(&numbers, 4 * faces, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < 4 * faces; i++) numbers[i] = (int64_t)i;
  gab_status status = put_block(out, numbers, 4 * faces * sizeof *numbers);
  for (size_t i = 0; i < faces; i++) numbers[i] = 4 * ((int64_t)i + 1);
  if (status == GAB_OK) status = put_block(out, numbers, faces * sizeof *numbers);
  gab_free(&numbers);
  return status;
}

/* VTK's XML format for polygons, with raw data behind. */
static gab_status write_surface(const surface *it, const char *path)
{
  const size_t n = it->faces, head = sizeof(uint64_t);
  const size_t at_polygons = head + it->points.size, at_ends = at_polygons + head + 32 * n,
               at_bodies = at_ends + head + 8 * n;
  static const char end[] = "\n</AppendedData>\n</VTKFile>\n";
  char text[1024];
  gab_buffer out = {0};
  snprintf(
      text, sizeof text,
      "<?xml version=\"1.0\"?>\n<VTKFile type=\"PolyData\" version=\"1.0\" byte_order=\"LittleEndian\" "
      "header_type=\"UInt64\">\n<PolyData><Piece NumberOfPoints=\"%zu\" NumberOfVerts=\"0\" NumberOfLines=\"0\" "
      "NumberOfStrips=\"0\" NumberOfPolys=\"%zu\">\n<Points><DataArray type=\"Float32\" NumberOfComponents=\"3\" "
      "format=\"appended\" offset=\"0\"/></Points>\n<Polys><DataArray type=\"Int64\" Name=\"connectivity\" "
      "format=\"appended\" offset=\"%zu\"/><DataArray type=\"Int64\" Name=\"offsets\" format=\"appended\" "
      "offset=\"%zu\"/></Polys>\n<CellData Scalars=\"body\"><DataArray type=\"Int32\" Name=\"body\" "
      "format=\"appended\" offset=\"%zu\"/></CellData>\n</Piece></PolyData>\n<AppendedData encoding=\"raw\">\n_",
      4 * n, n, at_polygons, at_ends, at_bodies);
  gab_status status = gab_put_bytes(&out, text, strlen(text));
  if (status == GAB_OK) status = put_block(&out, it->points.data, it->points.size);
  if (status == GAB_OK) status = put_polygons(&out, n);
  if (status == GAB_OK) status = put_block(&out, it->bodies.data, it->bodies.size);
  if (status == GAB_OK) status = gab_put_bytes(&out, end, sizeof end - 1);
  if (status == GAB_OK) status = gab_file_replace(path, out.data, out.size, GAB_FILE_RENAMED);
  gab_buffer_release(&out);
  return status;
}

/* ------------------------------------------------------------------------------------------ main */

/* The finest level of the case whose cells can be visited one by one. */
static int level_to_draw(const gab_domain *domain)
{
  int level = domain->deepest;
  for (; level > 0; level--) {
    double cells = 1;
    for (int axis = 0; axis < domain->dimension; axis++) cells *= ldexp((double)domain->cells[axis], level);
    if (cells <= most_cells) break;
  }
  return level;
}

gab_status gab_app_simulation_draw(gab_app_run *it, const char *folder)
{
  const simulation *which = (const simulation *)it;
  const gab_domain *domain = gab_geometry_domain(which->geometry);
  const size_t bodies = gab_geometry_body_count(which->geometry);
  char path[GAB_APP_PATH_LENGTH];
  surface found = {.which = which, .level = level_to_draw(domain)};
  if (bodies == 0) GAB_FAIL(GAB_ERR_INPUT, "there is nothing to draw: the case has no bodies");
  for (int axis = domain->dimension == 2 ? 2 : 0; axis < 3 && gab_slice_is_built(); axis++)
    GAB_TRY(draw_plane(which, folder, found.level, axis));
  snprintf(path, sizeof path, "%s/bodies.vtp", folder);
  gab_status status = collect(&found);
  if (status == GAB_OK) status = write_surface(&found, path);
  gab_buffer_release(&found.points);
  gab_buffer_release(&found.bodies);
  GAB_TRY(status);
  gab_log(GAB_LOG_INFO, "  %s: %zu faces between fluid and bodies, cells of level %d%s", path, found.faces,
          found.level, gab_slice_is_built() ? "; slices in bodies-*.png" : "");
  for (size_t i = 0; i < bodies; i++)
    gab_log(GAB_LOG_INFO, "    body %zu: %s (%zu in pictures)", i,
            gab_geometry_body(which->geometry, i)->name, i + 1);
  return GAB_OK;
}
