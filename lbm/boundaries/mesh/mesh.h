/* SPDX-License-Identifier: Apache-2.0 */
/** @file mesh.h
 *  @brief Triangle meshes as bodies: files, transformations, checks, and queries by a tree.
 *
 *  Steps: gab_mesh_read(), gab_mesh_place(), gab_mesh_check(), perhaps gab_mesh_repair(), gab_mesh_index(),
 *  gab_mesh_check_index(). Queries are pure functions, thread-safe, and use double precision. Inside is where the winding
 *  number is not 0. It is counted along a ray with exact comparisons, so no ray passes between two triangles that share an edge.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_MESH_H
#define GABION_LBM_MESH_H

#include "core/base/status.h"
#include "core/system/shared_file.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Characters of the name of a group, with the terminating 0; longer ones name nothing. */
#define GAB_MESH_NAME 64

enum {
  GAB_MESH_MOST_TRIANGLES = 100 * 1000 * 1000,
  GAB_MESH_TRIANGLE_BYTES = 3 * 4, /**< corners */
  GAB_MESH_MOST_GROUPS =
      4096 /**< names, and sets of names that triangles have; a file with more names nothing */
};

/** A node of the tree over triangles, in preorder: the first child follows its parent. 32 bytes. */
typedef struct gab_mesh_node {
  float lo[3], hi[3]; /**< bounding box, rounded outwards */
  uint32_t next;      /**< second child; of a leaf: first triangle */
  uint32_t count;     /**< triangles of a leaf; 0: inner node */
} gab_mesh_node;

/** What names a triangle: a solid of an ASCII STL file, or an object of an OBJ file; a group and a material of an OBJ file. */
typedef enum gab_mesh_naming {
  GAB_MESH_OBJECT,
  GAB_MESH_GROUP,
  GAB_MESH_MATERIAL,
  GAB_MESH_NAMINGS
} gab_mesh_naming;

/** Names that triangles of a file have. */
typedef struct gab_mesh_groups {
  char (*name)[GAB_MESH_NAME]; /**< owned; each once */
  size_t name_count;
  uint16_t (*set)[GAB_MESH_NAMINGS]; /**< owned; names + 1 that a triangle can have; 0: none */
  size_t set_count;
  uint16_t *of; /**< owned; by index in the file: the set of a triangle; NULL: the file names nothing */
  size_t of_count;
  bool are_too_many; /**< more than #GAB_MESH_MOST_GROUPS; nothing has a name */
} gab_mesh_groups;

/** Cubes around the mesh: inside, outside or at the surface. Answers most queries without the tree. */
typedef struct gab_mesh_grid {
  double lo[3], width;
  int64_t count[3];
  unsigned char *state; /**< owned; per cube, x fastest */
} gab_mesh_grid;

typedef struct gab_mesh {
  size_t vertex_count, triangle_count;
  double *vertex;      /**< owned; 3 coordinates each; equal points are one vertex */
  uint32_t *corner;    /**< owned; 3 vertices per triangle, counter-clockwise seen from outside */
  uint32_t *number;    /**< owned; after gab_mesh_index(): index of each triangle in the file */
  gab_mesh_node *node; /**< owned; NULL before gab_mesh_index() */
  size_t node_count;
  gab_mesh_grid grid;
  gab_mesh_groups groups;
  double lo[3], hi[3]; /**< bounding box, by gab_mesh_place() */
  gab_shared_file
      shared;     /**< holds all of the above, if it is open: then nothing is owned, and all is read-only */
  size_t counted; /**< bytes of it that this process counts: that one which made it */
} gab_mesh;

/** Reads a file by its extension: .stl (binary or ASCII) or .obj. Local.
 *  @param[out] mesh  released by gab_mesh_release(), empty on failure
 *  @return ::GAB_ERR_INPUT with file and triangle or line */
gab_status gab_mesh_read(const char *path, gab_mesh *mesh);
/** The same from memory. @param[in] name  with its extension, for messages */
gab_status gab_mesh_parse(const unsigned char *bytes, size_t count, const char *name, gab_mesh *mesh);
void gab_mesh_release(gab_mesh *mesh);

/** Position of a mesh: scaled, rotated about x, then y, then z (fixed axes through the origin), then moved. */
typedef struct gab_mesh_placement {
  double scale;
  double degrees[3];
  double translation[3];
  bool
      fits; /**< scale and translation follow from a box instead: the largest copy of the same shape, in its middle */
  double fit_lo[3], fit_hi[3];
} gab_mesh_placement;

/** Applies a placement. Right angles are exact. @return ::GAB_ERR_INPUT if the mesh has no extent, or coordinates overflow */
gab_status gab_mesh_place(gab_mesh *mesh, const gab_mesh_placement *placement, const char *name);

