/* SPDX-License-Identifier: Apache-2.0 */
/** @file body.h
 *  @brief A solid body: its shape, its place and its wall.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_BODY_H
#define GABION_LBM_BODY_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

struct gab_body_shape;

enum { GAB_SHAPE_NUMBERS = 8 /**< that a body has for its shape */ };

/** Shapes with fields of their own in a gab_body (lbm/boundaries/geometry.h), and one for all that have a descriptor. */
typedef enum gab_shape {
  GAB_SHAPE_BOX,      /**< lo, hi: corners; may be infinite */
  GAB_SHAPE_SPHERE,   /**< centre, radius; a disc in 2D */
  GAB_SHAPE_CYLINDER, /**< centre, radius, axis 0 … 2, length along the axis (0: infinite); a disc in 2D */
  GAB_SHAPE_MASK,     /**< 2D only: a PNG picture stretched over lo … hi, dark pixels are inside */
  GAB_SHAPE_OWN /**< the descriptor `own' with numbers and data, cut off at lo … hi, which may be infinite */
} gab_shape;

/** How the fluid meets a body. */
typedef enum gab_wall {
  GAB_WALL_STAIRCASE, /**< half-way bounce-back on every link */
  /** Bouzidi, Firdaouss & Lallemand 2001, linear; not for masks. How it keeps the mass: "Bodies" in lbm/lbm.h. */
  GAB_WALL_INTERPOLATED
} gab_wall;

/** What a body is made of, if of other bodies. */
typedef enum gab_set {
  GAB_SET_NONE = 0,
  GAB_SET_UNION,
  GAB_SET_INTERSECTION,
  GAB_SET_DIFFERENCE /**< the first without all others */
} gab_set;

#define GAB_BODY_NAME_LENGTH 32
#define GAB_PATH_LENGTH      1024

/** A body. Lengths in the physical units of the domain (gab_domain). All that is left zero has no effect. */
typedef struct gab_body {
  char name[GAB_BODY_NAME_LENGTH]; /**< for messages and tables of forces; "" gives "body N" */
  gab_shape shape;
  gab_wall wall;
  bool
      keeps_blocks; /**< blocks in its inside exist, too: something is computed there (lbm/scalar/scalar.h) */
  bool inside_is_fluid; /**< the body is what surrounds the shape: a pipe, a duct */
  double centre[3], radius;
  int axis;
  double length; /**< of a cylinder, half of it to each side of the centre */
  double lo[3], hi[3];
  double velocity[3]; /**< of the wall, in cells per step; the body itself stays where it is */
  double spin
      [3]; /**< rotation of the wall in its surface: radians per step and length of a cell; times the distance from
                         spin_centre it adds to velocity */
  double spin_centre[3];
  char mask[GAB_PATH_LENGTH];
  const struct gab_body_shape *own; /**< borrowed */
  double numbers[GAB_SHAPE_NUMBERS];
  void *data;         /**< of `own', borrowed as long as the geometry exists */
  double rotation[3]; /**< degrees, about x, then y, then z, around rotation_centre; not for pictures */
  double rotation_centre[3];
  int64_t copies[3];            /**< along each axis, itself included; 0 is 1. Not with inside_is_fluid */
  double copy_offset[3];        /**< from one copy to the next along each axis */
  gab_set set;                  /**< of `parts'; shape, own, numbers and data do not count then */
  const struct gab_body *parts; /**< borrowed until gab_geometry_create() returns */
  size_t part_count;
  size_t item; /**< of the list in the parameter file, for messages */
  bool has_torque_point;
  double torque_point
      [3]; /**< that its torque is about, if there is one; else gab_geometry_torque_point() finds it */
} gab_body;

/** The box of cells of level 0 that the bodies lie in. */
typedef struct gab_domain {
  int dimension;
  int64_t cells[3]; /**< z is 1 in 2D */
  bool periodic[3];
  double origin[3]; /**< physical coordinate of the lower corner */
  double dx;        /**< width of a cell of level 0 */
  int deepest;      /**< level of the smallest blocks that there may be, for gab_geometry_block_exists() */
} gab_domain;

/** Corners of a box that holds a body and its copies, physical; infinite where it is endless. Pure. */
GAB_EXTENDER void gab_body_extent(const gab_body *body, int dimension, double lo[3], double hi[3]);
/** Velocity of the wall of a body at a point, in cells per step. Pure. @param[in] point  physical */
GAB_EXTENDER void gab_body_velocity_at(const gab_body *body, const double point[3], double velocity[3]);

#ifdef __cplusplus
}
#endif
#endif
