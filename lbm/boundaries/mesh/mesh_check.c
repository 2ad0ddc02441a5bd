/* SPDX-License-Identifier: Apache-2.0 */
/* Faults of a mesh that its edges and triangles show, and the message that refuses it. */
#include "lbm/boundaries/mesh/edges_impl.h"

#include "core/memory/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------- faults */

/* Numbers of triangles count from the file; the least one is reported. */
static void add_fault(gab_mesh_report *report, gab_mesh_fault kind, size_t triangle, const double place[3])
{
  if (report->faults[kind]++ > 0 && report->first[kind] <= triangle) return;
  report->first[kind] = triangle;
  memcpy(report->place[kind], place, 3 * sizeof *place);
}

static void middle_of_triangle(const gab_mesh *mesh, size_t triangle, double place[3])
{
  for (size_t axis = 0; axis < 3; axis++) {
    place[axis] = 0;
    for (size_t k = 0; k < 3; k++)
      place[axis] += mesh->vertex[(size_t)3 * mesh->corner[3 * triangle + k] + axis] / 3;
  }
}

static void check_edge(const gab_mesh *mesh, const gab_mesh_edges *edges, const gab_mesh_edge *edge,
                       uint32_t *rims, gab_mesh_report *report)
{
  const gab_mesh_use *use = &edges->use[edge->begin];
  const int uses = edge->forward + edge->backward;
  double place[3];
  for (size_t axis = 0; axis < 3; axis++)
    place[axis] = 0.5 * (mesh->vertex[3 * edge->vertex + axis] + mesh->vertex[(size_t)3 * use->high + axis]);
  if (uses == 1) {
    add_fault(report, GAB_MESH_OPEN, use->side / 3, place);
    gab_mesh_sets_join(rims, (uint32_t)edge->vertex, use->high);
  } else if (uses > 2) {
    add_fault(report, GAB_MESH_CROWDED, use[2].side / 3, place);
  } else if (edge->forward != 1) {
    add_fault(report, GAB_MESH_FLIPPED, use[1].side / 3, place);
  }
}

/* Connected rims, by the vertices that their open edges joined. */
static void count_sets(const uint32_t *sets, size_t count, const unsigned char *counts, size_t *number)
{
  for (size_t i = 0; i < count; i++)
    if (sets[i] == i && (!counts || counts[i])) ++*number;
}

static gab_status check_edges(const gab_mesh *mesh, gab_mesh_report *report)
{
  gab_mesh_edges edges;
  uint32_t *rims = NULL, *parts = NULL;
  unsigned char *is_used = NULL;
  gab_mesh_edge edge = {0};
  GAB_TRY(gab_mesh_edges_of(mesh, &edges));
  gab_status status = gab_mesh_sets_create(mesh->vertex_count, &rims);
  if (status == GAB_OK) status = gab_mesh_sets_create(mesh->vertex_count, &parts);
  if (status == GAB_OK) status = GAB_NEW_ARRAY(&is_used, mesh->vertex_count, GAB_MEMORY_OTHER);
  while (status == GAB_OK && gab_mesh_next_edge(mesh, &edges, &edge)) {
    const uint32_t low = (uint32_t)edge.vertex, high = edges.use[edge.begin].high;
    check_edge(mesh, &edges, &edge, rims, report);
    if (edge.forward + edge.backward == 1) is_used[low] |= 2, is_used[high] |= 2;
    is_used[low] |= 1, is_used[high] |= 1;
    gab_mesh_sets_join(parts, low, high);
  }
  if (status == GAB_OK) {
    count_sets(parts, mesh->vertex_count, is_used, &report->components);
    for (size_t i = 0; i < mesh->vertex_count; i++) is_used[i] &= 2;
    count_sets(rims, mesh->vertex_count, is_used, &report->holes);
  }
  gab_free(&rims);
  gab_free(&parts);
  gab_free(&is_used);
  gab_mesh_edges_release(&edges);
  return status;
}

/* ---------------------------------------------------------------- triangles */

typedef struct sorted_triangle {
  uint32_t corner[3], number;
} sorted_triangle;

static int compare_triangles(const void *left, const void *right)
{
  const sorted_triangle *a = left, *b = right;
  for (int k = 0; k < 3; k++)
    if (a->corner[k] != b->corner[k]) return a->corner[k] < b->corner[k] ? -1 : 1;
  return (a->number > b->number) - (a->number < b->number);
}

static void swap_if_above(uint32_t *a, uint32_t *b)
{
  if (*a <= *b) return;
  const uint32_t other = *a;
  *a = *b;
  *b = other;
}

