/* SPDX-License-Identifier: Apache-2.0 */
/** @file predicates_impl.h
 *  @brief Signs of determinants, and tests of a triangle with a box, a point or another triangle.
 *
 *  Signs come from double precision where its error bound allows (Shewchuk 1997), else from pairs of doubles.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_MESH_PREDICATES_IMPL_H
#define GABION_LBM_MESH_PREDICATES_IMPL_H

#include <stdbool.h>

/* Sign of (b0 - a0) (p1 - a1) - (b1 - a1) (p0 - a0): positive if p lies to the left of a → b. */
int gab_mesh_orient2d(const double a[2], const double b[2], const double p[2]);
/* Sign of det(a - p, b - p, c - p): positive if p lies behind the triangle, which is counter-clockwise from its front. */
int gab_mesh_orient3d(const double a[3], const double b[3], const double c[3], const double p[3]);

/* Whether a point of the plane of a triangle lies in it, edges and corners included. */
bool gab_mesh_triangle_has(const double a[3], const double b[3], const double c[3], const double p[3]);
/* Whether an edge of one triangle passes through the other one from side to side. */
bool gab_mesh_triangles_cross(double first[3][3], double second[3][3]);
/* Separating axes (Akenine-Möller 2001); the box is closed. */
bool gab_mesh_triangle_touches(double corner[3][3], const double lo[3], const double hi[3]);
/* Nearest point of a triangle (Ericson 2005, section 5.1.5), also of one without area. @return the square of the distance */
double gab_mesh_triangle_nearest(double corner[3][3], const double point[3], double nearest[3]);

#endif
