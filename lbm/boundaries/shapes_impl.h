/* SPDX-License-Identifier: Apache-2.0 */
/** @file shapes_impl.h
 *  @brief Shapes: inside or not, for points, boxes of points and along rays.
 *
 *  Coordinates in cells of level 0 from the lower corner of the domain.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_SHAPES_IMPL_H
#define GABION_LBM_SHAPES_IMPL_H

#include "lbm/boundaries/body_shape.h"

struct gab_domain;

/** A picture of cells. */
typedef struct gab_mask {
  int width, height;
  size_t stride;       /**< bytes of a row */
  unsigned char *dark; /**< owned; a bit for each pixel, row 0 is the top; 1 is inside */
} gab_mask;

/** Reads a picture. @return ::GAB_ERR_INPUT if it cannot be read, or Gabion was built without libpng */
gab_status gab_mask_read(const char *path, gab_mask *mask);
void gab_mask_release(gab_mask *mask);

/** A body, or its image beyond a periodic side, in cells. */
typedef struct gab_shape_data {
  gab_shape shape;
  int body;
  int axis;
  bool inverted;
  double centre[3], radius, half_length; /**< half_length INFINITY: endless */
  double lo[3], hi[3];                   /**< the shape's bounding box */
  const gab_mask *mask;                  /**< borrowed */
  /* Of a signed distance, which is asked in physical coordinates; `centre' is where its image lies. */
  const gab_body_shape *own;
  double numbers[GAB_SHAPE_NUMBERS];
  int dimension;
  double origin[3], dx;
} gab_shape_data;

typedef enum gab_relation { GAB_RELATION_APART, GAB_RELATION_MIXED, GAB_RELATION_COVERED } gab_relation;

/** How the points lo … hi relate to the solid side of a shape; MIXED where in doubt. Agrees with
 *  gab_shape_is_solid() to the last bit: the same monotone formulas. */
gab_relation gab_shape_relation(const gab_shape_data *shape, const double lo[3], const double hi[3]);
/** Whether a point is solid by this shape. */
bool gab_shape_is_solid(const gab_shape_data *shape, const double point[3]);
/** Distance to the surface, negative in the solid; not of a mask. */
double gab_shape_distance(const gab_shape_data *shape, const double point[3]);
/** Its gradient, of length 1. @return false where it has none, as in the centre of a pipe */
bool gab_shape_normal(const gab_shape_data *shape, int dimension, const double point[3], double normal[3]);
/** The part [in, out] of the line point + s * direction that is inside. @return false if there is none, or
 * the shape has no exact surface (a mask) */
bool gab_shape_interval(const gab_shape_data *shape, const double point[3], const double direction[3],
                        double *in, double *out);

/* shapes_distance.c: the same for a signed distance; of a link only, from point to point + direction. */
double gab_distance_at(const gab_shape_data *shape, const double point[3]);
bool gab_distance_has(const gab_shape_data *shape, const double point[3]);
gab_relation gab_distance_relation(const gab_shape_data *shape, const double lo[3], const double hi[3]);
bool gab_distance_interval(const gab_shape_data *shape, const double point[3], const double direction[3],
                           double *in, double *out);
/** ::GAB_ERR_INPUT if it is seen to change by more than points are apart. */
gab_status gab_distance_check(const gab_shape_data *shape, const struct gab_domain *domain, const char *name);

#endif
