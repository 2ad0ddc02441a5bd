/* SPDX-License-Identifier: Apache-2.0 */
/** @file patch.h
 *  @brief Patches: parts of a side of the domain, or of the surface of a body, each with a condition of its own.
 *
 *  A face of a side belongs to the first patch of that side whose region contains its centre, else to the side. Faces are those of the
 *  cells of level 0 on all levels, so that coarse and fine cells agree and a region has the same area on all grids.
 *
 *  A link of a body belongs to the first patch of that body whose region has the point where the link crosses the surface.
 *
 *  The conditions of a flow have one numbering: #GAB_SIDE_COUNT sides, then the patches in their order (gab_lbm_condition() in
 *  lbm/lbm.h). Rules where conditions meet: doc/sides.md.
 *
 *  Stability: extender.
 */
#ifndef GABION_LBM_PATCH_H
#define GABION_LBM_PATCH_H

#include "lbm/boundaries/body_shape.h"
#include "lbm/sides/boundary.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Characters of the name of a patch, with the terminating 0. */
#define GAB_PATCH_NAME 32

typedef enum gab_patch_region {
  GAB_PATCH_BOX = 0, /**< from lo to hi */
  GAB_PATCH_DISC,    /**< about centre, with radius; in 2D an interval */
  GAB_PATCH_POLYGON, /**< 3D only */
  GAB_PATCH_MASK,    /**< dark pixels of a picture from lo to hi; 3D only; not on a body */
  GAB_PATCH_GROUP    /**< of a body: what its file gives a name to (gab_body_shape.is_in_group) */
} gab_patch_region;

/** Positions are physical; components across the side are ignored. On a body a disc is a sphere, and a polygon is drawn out along an axis.
 *  The outline belongs to the region. */
typedef struct gab_patch {
  char name[GAB_PATCH_NAME];
  char path[GAB_CONFIG_PATH_CAPACITY]; /**< for messages: "boundaries.x_min.patches.0" */
  int side;           /**< a gab_side_index; of a side that is not periodic; or #GAB_PATCH_ON_BODY */
  size_t body;        /**< then its index in the geometry */
  int axis;           /**< of a polygon on a body */
  char group[64];     /**< GROUP: lo and hi are a box that it lies in */
  gab_side condition; /**< of any kind but periodic */
  gab_patch_region region;
  double lo[3], hi[3]; /**< BOX, MASK */
  double centre[3], radius;
  double *
      points; /**< POLYGON: two coordinates for each corner, along the axes of the side in ascending order; owned by the list */
  size_t point_count;
  struct gab_mask
      *mask; /**< MASK: the picture, its first axis to the right, its second one upwards; owned by the list */
  /* Set by gab_patches_complete(). */
  int64_t first[3], last[3]; /**< smallest box of faces of level 0 that contains the region: [first, last) */
  uint64_t region_faces;     /**< in the region ... */
  uint64_t faces;            /**< ... and of these in no earlier patch */
} gab_patch;

/** gab_patch.side of a patch of a body. */
#define GAB_PATCH_ON_BODY GAB_SIDE_COUNT

/** The patches of a flow. */
typedef struct gab_patches {
  gab_patch list[GAB_MOST_CONDITIONS - GAB_SIDE_COUNT];
  int count;
  int on_bodies;  /**< of these, patches of bodies; they come last */
  unsigned sides; /**< bits of sides that have any; as the next one by gab_patches_complete() */
  uint64_t side_faces[GAB_SIDE_COUNT]; /**< of each side with patches, those that belong to none */
} gab_patches;

/** Counts the faces of each patch and sets the part of the domain that its profile refers to. Local; equal on all processes if the
 *  arguments are. @return ::GAB_ERR_INPUT with the name of a patch without faces, or on a periodic or missing side */
gab_status gab_patches_complete(gab_patches *patches, const gab_domain *domain);
/** Frees the pictures, points and series of all patches. */
void gab_patches_release(gab_patches *patches);

/** What a region reaches along an axis of its side, physical. Pure. */
void gab_patch_extent(const gab_patch *patch, int axis, double *lo, double *hi);
/** Whether the centre of a face of level 0 lies in the region of a patch. Pure. @param[in] face  cell at the side; inside the domain
 *  along it */
bool gab_patch_has(const gab_patch *patch, const gab_domain *domain, const int64_t face[3]);
/** Whether a point lies in the region of a patch that is no group. Pure. @param[in] point  physical */
bool gab_patch_has_point(const gab_patch *patch, int dimension, const double point[3]);
/** The condition of a face of level 0: `side`, or #GAB_SIDE_COUNT plus the index of a patch. Pure.
 *  @param[in] patches  completed; may be NULL @param[in] face  cell at the side; wrapped along periodic axes, clamped along others */
int gab_patches_condition_at(const gab_patches *patches, const gab_domain *domain, int side,
                             const int64_t face[3]);

#ifdef __cplusplus
}
#endif
#endif
