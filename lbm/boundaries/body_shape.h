/* SPDX-License-Identifier: Apache-2.0 */
/** @file body_shape.h
 *  @brief User-defined shapes of bodies: a signed distance, chosen by name in the parameter file.
 *
 *  A shape returns the distance of a point from the surface, negative inside. It is registered before the configuration is
 *  declared, the same on all processes. It is then a `type` of `bodies` with its own keys, in addition to `name`, `velocity`,
 *  `wall` and `inside` of all bodies. Interpolated walls, forces, refinement at its surface and omitted blocks work as for
 *  other bodies:
 *  @code
 *    static double ellipse(const double n[GAB_SHAPE_NUMBERS], const double point[3]) { ... }
 *    static const gab_body_shape own = {.name = "ellipse", .doc = "An ellipse.", .keys = keys, .key_count = 2,
 *                                       .read = read_ellipse, .distance = ellipse};
 *    GAB_TRY(gab_body_shape_register(&own));    bodies: [{type: ellipse, centre: [1, 1], axes: [0.4, 0.2]}]
 *  @endcode
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_BODY_SHAPE_H
#define GABION_LBM_BODY_SHAPE_H

#include "core/config/config.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Shapes: those of the library (lbm/boundaries/geometry.h says what they are made of), and one for all that are registered. */
typedef enum gab_shape {
  GAB_SHAPE_BOX,      /**< lo, hi: corners; may be infinite */
  GAB_SHAPE_SPHERE,   /**< centre, radius; a disc in 2D */
  GAB_SHAPE_CYLINDER, /**< centre, radius, axis 0 … 2, length along the axis (0: infinite); a disc in 2D */
  GAB_SHAPE_MASK,     /**< 2D only: a PNG picture stretched over lo … hi, dark pixels are inside */
  GAB_SHAPE_OWN       /**< `own' with its numbers, cut off at lo … hi, which may be infinite */
} gab_shape;

enum {
  GAB_SHAPE_NUMBERS = 8,       /**< that a body has for its shape */
  GAB_MOST_BODY_SHAPES = 16,   /**< that can be registered */
  GAB_MOST_BODY_SHAPE_KEYS = 8 /**< of one */
};

typedef struct gab_body_shape {
  const char *name;           /**< in parameter files */
  const char *doc;            /**< one sentence */
  const gab_config_key *keys; /**< of a body of this type */
  size_t key_count;
  /** Takes the keys of a body. @param[in] path  "bodies.2" @param[out] numbers  zero at first
   *  @param[out] lo,hi  corners of a box that holds the body, physical, infinite at first: the body ends there
   *  @return ::GAB_ERR_INPUT with the place in the file */
  gab_status (*read)(const gab_config *config, const char *path, int dimension,
                     double numbers[GAB_SHAPE_NUMBERS], double lo[3], double hi[3]);
  /** Signed distance of a point from the surface, negative or zero inside, all physical; in 2D z is 0. A pure function. May be
   *  less than the distance, not more: between two points it changes by no more than they are apart (boxes of cells are left out
   *  by it). gab_geometry_create() looks at some points of the domain and refuses one that is steeper there. */
  double (*distance)(const double numbers[GAB_SHAPE_NUMBERS], const double point[3]);
} gab_body_shape;

/** Adds a shape. @param[in] shape  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or cannot be one, something is missing, or the table is full */
gab_status gab_body_shape_register(const gab_body_shape *shape);
/** @return the index-th that was registered, NULL behind the last */
const gab_body_shape *gab_body_shape_at(int index);
/** @return the name of the index-th shape of all, those of the library first, NULL behind the last */
const char *gab_body_shape_name(int index);

#ifdef __cplusplus
}
#endif
#endif
