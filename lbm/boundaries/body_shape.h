/* SPDX-License-Identifier: Apache-2.0 */
/** @file body_shape.h
 *  @brief User-defined shapes of bodies: a signed distance, chosen by name in the parameter file.
 *
 *  A shape returns the distance of a point from the surface, negative inside. It is registered before the configuration is
 *  declared, the same on all processes. It is then a `type` of `bodies` with its own keys, in addition to the keys of all
 *  bodies (name, wall, inside, rotation, repetition, velocity). Interpolated walls, forces, refinement at its surface,
 *  omitted blocks and sets of bodies work as for the shapes of the library, most of which are such descriptors, too:
 *  @code
 *    static double ellipse(const gab_body *body, const double point[3]) { ... body->numbers[0] ... }
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
#include "lbm/boundaries/body.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How the points of a box relate to a body. */
typedef enum gab_relation {
  GAB_RELATION_APART,  /**< none is inside */
  GAB_RELATION_MIXED,  /**< some may be */
  GAB_RELATION_COVERED /**< all are */
} gab_relation;

enum {
  GAB_MOST_BODY_SHAPES = 16,    /**< that can be registered */
  GAB_MOST_BODY_SHAPE_KEYS = 16 /**< of one */
};

/** Coordinates and lengths are physical. In 2D z is 0. All functions but `read` and `release` are pure and are called by
 *  several threads at once. */
typedef struct gab_body_shape {
  const char *name;           /**< in parameter files */
  const char *doc;            /**< one sentence */
  const gab_config_key *keys; /**< of a body of this type */
  size_t key_count;
  /** Takes the keys of a body. @param[in] path  "bodies.2"
   *  @param[in,out] body  fill `numbers`, zero at first, or `data`; lo and hi: corners of a box that holds the body,
   *  infinite at first: the body ends there
   *  @return ::GAB_ERR_INPUT with the place in the file */
  gab_status (*read)(const gab_config *config, const char *path, int dimension, gab_body *body);
  /** Signed distance of a point from the surface, negative or zero inside. May be less than the distance, not more: between
   *  two points it changes by no more than they are apart (boxes of cells are left out by it). gab_geometry_create() looks at
   *  some points of the domain and refuses one that is steeper there. NULL: the shape has no exact surface; its walls are
   *  staircases, and `contains` is needed. */
  double (*distance)(const gab_body *body, const double point[3]);
  bool
      is_exact; /**< `distance` needs no such look: for shapes that are expensive to ask far from their surface */
  /** Whether a point is inside. NULL: where the distance is not positive. */
  bool (*contains)(const gab_body *body, const double point[3]);
  /** Where the way between two points, of which one is inside, passes the surface: share of the way from the first one. NULL:
   *  found by halving. */
  double (*crossing)(const gab_body *body, const double from[3], const double to[3]);
  /** How the points of a box relate to the body. NULL: by the distance of its centre; without a distance, by lo and hi. */
  gab_relation (*relation)(const gab_body *body, const double lo[3], const double hi[3]);
  /** Whether the part of the surface that is nearest to a point has a name that the file of the body gives. NULL: parts have no names. */
  bool (*is_in_group)(const gab_body *body, const char *group, const double point[3]);
  /** Area of the parts of that name, and a box that they lie in; 0 if no part has it. NULL without `is_in_group`. */
  double (*group_area)(const gab_body *body, const char *group, double lo[3], double hi[3]);
  /** What `gabion check` says of such a body, in one line. NULL: nothing. @param[in] dx  width of a cell of level 0 */
  void (*describe)(const gab_body *body, double dx, char *text, size_t capacity);
  /** Frees gab_body.data. NULL: there is nothing to free. */
  void (*release)(void *data);
} gab_body_shape;

/** Adds a shape. @param[in] shape  borrowed for ever
 *  @return ::GAB_ERR_ARGUMENT if the name is taken or cannot be one, something is missing, or the table is full */
gab_status gab_body_shape_register(const gab_body_shape *shape);
/** @return the index-th descriptor, those of the library first, NULL behind the last */
const gab_body_shape *gab_body_shape_at(int index);
/** @return the name of the index-th type of bodies, those of the library first, NULL behind the last */
const char *gab_body_shape_name(int index);

#ifdef __cplusplus
}
#endif
#endif
