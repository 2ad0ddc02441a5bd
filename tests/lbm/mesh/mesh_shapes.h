/* SPDX-License-Identifier: Apache-2.0 */
/** @file mesh_shapes.h
 *  @brief Triangulated shapes for tests, and files of them.
 *
 *  Stability: internal.
 */
#ifndef GABION_TESTS_MESH_SHAPES_H
#define GABION_TESTS_MESH_SHAPES_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Corners of triangles, counter-clockwise from outside. */
typedef struct facets {
  size_t count, capacity;
  double (*corner)[3][3];
} facets;

static void facets_add(facets *list, const double *a, const double *b, const double *c)
{
  if (list->count == list->capacity) {
    list->capacity = 2 * list->capacity + 16;
    list->corner = realloc(list->corner, list->capacity * sizeof *list->corner);
    if (!list->corner) abort();
  }
  for (int axis = 0; axis < 3; axis++) {
    list->corner[list->count][0][axis] = a[axis];
    list->corner[list->count][1][axis] = b[axis];
    list->corner[list->count][2][axis] = c[axis];
  }
  list->count++;
}

static void facets_release(facets *list)
{
  free(list->corner);
  *list = (facets){0};
}

static inline facets facets_box(const double lo[3], const double hi[3])
{
  static const int faces[6][4] = {{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4},
                                  {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}};
  facets list = {0};
  double corner[8][3];
  for (int i = 0; i < 8; i++)
    for (int axis = 0; axis < 3; axis++) corner[i][axis] = i >> axis & 1 ? hi[axis] : lo[axis];
  for (int i = 0; i < 6; i++) {
    facets_add(&list, corner[faces[i][0]], corner[faces[i][1]], corner[faces[i][2]]);
    facets_add(&list, corner[faces[i][0]], corner[faces[i][2]], corner[faces[i][3]]);
  }
  return list;
}

/* 20 n^2 triangles with corners on the sphere: each face of an icosahedron divided evenly. */
static inline facets facets_sphere(const double centre[3], double radius, int n)
{
  static const int faces[20][3] = {{0, 11, 5}, {0, 5, 1},  {0, 1, 7},   {0, 7, 10}, {0, 10, 11},
                                   {1, 5, 9},  {5, 11, 4}, {11, 10, 2}, {10, 7, 6}, {7, 1, 8},
                                   {3, 9, 4},  {3, 4, 2},  {3, 2, 6},   {3, 6, 8},  {3, 8, 9},
                                   {4, 9, 5},  {2, 4, 11}, {6, 2, 10},  {8, 6, 7},  {9, 8, 1}};
  const double g = (1 + sqrt(5)) / 2;
  const double vertex[12][3] = {{-1, g, 0},  {1, g, 0},  {-1, -g, 0}, {1, -g, 0}, {0, -1, g},  {0, 1, g},
                                {0, -1, -g}, {0, 1, -g}, {g, 0, -1},  {g, 0, 1},  {-g, 0, -1}, {-g, 0, 1}};
  facets list = {0};
  for (int face = 0; face < 20; face++)
    for (int i = 0; i < n; i++)
      for (int k = 0; k < n - i; k++)
        for (int half = 0; half < (k < n - i - 1 ? 2 : 1); half++) {
          const int at[2][3][2] = {{{i, k}, {i + 1, k}, {i, k + 1}},
                                   {{i + 1, k}, {i + 1, k + 1}, {i, k + 1}}};
          double corner[3][3];
          for (int j = 0; j < 3; j++) {
            /* The three products are added from the lowest vertex on, so that faces agree on their edges. */
            const int weight[3] = {n - at[half][j][0] - at[half][j][1], at[half][j][0], at[half][j][1]};
            double length = 0, point[3] = {0};
            for (int v = 0; v < 12; v++)
              for (int w = 0; w < 3; w++)
                for (int axis = 0; axis < 3; axis++)
                  if (faces[face][w] == v) point[axis] += weight[w] * vertex[v][axis];
            for (int axis = 0; axis < 3; axis++) length += point[axis] * point[axis];
            for (int axis = 0; axis < 3; axis++) /* with the precision of a file */
              corner[j][axis] = (float)(centre[axis] + radius * point[axis] / sqrt(length));
          }
          facets_add(&list, corner[0], corner[1], corner[2]);
        }
  return list;
}

/* Around the z axis through the origin. */
static inline facets facets_torus(double ring, double tube, int around, int across)
{
  const double turn = 2 * 3.14159265358979323846;
  facets list = {0};
  for (int i = 0; i < around; i++)
    for (int k = 0; k < across; k++) {
      double corner[4][3];
      for (int j = 0; j < 4; j++) {
        const double u = turn * ((i + (j == 1 || j == 2)) % around) / around,
                     v = turn * ((k + (j >= 2)) % across) / across;
        corner[j][0] = (float)((ring + tube * cos(v)) * cos(u));
        corner[j][1] = (float)((ring + tube * cos(v)) * sin(u));
        corner[j][2] = (float)(tube * sin(v));
      }
      facets_add(&list, corner[0], corner[1], corner[2]);
      facets_add(&list, corner[0], corner[2], corner[3]);
    }
  return list;
}

/* Bytes of a binary STL file, to be released by free(). */
static inline unsigned char *facets_stl(const facets *list, size_t *size)
{
  *size = 84 + 50 * list->count;
  unsigned char *bytes = calloc(*size, 1);
  if (!bytes) abort();
  strcpy((char *)bytes, "solid binary all the same");
  for (int i = 0; i < 4; i++) bytes[80 + i] = (unsigned char)(list->count >> 8 * i);
  for (size_t i = 0; i < list->count; i++)
    for (size_t k = 0; k < 9; k++) {
      const float value = (float)list->corner[i][k / 3][k % 3];
      uint32_t bits;
      memcpy(&bits, &value, sizeof bits);
      for (size_t byte = 0; byte < 4; byte++)
        bytes[84 + 50 * i + 12 + 4 * k + byte] = (unsigned char)(bits >> 8 * byte);
    }
  return bytes;
}

static inline void facets_write(const facets *list, const char *path)
{
  size_t size;
  unsigned char *bytes = facets_stl(list, &size);
  FILE *file = fopen(path, "wb");
  if (!file || fwrite(bytes, 1, size, file) != size || fclose(file) != 0) abort();
  free(bytes);
}

#endif
