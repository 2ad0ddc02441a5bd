/* SPDX-License-Identifier: Apache-2.0 */
/** @file geometry.h
 *  @brief Solid cells, the exact position of their walls, and properties of blocks that follow.
 *
 *  A geometry is a list of bodies in a domain of cells. It is a pure function of its description: every process evaluates it
 *  for the cells that it needs, ghosts and cells of other blocks included, so flags are never sent. A cell is solid if its
 *  centre is in a body (the surface counts as inside) or, for a body with inside_is_fluid, outside of it. The first body of
 *  the list that covers a cell owns it. A body that extends beyond a periodic side continues on the opposite one, if it is
 *  shorter than the domain along that axis.
 *
 *  Stability: stable; extender where marked.
 */
#ifndef GABION_LBM_GEOMETRY_H
#define GABION_LBM_GEOMETRY_H

#include "lbm/boundaries/body_shape.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_geometry gab_geometry;

/** Makes a geometry. Local; the same on all processes if the arguments (and pictures) are. Copies all.
 *  @return ::GAB_ERR_INPUT with the name of the body that cannot be, or of the picture that cannot be read */
gab_status gab_geometry_create(const gab_domain *domain, const gab_body *bodies, size_t body_count,
                               gab_geometry **geometry);
void gab_geometry_destroy(gab_geometry **geometry);

GAB_EXTENDER size_t gab_geometry_body_count(const gab_geometry *geometry);
/** @return the body, with its name filled in */
GAB_EXTENDER const gab_body *gab_geometry_body(const gab_geometry *geometry, size_t index);
GAB_EXTENDER const gab_domain *gab_geometry_domain(const gab_geometry *geometry);

/** Result of gab_geometry_cell() for cells that belong to no body. */
enum { GAB_CELL_FLUID = -1, GAB_CELL_OUTSIDE = -2 };

/** What a cell is: index of the body that it is solid by, GAB_CELL_FLUID, or GAB_CELL_OUTSIDE beyond a side
 *  that is not periodic. Pure. @param[in] cell  in cell indices of `level`; wrapped along periodic axes */
GAB_EXTENDER int gab_geometry_cell(const gab_geometry *geometry, int level, const int64_t cell[3]);

/** Whether the centre of any cell of a level lies in a body, cells included that belong to a body ahead of it in the list.
 *  Cost grows with the surface of the body at most. Pure. */
GAB_EXTENDER bool gab_geometry_covers_cells(const gab_geometry *geometry, int level, size_t body);

/** Distance from a fluid cell to the wall along a link, in units of the link's length, in (0, 1].
 *  @param[in] solid  the solid cell at the link's end, `body` as gab_geometry_cell() says
 *  @param[in] c  from the solid cell to the fluid cell
 *  @return 1/2 for staircase walls, and where no intersection lies on the link */
double gab_geometry_wall_distance(const gab_geometry *geometry, int level, const int64_t solid[3], int body,
                                  const int8_t c[3]);

/** Where a link crosses the surface of a body, as described, staircase or not; half-way where it has no exact surface. Pure.
 *  @param[in] solid,c  as gab_geometry_wall_distance() takes them, `body` not negative
 *  @param[out] point  in cells of level 0 from the corner of the domain, in which the solid cell lies
 *  @return distance from the fluid cell, in units of the link's length */
GAB_EXTENDER double gab_geometry_crossing(const gab_geometry *geometry, int level, const int64_t solid[3],
                                          int body, const int8_t c[3], double point[3]);
/** The same as gab_geometry_normal(), at any point. @param[in] point  in cells of level 0 from the corner of the domain */
GAB_EXTENDER bool gab_geometry_normal_at(const gab_geometry *geometry, const double point[3], int body,
                                         double normal[3]);
/** Whether the part of a body's surface that is nearest to a point has a name (gab_body_shape.is_in_group). Pure.
 *  @param[in] point  in cells of level 0 from the corner of the domain */
GAB_EXTENDER bool gab_geometry_is_in_group(const gab_geometry *geometry, const double point[3], int body,
                                           const char *group);

/** Velocity of a body's wall near a cell, in cells per step. Pure. @param[in] body  of that cell, or near it
 *  @param[in] offset  from the cell's centre to the wall, in cells of `level` */
GAB_EXTENDER void gab_geometry_wall_velocity(const gab_geometry *geometry, int level, const int64_t cell[3],
                                             int body, const double offset[3], double velocity[3]);

/** The point that the torque of a body is about: gab_body.torque_point; else the centre of its spin, if it spins; else the middle of its
 *  extent with all copies, and of the domain along axes where it is endless. Pure. @param[out] point  physical; z is 0 in 2D */
GAB_EXTENDER void gab_geometry_torque_point(const gab_geometry *geometry, size_t body, double point[3]);
/** From that point to a place, which is moved by periods of the domain to where it is nearest to the middle of the body. Pure.
 *  @param[in] place  in cells of `level` from the corner of the domain @param[out] arm  in cells of level 0; z is 0 in 2D */
GAB_EXTENDER void gab_geometry_arm(const gab_geometry *geometry, int level, size_t body,
                                   const double place[3], double arm[3]);

/** The normal of a body's surface where it is nearest to a fluid cell, out of the body; of the surface as described, staircase or
 *  not. Pure. @param[in] body  that is near the cell @param[out] normal  of length 1 @param[out] distance  to the surface, in cells of
 *  `level` @return false for a mask, which has none */
GAB_EXTENDER bool gab_geometry_normal(const gab_geometry *geometry, int level, const int64_t cell[3],
                                      int body, double normal[3], double *distance);

/** @return the number of fluid cells in a box (cells outside the domain do not count). Cost grows with the
 *  surface of the bodies in the box, not with its volume. Pure. */
uint64_t gab_geometry_fluid_cells(const gab_geometry *geometry, int level, const gab_box *cells);

/** Whether no point of a box of cells can be solid, so that neither these nor finer cells in it are, nor
 * those that they are children of; what reaches beyond the domain is wrapped along periodic axes and ignored
 * along others. False where in doubt. Pure. */
GAB_EXTENDER bool gab_geometry_is_clear(const gab_geometry *geometry, int level, const gab_box *cells);

/** Whether the normal of a surface turns by more than an angle over the width of a cell of `level`, somewhere near a cell of a box that the
 *  surface passes, and with fluid in front of it. Of a sphere of radius R the normal turns by 2 atan(1 / 2R), R in cells; at a sharp edge by the
 *  angle between both faces. Not of pictures and voxels. Pure. @param[in] angle  in radians */
GAB_EXTENDER bool gab_geometry_is_curved(const gab_geometry *geometry, int level, const gab_box *cells,
                                         double angle);

/* Ready for gab_forest_options: `user` is the geometry. */

/** Whether a block has a fluid cell, or would have one if it were refined, to gab_domain.deepest at most:
 * smaller cells near a surface may be fluid where a larger one is solid. The same for cells of bodies that keep blocks. Other
 * blocks are not needed: their neighbours know their cells as solid by themselves. */
bool gab_geometry_block_exists(void *user, int level, const gab_box *cells);
/** The same without bodies that keep blocks. */
bool gab_geometry_has_fluid(const gab_geometry *geometry, int level, const gab_box *cells);
/** Fluid cells of a block, at least 1. */
uint64_t gab_geometry_block_weight(void *user, int level, const gab_box *cells);

#ifdef __cplusplus
}
#endif
#endif
