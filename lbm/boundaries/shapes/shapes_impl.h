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

/** A picture of cells. */
typedef struct gab_mask {
  int width, height;
  size_t stride;       /**< bytes of a row */
  unsigned char *dark; /**< owned; a bit for each pixel, row 0 is the top; 1 is inside */
} gab_mask;

/** Reads a picture. @return ::GAB_ERR_INPUT if it cannot be read, or Gabion was built without libpng */
gab_status gab_mask_read(const char *path, gab_mask *mask);
void gab_mask_release(gab_mask *mask);

/** A body, one of its copies, or an image beyond a periodic side, in cells. */
typedef struct gab_shape_data {
  gab_shape shape;
  int body;
  int axis;
  bool inverted;
  double centre[3], radius, half_length; /**< half_length INFINITY: endless */
  double lo[3], hi[3];                   /**< the shape's bounding box */
  const gab_mask *mask;                  /**< borrowed */
  /* Of a shape with a descriptor, which is asked in physical coordinates; `centre' is how far the image lies from the body. */
  const gab_body *described; /**< with its `own'; borrowed */
  int dimension;
  double origin[3], dx;
} gab_shape_data;

/** The shape of a body in cells from the domain's lower corner, without rotation and copies. @param[in] body  borrowed if it has a
 *  descriptor; not a set @param[in] mask  of the picture, borrowed; else NULL */
gab_shape_data gab_shape_of(const gab_body *body, int index, const gab_mask *mask, const gab_domain *domain);

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
/** Whether the named part of a surface is nearest to a point: gab_body_shape.is_in_group. */
bool gab_shape_is_in_group(const gab_shape_data *shape, const char *group, const double point[3]);
bool gab_distance_exists(const gab_shape_data *shape);
/** ::GAB_ERR_INPUT if it is seen to change by more than points are apart. */
gab_status gab_distance_check(const gab_shape_data *shape, const gab_domain *domain, const char *name);

/** @name Sets and rotated bodies (shape_set.c)
 *  @{ */
typedef struct gab_composed gab_composed;
/** Whether a body is a set or rotated, so that it needs a gab_composed. */
bool gab_body_is_composed(const gab_body *body);
/** Makes it, with copies of all parts. @return ::GAB_ERR_INPUT with the name of a part that cannot be */
gab_status gab_composed_create(const gab_body *body, int dimension, gab_composed **composed);
void gab_composed_destroy(gab_composed **composed);
/** A body of type OWN that stands for it; lives as long as it. */
const gab_body *gab_composed_body(const gab_composed *composed);
/** @} */

/** Whether distances to its surface are known; else its walls are staircases. */
bool gab_body_has_surface(const gab_body *body);
/** The matrix by which it is rotated. */
void gab_body_rotation(const gab_body *body, double matrix[3][3]);
/** ::GAB_ERR_INPUT with the name of a body, or part of one, whose numbers cannot be. */
gab_status gab_body_check(const gab_body *body, int dimension);

#endif