/** Faults of a mesh, by kind. */
typedef enum gab_mesh_fault {
  GAB_MESH_OPEN,       /**< edge of one triangle */
  GAB_MESH_FLIPPED,    /**< edge that two triangles traverse in the same direction */
  GAB_MESH_CROWDED,    /**< edge of more than two triangles */
  GAB_MESH_DEGENERATE, /**< triangle with two equal corners or without area */
  GAB_MESH_DUPLICATE,  /**< triangle with the corners of an earlier one */
  GAB_MESH_INVERTED,   /**< connected part that faces inwards without lying in another part */
  GAB_MESH_CROSSED,    /**< two triangles that cross and share no corner */
  GAB_MESH_FAULT_COUNT
} gab_mesh_fault;

typedef struct gab_mesh_report {
  double volume, area, lo[3], hi[3];
  size_t triangles, components; /**< connected parts */
  size_t holes;                 /**< connected rims of open edges */
  size_t faults[GAB_MESH_FAULT_COUNT];
  size_t first[GAB_MESH_FAULT_COUNT];    /**< triangle of the first fault of the kind, index in the file */
  size_t other;                          /**< triangle that `first[GAB_MESH_CROSSED]` crosses */
  double place[GAB_MESH_FAULT_COUNT][3]; /**< of that fault */
} gab_mesh_report;

/** Finds all faults but crossings and inverted parts, which gab_mesh_check_index() finds. Before gab_mesh_index(). */
gab_status gab_mesh_check(const gab_mesh *mesh, gab_mesh_report *report);
/** Finds crossings and inverted parts. After gab_mesh_index(). */
gab_status gab_mesh_check_index(const gab_mesh *mesh, gab_mesh_report *report);
/** @return ::GAB_ERR_INPUT that names the first fault of each kind, the number of faults, and the remedy; GAB_OK without faults */
gab_status gab_mesh_refuse(const gab_mesh_report *report, const char *file);

/** Orients neighbouring triangles alike, by the majority of area, and closes rims by cones to their middle, so that the winding
 *  number is an integer everywhere. Before gab_mesh_index(). */
gab_status gab_mesh_repair(gab_mesh *mesh);

/** Builds the tree and the grid, O(n log n); changes the order of triangles. */
gab_status gab_mesh_index(gab_mesh *mesh);

/* ---- queries, after gab_mesh_index() ---- */

/** Whether a point is inside; the surface counts as inside. */
bool gab_mesh_has(const gab_mesh *mesh, const double point[3]);
/** Winding number of the surface around a point. @param[out] on_surface  whether the point lies on a triangle */
int gab_mesh_winding(const gab_mesh *mesh, const double point[3], bool *on_surface);
/** Distance to the surface, not negative. @param[out] nearest  point of the surface @param[out] triangle  index in the mesh */
double gab_mesh_distance(const gab_mesh *mesh, const double point[3], double nearest[3], size_t *triangle);
/** Whether the surface may touch the closed box lo … hi, extended by rounding errors. */
bool gab_mesh_touches(const gab_mesh *mesh, const double lo[3], const double hi[3]);
/** First point of the surface on a segment. @param[out] t  from + t (to - from), in [0, 1] @return false if there is none */
bool gab_mesh_crossing(const gab_mesh *mesh, const double from[3], const double to[3], double *t);

/** Whether a triangle has a name. @param[in] triangle  index in the mesh */
bool gab_mesh_is_in_group(const gab_mesh *mesh, size_t triangle, const char *group);
/** Area of the triangles that have a name, and the box that they lie in. @return 0 if none has it */
double gab_mesh_group_area(const gab_mesh *mesh, const char *group, double lo[3], double hi[3]);

/** How a box lies. */
typedef enum gab_mesh_state { GAB_MESH_OUTSIDE, GAB_MESH_INSIDE, GAB_MESH_SURFACE } gab_mesh_state;
/** @return OUTSIDE or INSIDE if no triangle touches the box and all of it is on that side; SURFACE otherwise */
gab_mesh_state gab_mesh_state_of(const gab_mesh *mesh, const double lo[3], const double hi[3]);

/** @return bytes in memory */
size_t gab_mesh_bytes(const gab_mesh *mesh);

/* ---- meshes that the processes of a node share (mesh_shared.c) ---- */

/** What a mesh is made of, and its report if it is not refused. */
typedef struct gab_mesh_source {
  const char *file;
  gab_mesh_placement placement;
  bool is_repaired; /**< by gab_mesh_repair(); else a mesh with faults is refused */
} gab_mesh_source;

/** All from the file to the tree. The processes of a node that ask for a mesh of #GAB_MESH_SHARED_FROM bytes or more share it in memory
 *  (core/system/shared_file.h): one makes it. The mesh does not depend on that. Local.
 *  @param[out] mesh  released by gab_mesh_release(), empty on failure */
gab_status gab_mesh_load(const gab_mesh_source *source, gab_mesh *mesh, gab_mesh_report *report);
#define GAB_MESH_SHARED_FROM 1000000 /**< bytes of a file */

#ifdef __cplusplus
}
#endif
#endif