/* Duplicates share their edges with more than two triangles, or traverse them alike, or are all there is. */
static gab_status check_duplicates(const gab_mesh *mesh, gab_mesh_report *report)
{
  sorted_triangle *list;
  if (report->faults[GAB_MESH_CROWDED] + report->faults[GAB_MESH_FLIPPED] == 0 && mesh->triangle_count > 2)
    return GAB_OK;
  GAB_TRY(GAB_NEW_ARRAY(&list, mesh->triangle_count, GAB_MEMORY_OTHER));
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    memcpy(list[i].corner, mesh->corner + 3 * i, sizeof list[i].corner);
    list[i].number = (uint32_t)i;
    swap_if_above(&list[i].corner[0], &list[i].corner[1]);
    swap_if_above(&list[i].corner[1], &list[i].corner[2]);
    swap_if_above(&list[i].corner[0], &list[i].corner[1]);
  }
  qsort(list, mesh->triangle_count, sizeof *list, compare_triangles);
  for (size_t i = 1; i < mesh->triangle_count; i++)
    if (memcmp(list[i].corner, list[i - 1].corner, sizeof list[i].corner) == 0) {
      double place[3];
      middle_of_triangle(mesh, list[i].number, place);
      add_fault(report, GAB_MESH_DUPLICATE, list[i].number, place);
    }
  gab_free(&list);
  return GAB_OK;
}

static void check_triangle(const gab_mesh *mesh, size_t triangle, gab_mesh_report *report)
{
  const uint32_t *corner = mesh->corner + 3 * triangle;
  double vector[3], place[3];
  const double area2 = gab_mesh_area_vector(mesh, triangle, vector);
  double longest = 0;
  for (size_t k = 0; k < 3; k++) {
    const double *a = mesh->vertex + (size_t)3 * corner[k],
                 *b = mesh->vertex + (size_t)3 * corner[(k + 1) % 3];
    double square = 0;
    for (size_t axis = 0; axis < 3; axis++) square += (b[axis] - a[axis]) * (b[axis] - a[axis]);
    longest = fmax(longest, square);
  }
  report->area += 0.5 * area2;
  if (area2 > 1e-12 * longest) return;
  middle_of_triangle(mesh, triangle, place);
  add_fault(report, GAB_MESH_DEGENERATE, triangle, place);
}

gab_status gab_mesh_check(const gab_mesh *mesh, gab_mesh_report *report)
{
  *report = (gab_mesh_report){.triangles = mesh->triangle_count};
  memcpy(report->lo, mesh->lo, sizeof report->lo);
  memcpy(report->hi, mesh->hi, sizeof report->hi);
  double middle[3];
  for (int axis = 0; axis < 3; axis++) middle[axis] = 0.5 * (mesh->lo[axis] + mesh->hi[axis]);
  for (size_t i = 0; i < mesh->triangle_count; i++) {
    check_triangle(mesh, i, report);
    report->volume += gab_mesh_volume6(mesh, i, middle) / 6;
  }
  GAB_TRY(check_edges(mesh, report));
  return check_duplicates(mesh, report);
}

/* ---------------------------------------------------------------- message */

static const struct {
  const char *one, *more;
} texts[GAB_MESH_FAULT_COUNT] = {
    [GAB_MESH_OPEN] = {"open edge", "open edges"},
    [GAB_MESH_FLIPPED] = {"edge between triangles of opposite orientation",
                          "edges between triangles of opposite orientation"},
    [GAB_MESH_CROWDED] = {"edge of more than two triangles", "edges of more than two triangles"},
    [GAB_MESH_DEGENERATE] = {"triangle without area", "triangles without area"},
    [GAB_MESH_DUPLICATE] = {"duplicate triangle", "duplicate triangles"},
    [GAB_MESH_INVERTED] = {"part that faces inwards", "parts that face inwards"},
    [GAB_MESH_CROSSED] = {"pair of crossing triangles", "pairs of crossing triangles"},
};

gab_status gab_mesh_refuse(const gab_mesh_report *report, const char *file)
{
  char text[1024] = "";
  size_t used = 0;
  for (int kind = 0; kind < GAB_MESH_FAULT_COUNT; kind++) {
    const size_t count = report->faults[kind];
    const double *place = report->place[kind];
    if (count == 0 || used >= sizeof text) continue;
    used += (size_t)snprintf(text + used, sizeof text - used, "%s%zu %s (triangle %zu", used > 0 ? "; " : "",
                             count, count == 1 ? texts[kind].one : texts[kind].more, report->first[kind] + 1);
    if (kind == GAB_MESH_CROSSED && used < sizeof text)
      used += (size_t)snprintf(text + used, sizeof text - used, " and %zu", report->other + 1);
    if (used < sizeof text)
      used += (size_t)snprintf(text + used, sizeof text - used, " at (%.6g, %.6g, %.6g) m)", place[0],
                               place[1], place[2]);
    if (kind == GAB_MESH_OPEN && used < sizeof text)
      used += (size_t)snprintf(text + used, sizeof text - used, " around %zu %s", report->holes,
                               report->holes == 1 ? "hole" : "holes");
  }
  if (used == 0) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "%s: not a closed, oriented surface: %s; mend the file, or set `repair: winding'",
           file, text);
}
