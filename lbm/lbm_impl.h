/* SPDX-License-Identifier: Apache-2.0 */
/** @file lbm_impl.h
 *  @brief Declarations shared by the sources of lbm/: the model, the data of a block, the kernels.
 *
 *  Stability: internal.
 */
#ifndef GABION_LBM_LBM_IMPL_H
#define GABION_LBM_LBM_IMPL_H

#include "blockforest/exchange/coupling.h"
#include "blockforest/exchange/exchange.h"
#include "core/system/threads.h"
#include "core/base/exact_sum.h"
#include "core/base/log.h"
#include "field/flags.h"
#include "lbm/sides/side_impl.h"
#include "lbm/sides/side_state_impl.h"
#include "lbm/sides/side_turbulence_impl.h"
#include "lbm/kernels/kernel_family.h"
#include "lbm/kernels/lattice_list_impl.h"
#include "lbm/lbm.h"
#include "lbm/step/storage_impl.h"

#include <stdatomic.h>

/* ------------------------------------------------------------------------------------------ kernels */

/** Distance, in values, from the end of a run to the lines that are prefetched next. Lines are prefetched `ahead` values
 *  before they are swept; past the end of the run these are in one of the next runs. @param[in] end after the last run */
static inline ptrdiff_t gab_sweep_jump(const gab_run *run, const gab_run *end, int32_t ahead)
{
  const int32_t length = run->length;
  const ptrdiff_t runs = length >= ahead ? 1 : (ahead + length - 1) / length;
  if (end - run <= runs) return 0;
  return (ptrdiff_t)run[runs].start - (ptrdiff_t)run->start - (length >= ahead ? length : ahead);
}

typedef struct gab_kernel {
  const char *name; /**< "in_place/D3Q19/double/forced", "in_place/D2Q9/float/MRT/free" */
  gab_kernel_fn run;
  bool in_place; /**< one field per block */
} gab_kernel;

/** The library's own families. */
typedef enum gab_kernel_kind {
  GAB_FAMILY_IN_PLACE,
  GAB_FAMILY_SPARSE, /**< the same for sparse blocks */
  GAB_FAMILY_VECTOR,
  GAB_FAMILY_REFERENCE,
  GAB_FAMILY_COUNT
} gab_kernel_kind;

/** Parameters that distinguish kernels of one family and collision. */
typedef struct gab_kernel_variant {
  int lattice; /**< gab_lattice_number() */
  gab_kernel_reals reals;
  bool forced;
} gab_kernel_variant;
#define GAB_KERNELS_PER_LATTICE (GAB_REALS_COUNT * 2)

/** Tables of kernels: of a family, one table for each lattice, of #GAB_KERNELS_PER_LATTICE. Those of lattices on which the
 *  model is not defined are empty: no name, no function. */
struct gab_collision_kernels {
  const gab_kernel *const *of[GAB_FAMILY_COUNT];
  /** for user-defined lattices, by family, one table for all; NULL: not defined there */
  const gab_kernel *const *of_any;
  /** The function of one cell if the model has no gab_collision.cell; contract as there. */
  void (*cell)(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced, double *f);
};
/** The loop that calls a function of one cell on lattices known only at run time: gab_collision_kernels.of_any. */
extern const gab_kernel *const gab_kernels_of_any_lattice[GAB_FAMILY_COUNT];
/** One cell of TRT and SRT on any lattice, with the bits of their kernels in double. */
void gab_collide_two_rates(const gab_lattice *lattice, const gab_collision_rates *rates, bool forced,
                           double *f);
/** Whether a lattice is user-defined. @param[in] number  gab_lattice_number() */
static inline bool gab_lattice_is_own(int number) { return number >= GAB_LATTICE_COUNT; }
/** The kernel of a variant. It has the name of its lattice; for user-defined lattices gab_kernel_find() sets the name. */
static inline const gab_kernel *gab_kernel_of(const gab_collision_kernels *kernels, gab_kernel_kind family,
                                              gab_kernel_variant wanted)
{
  static const gab_kernel none;
  const int index = 2 * (int)wanted.reals + wanted.forced;
  if (!gab_lattice_is_own(wanted.lattice)) return &kernels->of[family][wanted.lattice][index];
  return kernels->of_any ? &kernels->of_any[family][index] : &none;
}

/** @param[in] options  with the defaults filled in */
gab_kernel_variant gab_kernel_wanted(const gab_lbm_options *options);
/** @param[in] family  its name; NULL is auto @return NULL with an error message if there is no such family or kernel, or
 *   the model is not defined on the lattice; static */
const gab_kernel *gab_kernel_find(const char *family, const gab_collision *collision,
                                  gab_kernel_variant wanted);
/** Of the library's own families. */
gab_kernel_kind gab_kernel_kind_of(const gab_kernel_family *family);
/** A kernel for a user-defined lattice, named after it. */
const gab_kernel *gab_kernel_on_own_lattice(const gab_kernel_family *family, const gab_kernel *kernel,
                                            gab_kernel_variant wanted);
/** The kernel of a user-defined family. @return NULL with an error message if the family refuses the variant */
const gab_kernel *gab_kernel_of_own(const gab_kernel_family *family, const gab_collision *collision,
                                    gab_kernel_variant wanted);
/** Verifies, in some cells with random populations, that a family which claims the bits of the library gives them.
 *  @param[in] rates  of a level @return ::GAB_ERR_ARGUMENT if it does not */
gab_status gab_kernel_compare(const gab_kernel_family *family, const gab_collision *collision,
                              gab_kernel_variant wanted, const gab_collision_rates *rates);

/* ------------------------------------------------------------------------------------------ links */

typedef struct gab_lbm_model gab_lbm_model;
typedef struct gab_level_model gab_level_model;

/* Each link writes one population: that of a boundary cell in direction q, where the kernel reads it for the adjacent fluid
 * cell. Cells are indices in component 0; gab_storage maps them to places of populations. In sparse blocks links hold
 * places: see gab_sparse_apply_links(). */

/** Bounce-back and free slip: the populations of a row of boundary cells along x are copies of those sent by other cells. */
typedef struct gab_copy_link {
  uint32_t to, from;
  int32_t length;
  int16_t q, from_q;
} gab_copy_link;

/** Bounce-back with the momentum of a side: value = (population sent by the fluid cell) + term * ramp[factor]. In an edge a
 *  second side `adds` its term. */
typedef struct gab_velocity_link {
  uint32_t to, from;
  double term;
  int16_t q;
  int8_t factor; /**< of #GAB_SIDE_FACTORS */
  bool adds;
} gab_velocity_link;

/** Interpolated walls and moving bodies: value = a * near + b * far + term * ramp[factor]. Near is the population that the
 *  fluid cell sent towards the boundary cell. */
typedef struct gab_linear_link {
  uint32_t to, near, far;
  int8_t q, far_q;
  int16_t factor; /**< of #GAB_SIDE_FACTORS: of a patch of a body; else #GAB_SIDE_UNIT */
  double a, b, term;
} gab_linear_link;

/** Inflow of a patch of a body by a link, which the balance of walls keeps; 0 for other links. If the wall is further
 *  than half-way, the link gives less, and the interpolation the rest. @param[in] given  term * ramp[factor] */
static inline double gab_linear_intended(const gab_linear_link *link, double given)
{
  if (link->factor == GAB_SIDE_UNIT) return 0;
  return link->far_q == link->q ? given / link->a : given;
}

/** Substitutes for a population that arrives through an open side: see lbm/sides/open_sides.c. */
typedef enum gab_open_source {
  GAB_OPEN_NEXT, /**< the population of the same direction that arrives in the next cell across the side */
  GAB_OPEN_SELF, /**< the population that the fluid cell has sent in that direction */
  GAB_OPEN_LINEAR, /**< extrapolated along the side: twice that, minus the population sent by the cell on the other side */
  GAB_OPEN_CLOSED /**< the population that arrives in the fluid cell from a bounce-back place */
} gab_open_source;

/** Open sides: needs the macroscopic state of the fluid cell and the populations around it. Index 0 is for direction
 *  q of the link, 1 for its mirror, which is q with the components along the side reversed. In a sparse block `cell`
 *  and `from` are rows of gab_sparse::open_cells, `from` that of the next cell. */
typedef struct gab_open_link {
  uint32_t to, cell;
  uint32_t from
      [2]; /**< the cell whose population of direction from_q arrives in the next cell; for ::GAB_OPEN_LINEAR the
                other cell */
  uint32_t next; /**< of ::GAB_OPEN_NEXT in a dense block: the next cell across the side */
  int8_t q, mirror, from_q[2], side;
  uint8_t source[2]; /**< gab_open_source */
  /** bits of axes along the side for which the populations of both directions arrive from elsewhere than open sides */
  uint8_t axes;
  uint8_t sides;        /**< bits of all sides of this kind beyond which the boundary cell lies */
  int8_t conditions[3]; /**< by axis: of these sides, where the boundary cell lies beyond them */
  uint32_t state; /**< place of its number in the state of the sides of the block, from 1; 0: keeps none */
  double given
      [3]; /**< by axis: density at the side of these that lies across it, less 1, at the middle of the link, times its ramp */
} gab_open_link;

/** A link of a body, for its force: the two populations that fluid cell and boundary cell exchange. In a sparse block two
 *  places hold them, in either order. */
typedef struct gab_momentum_link {
  uint32_t to, from;
  uint32_t cell; /**< index of the fluid cell, in a sparse block too */
  /** q: direction of the population of the boundary cell; condition: of the patch, 0 without one. There is a link for each
   *  of many cells. */
  unsigned body : 21, condition : 6, q : 5;
} gab_momentum_link;

/** The lists that are written each step. */
enum {
  GAB_LINK_COPIES,
  GAB_LINK_VELOCITIES,
  GAB_LINK_LINEARS,
  GAB_LINK_OPENS,
  GAB_LINK_TURBULENTS,
  GAB_LINK_SLIPS,
  GAB_LINK_LISTS
};

/** Wall with a slip length or a log law: adds a term from the velocity in the first two cells to a velocity link. In a sparse block
 *  `cell` and `next` are rows of gab_sparse::open_cells. */
typedef struct gab_slip_link {
  uint32_t to, from; /**< as those of the velocity link */
  uint32_t cell, next;
  double length, roughness; /**< in cells of the level; with a roughness there is no slip length */
  int16_t q;
  int8_t side;
  bool has_next; /**< the next cell across the side is fluid */
} gab_slip_link;

typedef struct gab_links {
  gab_copy_link *copies;
  gab_velocity_link *velocities;
  gab_linear_link *linears;
  gab_open_link *opens;
  gab_momentum_link *momenta;
  gab_turbulent_link *turbulents;
  gab_side_turbulence_table *tables;
  gab_slip_link *slips;
  size_t turbulent_count, table_count, slip_count;
  size_t copy_count, velocity_count, linear_count, open_count, momentum_count;
  size_t (*start)[GAB_LINK_LISTS]; /**< per slab of the block, and at the end: the first link of its cells */
  double *excess; /**< per slab: mass that its linear links created in the last step; NULL: not measured */
  int64_t linear_weight; /**< sum of the weights of their directions, in units of 2^-#GAB_WALL_WEIGHT_BITS */
  uint64_t copied_cells; /**< a copy link may stand for many */
  uint64_t fallbacks;
} gab_links;

/** Values from which an open link is computed. */
typedef struct gab_open_view {
  double sent[GAB_LATTICE_MAX_Q]; /**< by its fluid cell */
  double next, mirrored;          /**< for q and its mirror: see gab_open_source */
  /** density of the next cell minus 1; 0 without ::GAB_OPEN_NEXT, or if it is not needed */
  double next_drho;
  const double *ramp; /**< one factor per condition */
  double ghost;       /**< what the ghost cell of a side with a state sends; else 0 */
  double lag[3];      /**< velocity of `sent` minus that of the flow, by the drag of a porous cell; else 0 */
  double spread
      [3]; /**< by axis along the side: half of (populations sent in both directions minus those arriving from both), or 0 */
} gab_open_view;

/** Sets `next` or `mirrored` from the sent populations, and the spreads to 0. @param[in] k  0: next; 1: mirrored
 *  @param[in] given  the population that arrives in the next cell or in this one, or that the other cell has sent;
 *  ignored for ::GAB_OPEN_SELF */
static inline void gab_open_take(const gab_open_link *link, int k, double given, gab_open_view *seen)
{
  const double self = seen->sent[k == 0 ? link->q : link->mirror];
  const uint8_t source = link->source[k];
  const double value = source == GAB_OPEN_SELF ? self : source == GAB_OPEN_LINEAR ? 2 * self - given : given;
  if (k == 0) seen->next = value;
  else seen->mirrored = value;
  for (int axis = 0; axis < 3; axis++) seen->spread[axis] = 0;
}
/** @param[in] along  the direction along an axis @param[in] up,down  populations that arrive along it and against it */
static inline void gab_open_spread(int axis, int along, double up, double down, gab_open_view *seen)
{
  seen->spread[axis] = 0.5 * (seen->sent[along] + seen->sent[gab_lattice_opposite(along)] - (up + down));
}

/** Mass balance of the walls of bodies: wall_balance.c. Equal on all processes, part of the state. */
typedef struct gab_wall_balance {
  bool is_on;
  /** mass that walls have created and not yet removed, in units of 2^-#GAB_WALL_EXCESS_BITS */
  int64_t excess;
  int64_t weight; /**< of all linear links, by direction, in units of 2^-#GAB_WALL_WEIGHT_BITS */
  double returned[GAB_LATTICE_MAX_Q]; /**< by direction: added to each population that a linear link writes */
} gab_wall_balance;

/** Excess is counted in multiples of 2^-50 of the mass of a cell of level 0: sums of integers do not depend on their order. */
#define GAB_WALL_EXCESS_BITS 50
#define GAB_WALL_WEIGHT_BITS 40
/** Rounds a value of less than 2 in size to a multiple of 2^-50. Doubles add such multiples exactly up to 8. */
static inline double gab_wall_excess_of(double value) { return (value + 6) - 6; }

/* ------------------------------------------------------------------------------------------ model and blocks
 */

#define GAB_CELL_IS_FLUID   ((gab_flag_bits)1)
#define GAB_CELL_IS_SOLID   ((gab_flag_bits)2)
#define GAB_CELL_IS_OUTSIDE ((gab_flag_bits)4)
#define GAB_CELL_IS_FINER   ((gab_flag_bits)8) /* a ghost cell in a finer block */

/** Populations that cross from a block to its neighbour in one direction, with their places in both; equal for all blocks.
 *  Cells are indices in component 0; gab_storage maps them to populations. */
typedef struct gab_ghost_side {
  int16_t q[GAB_LATTICE_MAX_Q]; /**< the populations that cross */
  int count;
  bool across;    /**< over the first or the last slab */
  int8_t along_x; /**< -1, 0, 1: position of the receiver along x relative to the sender */
  bool leaves_below[GAB_LATTICE_MAX_Q],
      leaves_above
          [GAB_LATTICE_MAX_Q]; /**< for sides with along_x 0: whether a population leaves the columns of the
                                            receiver again, below or above */
  ptrdiff_t send, receive;     /**< first cell of the sender, first ghost of the receiver */
  int32_t extent[3];
  size_t cells;
} gab_ghost_side;

/** Levels that a flow can have. */
#define GAB_LBM_LEVELS 12

/** Parameters of a level. The lattice velocity is the same on all levels, so cells half as wide take two steps for one. */
struct gab_level_model {
  int level;
  gab_collision_rates rates;
  double bulk_rate; /* of the trace of the stress: that of the even parts, except for MRT */
  double
      softness[GAB_SIDE_COUNT]; /* speed of sound over the length of the domain across the side, per step */
  double volume;                /* of a cell, in cells of level 0 */
};

/** The neighbour of a block in a direction. */
typedef enum gab_beside_kind {
  GAB_BESIDE_NOTHING = 0,
  GAB_BESIDE_SAME,
  GAB_BESIDE_COARSER,
  GAB_BESIDE_FINER
} gab_beside_kind;
typedef struct gab_beside {
  uint8_t kind[GAB_DIRECTIONS];
  uint8_t finer[GAB_DIRECTIONS]; /**< bits: existing children of that place */
} gab_beside;
gab_beside gab_beside_of(const gab_forest *forest, const gab_block *block);

/** Exchange of a block with other levels, see level_interface_impl.h. */
typedef struct gab_level_interface gab_level_interface;

/** Data of the flow that blocks need; part of gab_lbm. */
struct gab_lbm_model {
  gab_lbm_options options; /* defaults filled in */
  const gab_lattice *lattice;
  int32_t cells[3]; /* of a block */
  const gab_geometry *geometry;
  gab_geometry *own_geometry; /* created here if none was given */
  gab_level_model level[GAB_LBM_LEVELS];
  const gab_kernel *kernel;
  gab_kernel_variant variant;
  const gab_kernel_family *family;
  gab_field_shape shape; /* of the populations of a block, and the map of their field */
  gab_field_map map;
  int along[3]; /* by axis: the direction of velocity +1 along it; 0: the lattice has none */
  /* of dense blocks: step/fused/fused_impl.h; NULL: each block has its own field */
  struct gab_fused_fields *fused_fields;
  int slab_axis; /* a block is swept by slabs of some layers across its last axis */
  int32_t slab_layers;
  int32_t slabs;
  gab_ghost_side ghost_sides[GAB_DIRECTIONS]; /* by direction from the sender */
  gab_storage storage[2]; /* the storage states of the field of a block; the first is the initial one */
  double sparse_below;    /* share of fluid cells below which a block is sparse; 0: never, 2: always */
  struct gab_link_templates *link_templates; /* link_template_impl.h; changed while blocks are made */
  bool times_blocks;
  const struct gab_local_force *local_force; /* borrowed; NULL: none */
  gab_open_fn arrives[GAB_MOST_CONDITIONS];  /* of open conditions; of others NULL */
  bool reads_next_density[GAB_MOST_CONDITIONS];
  bool reads_next_cell[GAB_MOST_CONDITIONS]; /* links read all that the next cell has sent */
  bool plays_planes;                         /* some condition has its velocity from a plane of another run */
  unsigned sponges;                          /* bits of sides with a sponge, also on a patch */
  unsigned state_sides;                      /* bits of sides with a condition that keeps a state */
  gab_wall_balance walls;
  const gab_forest *forest;  /* of a local force */
  struct gab_porous *porous; /* owned; NULL: no porous region: porous/drag_impl.h */
};

/** Data of a block. */
typedef struct gab_lbm_block gab_lbm_block;
typedef struct gab_sparse gab_sparse;
typedef struct gab_sparse_draft gab_sparse_draft;

/** A side whose ghosts come from a local block; or the sides of adjacent blocks of a fused group, whose ghosts come from as
 *  many adjacent blocks. */
typedef struct gab_lbm_fetch {
  const gab_lbm_block *source; /**< the first */
  const gab_ghost_side *side;
  const gab_lbm_block *last; /**< receiver of the ghosts */
  int32_t blocks;
} gab_lbm_fetch;

/** Slabs [first, last). */
typedef struct gab_lbm_slabs {
  size_t first, last;
} gab_lbm_slabs;

struct gab_lbm_block {
  gab_field *src;                   /* the state; in a fused field a view of it */
  struct gab_fused_place *in_fused; /* NULL: it has a separate field */
  gab_field *dst;                   /* destination of the next step; NULL in place */
  /* storage state of src. Adjacent blocks may differ, since exchanged and packed data does not depend on it */
  const gab_storage *now;
  gab_sparse *sparse; /* stores fluid cells only: lbm/sparse/sparse_impl.h; NULL: stores all cells */
  uint64_t work;      /* nanoseconds of all threads, if measured */
  gab_flags *flags;   /* while the block is made */
  uint8_t *porous; /* owned; by cell without ghosts 1 + its porous region, 0: none; NULL: no cell is porous */
  /* owner of the lists of runs, links and the interface; NULL: the block owns them */
  struct gab_link_template *link_template;
  gab_run *runs;
  size_t run_count;
  size_t *run_start; /* per slab, and at the end */
  /* Set by gab_fused_fields_link() and gab_fused_fields_pack(), when the flow joins its blocks, or the grid has not
   * changed for some steps. */
  gab_lbm_block *left,
      *right; /* its neighbours along x in the same fused field, without ghosts between them */
  /* Set by gab_lbm_update_plan(). */
  gab_lbm_block *next;       /* of its fused group: swept together with it */
  const gab_run *fused_runs; /* of the first block of the group: the rows of all blocks, slab by slab */
  const size_t *fused_start;
  gab_lbm_fetch fetches[GAB_DIRECTIONS - 1];
  int fetch_count;
  uint32_t remote;                        /* directions of the senders of messages */
  gab_lbm_slabs early_sweep, early_links; /* slabs that need no messages; ghosts if any sweep */
  uint64_t fluid_cells;
  gab_links links;
  gab_side_state *side_state; /* set when the flow joins its blocks; NULL: no side keeps a state; borrowed */
  const gab_level_model *at;  /* its level */
  gab_beside beside;          /* at the time when flags and links were made */
  gab_level_interface *interface; /* NULL: all neighbours have its level */
  bool is_joined;                 /* the interface is that of `beside` */
  int64_t first[3];               /* cell of the domain at (0, 0, 0), in cells of its level */
  gab_block_id id;
};

/** What the ghost cell of a link sends, for gab_open_view.ghost; again and again in a sub-step. @param[in] next  gab_open_view.next */
static inline double gab_open_ghost(const gab_lbm_model *model, const gab_lbm_block *block,
                                    const gab_open_link *link, double next)
{
  if (link->state == 0) return 0;
  const gab_side *side = gab_lbm_condition(&model->options, link->conditions[link->side / 2]);
  return gab_side_state_advance(block->side_state, link->state, side->advection, next);
}

/** Times of the parts of a step of one thread, in seconds. */
typedef struct gab_lbm_clock {
  _Alignas(GAB_ALIGNMENT) double ghosts, links, sweep, interfaces, messages, all;
} gab_lbm_clock;

/** A share of the work on one block or, in a step, on a group of blocks swept together (`next`). */
typedef struct gab_lbm_job {
  gab_lbm_block *block;
  size_t part, parts;
  size_t first_slab, last_slab; /**< its slabs */
  size_t by;                    /**< the thread that last swept it */
} gab_lbm_job;

typedef struct gab_lbm_jobs {
  gab_lbm_job *list; /* owned */
  size_t count;
} gab_lbm_jobs;

/** The jobs of a thread; other threads help when they have finished theirs. */
typedef struct gab_lbm_queue {
  _Alignas(GAB_ALIGNMENT) atomic_size_t next; /* in a separate cache line */
  size_t first, last;
} gab_lbm_queue;

/** The plan of a step, equal from step to step: jobs of threads, and sources of ghosts. */
typedef struct gab_lbm_plan {
  gab_lbm_jobs jobs;
  gab_lbm_queue *queues; /* owned; one per thread, over all jobs in their order */
  gab_run *runs;         /* owned; of all fused groups of more than one block */
  size_t *run_starts;    /* owned */
  size_t threads;
  bool has_early, has_late; /* slabs that need no messages, and that need messages */
  bool knows_temporal_plan;
  struct gab_temporal_plan *temporal; /* owned: temporal_block_impl.h; NULL: one step at a time */
  uint64_t exchange;                  /* number of the exchange plan for which it was made; 0: none */
} gab_lbm_plan;

/** Progress of the exchange of a step. */
typedef enum gab_lbm_ghosts { GAB_GHOSTS_STALE, GAB_GHOSTS_UNDER_WAY, GAB_GHOSTS_THERE } gab_lbm_ghosts;

/** The blocks of a level in a step. */
typedef struct gab_lbm_stage {
  gab_exchange *exchange;
  gab_lbm_plan plan;
  bool is_settled;     /* ghosts and links are set, not only requested */
  bool inner_is_swept; /* slabs that need no messages have been swept */
  uint64_t revision;   /* of the forest when the ghosts were filled; 0: never */
} gab_lbm_stage;

/** Blocks that are computed twice: recompute.c. */
typedef struct gab_lbm_recompute gab_lbm_recompute;

struct gab_lbm {
  gab_lbm_model model;
  gab_forest *forest;
  gab_world *world;
  gab_data_id data;
  gab_data_id side_states; /* {0}: no side keeps a state */
  gab_lbm_stage stage[GAB_LBM_LEVELS];
  gab_coupling *coupling;
  uint64_t joined;      /* revision of the forest for which all blocks have been joined */
  gab_step joined_in;   /* step of the last join ... */
  bool is_packed;       /* ... blocks that could not be adjacent then have been moved since */
  int deepest;          /* level of a block of this process or of its neighbours; 0: one level only */
  gab_lbm_clock *clock; /* owned; one per thread; NULL: timing is off */
  size_t clocks;
  gab_step step;
  gab_side_statistics statistics; /* part of the state if a side uses them */
  double scale
      [GAB_MOST_CONDITIONS]; /**< of the velocity of a condition; not 1 if it has a flow rate, 0 before it is
                              *  determined. Part of the state */
  uint64_t temporally_blocked_steps; /* in temporal blocks: gab_lbm_steps() */
  size_t temporal_cache;             /* bytes of the last cache for a temporal block of a thread */
  gab_lbm_ghosts ghosts;             /* of the next step on level 0; finer levels follow it */
  /* created by the walls of this process in the present step, as gab_wall_balance.excess */
  int64_t walls_made;
  bool wants_forces, has_forces;
  bool wants_side_loads, has_side_loads;
  struct gab_side_load_sums
      *side_loads;              /* one per condition: the share of this process; sides/side_loads_impl.h */
  struct gab_body_sums *forces; /* one per body: the share of this process; boundaries/body_sums_impl.h */
  gab_lbm_recompute *recompute; /* owned; NULL: no block was computed twice so far */
};

/** gab_lbm_clear_solid() for one block, which then equals a restored one. */
gab_status gab_lbm_clear_solid_of(const gab_lbm_model *model, gab_lbm_block *block);

/** Brings the plan up to date with the forest, the world and the number of threads. Local. */
gab_status gab_lbm_update_plan(gab_lbm *lbm, int level);
void gab_lbm_drop_plan(gab_lbm_plan *plan);

/** Lists the present local blocks, split such that all threads have work; in the order of blocks and cells. @param[in]
 *  level  -1: of all levels */
gab_status gab_lbm_make_jobs(const gab_lbm *lbm, int level, gab_lbm_jobs *jobs);
/** The present local blocks in their order, owned by the caller. @param[in] level  -1: of all levels */
gab_status gab_lbm_list_blocks(const gab_lbm *lbm, int level, gab_lbm_block ***blocks, size_t *count);
/** The jobs of some blocks, or of fused groups by their first blocks. */
gab_status gab_lbm_jobs_of(const gab_lbm *lbm, gab_lbm_block *const *blocks, size_t count,
                           gab_lbm_jobs *jobs);
void gab_lbm_release_jobs(gab_lbm_jobs *jobs);
/** The items [*first, *last) of `count` that belong to a job. */
static inline void gab_lbm_share(const gab_lbm_job *job, size_t count, size_t *first, size_t *last)
{
  *first = count * job->part / job->parts;
  *last = count * (job->part + 1) / job->parts;
}
/** The links of one list that belong to a job's slabs. */
static inline void gab_lbm_links_of(const gab_lbm_job *job, int list, size_t *first, size_t *last)
{
  *first = job->block->links.start[job->first_slab][list];
  *last = job->block->links.start[job->last_slab][list];
}
/** Fluid cells of a fused group. @param[in] first  its first block */
static inline uint64_t gab_lbm_fluid_of(const gab_lbm_block *first)
{
  uint64_t cells = 0;
  for (const gab_lbm_block *block = first; block; block = block->next) cells += block->fluid_cells;
  return cells;
}
static inline uint64_t gab_lbm_cells_of(const gab_lbm_model *model)
{
  return (uint64_t)model->cells[0] * (uint64_t)model->cells[1] * (uint64_t)model->cells[2];
}
static inline gab_lbm_block *gab_lbm_block_of(const gab_lbm *lbm, const gab_block *block)
{
  return gab_block_data(block, lbm->data);
}

/** The table of callbacks of the populations. @param[in] model  its user */
gab_block_data_kind gab_lbm_block_kind(gab_lbm_model *model);
/** gab_block_data_kind.work; in clock.c. */
uint64_t gab_lbm_block_work(void *user, void *data, bool forget);
/** Canonical data: direction by direction the fluid cells in z, y, x order, in the precision of the field. */
size_t gab_lbm_packed_size(const gab_lbm_model *model, const gab_lbm_block *block);
gab_status gab_lbm_pack(const gab_lbm_model *model, const gab_lbm_block *block, gab_buffer *out);
gab_status gab_lbm_unpack(const gab_lbm_model *model, gab_lbm_block *block, gab_reader *in);
/** The same of several blocks of one fused field, in the order of their columns, each with its own image. */
gab_status gab_lbm_pack_together(const gab_lbm_model *model, const gab_lbm_block *const *blocks, size_t count,
                                 gab_buffer *const *out);
gab_status gab_lbm_unpack_together(const gab_lbm_model *model, gab_lbm_block *const *blocks, size_t count,
                                   gab_reader *const *in);
/* Callbacks of the table; user is the model. */
gab_status gab_lbm_split(void *user, const gab_forest *forest, const gab_block *parent,
                         const void *parent_data, const gab_block *const *children,
                         void *const *children_data);
gab_status gab_lbm_merge(void *user, const gab_forest *forest, const gab_block *const *children,
                         const void *const *children_data, const gab_block *parent, void *parent_data);
gab_ghost_kind gab_lbm_ghost_kind(gab_lbm_model *model);

/** Rebuilds a block, with its state, if its neighbours have changed since it was created. */
gab_status gab_lbm_remake(gab_lbm_model *model, const gab_forest *forest, const gab_block *place,
                          gab_lbm_block *block);
/** @param[in,out] draft  of a sparse block, else NULL */
gab_status gab_links_build(const gab_lbm_model *model, gab_lbm_block *block, gab_sparse_draft *draft);
void gab_links_release(gab_links *links);
/** As gab_side_terms(), of bodies too. @param[in] wall  cell of the domain, of `level` */
void gab_links_wall_terms(const gab_lbm_model *model, int level, const int64_t wall[3], int q,
                          gab_wall_terms *terms);
/** The condition of a place beyond a side: that of the face of level 0 next to it. Pure. @param[in] place  cell of the domain, of `level`;
 *  perhaps beyond other sides too */
static inline int gab_condition_at(const gab_lbm_model *model, int level, const int64_t place[3], int side)
{
  const gab_patches *patches = model->options.patches;
  int64_t face[3];
  if (!patches || !(patches->sides >> side & 1)) return side;
  for (int axis = 0; axis < 3; axis++)
    face[axis] = place[axis] >> (axis < model->lattice->dimension ? level : 0);
  return gab_patches_condition_at(patches, gab_geometry_domain(model->geometry), side, face);
}
static inline const gab_side *gab_side_at(const gab_lbm_model *model, int level, const int64_t place[3],
                                          int side)
{
  return gab_lbm_condition(&model->options, gab_condition_at(model, level, place, side));
}
/** GAB_CELL_IS_... of a cell of a block, or a ghost: by geometry and the levels around. Pure. */
gab_flag_bits gab_lbm_flag_of(const gab_lbm_model *model, const gab_lbm_block *block, const int32_t at[3]);
/** The body that makes a cell solid, or its parents or children where the level has no block; -1:
 *  none. */
int gab_lbm_body_at(const gab_lbm_model *model, int level, const int64_t cell[3]);
/** Writes the populations of boundary cells. @param[in] ramp  all factors */
void gab_links_apply(const gab_lbm_model *model, const gab_lbm_job *job, const double ramp[GAB_SIDE_FACTORS]);

/** Contribution of a wall with a log law to a population, with that of a slip link: ground.c. Pure. @param[in] sent
 *  by the fluid cell @param[in] free  the same without the drag of a porous cell, for the velocity */
double gab_ground_of_link(const gab_lbm_model *model, const gab_level_model *at, const gab_slip_link *link,
                          const double *sent, const double *free);
/** The mixing length of a log law, in cells. Pure. @param[in] height  of the middle of a cell above the wall, with the roughness length added */
double gab_ground_mixing_length(double height);
/** Share of the stress after a collision with the eddy viscosity of a mixing length, relative to that with the
 *  viscosity of the fluid. Pure.
 *  @param[in] rate  of the fluid @param[in] square  sum of squares of the second moments of the non-equilibrium,
 *  before the collision @param[in] divisor  density; with moments after the collision, times rate - 1 */
double gab_ground_kept(double rate, double length, double square, double divisor);
/** Replaces the outgoing non-equilibrium of a cell by the stress after a collision with the eddy viscosity of a
 *  mixing length. Pure. @param[in] drho  density - 1 of the cell @param[in] length  mixing length, in cells
 *  @param[in,out] rest  by direction @return the share of the stress that it keeps, 0 to 1 */
double gab_ground_mix(const gab_lbm_model *model, const gab_level_model *at, double drho, double length,
                      double rest[GAB_LATTICE_MAX_Q]);
/** Term of a wall with a slip length for a population: slip.c. Pure. @param[in] sent  by the fluid cell
 *  @param[in] free,next_free  by it and the next one, without the drag of porous cells */
double gab_slip_of_link(const gab_lbm_model *model, const gab_level_model *at, const gab_slip_link *link,
                        const double *sent, const double *free, const double *next_free);

/** Whether the walls of a model have to be balanced: an interpolated or moving body, and no side that sets the mass. */
bool gab_wall_balance_is_needed(const gab_lbm_model *model);
/** Adds the mass that links of a level created in the last sub-step. Local. */
void gab_wall_balance_collect(gab_lbm *lbm, int level);
/** Sums the excess since the last call over all processes, and sets what walls remove in the next step.
 *  Collective. */
gab_status gab_wall_balance_close(gab_lbm *lbm);
/** Mass in the cells that the walls remove in the next step. */
double gab_wall_balance_mass(const gab_lbm *lbm);
/** Takes the excess of a restored state, and derives the rest. */
void gab_wall_balance_set(gab_lbm *lbm, int64_t excess, int64_t weight);

/** Determines the populations that cross in each direction. */
void gab_lbm_list_sides(gab_lbm_model *model);
/** A visitor of gab_exchange_visit(): records in block `to` whether ghosts come from a local block or by
 *  message. */
void gab_lbm_note_way(void *user, const void *from, void *to, int direction);
/** Simplifies the recorded transfers of a fused group. Transfers across edges and corners next to another block of
 *  the group are dropped: their ghosts belong to a face of that block, which fetches them from the same source. (From
 *  a sparse block each block fetches only its own.) Transfers that continue in both adjacent blocks are merged.
 *  @param[in] first  of the fused group */
void gab_lbm_join_ways(const gab_ghost_side *sides, gab_lbm_block *first);
/** Sets ghosts of some slabs from blocks of this process: those of sides parallel to the slab axis or, with `across`,
 *  those of all other sides, for all slabs. */
void gab_lbm_fill_ghosts(const gab_lbm_model *model, const gab_lbm_job *job, bool across);
/** A sub-step of a level, and the additional work of its blocks, see level_interface_impl.h. */
typedef struct gab_lbm_substep {
  int level;
  double time; /**< in steps of level 0 */
  int sub;     /**< 0: s1, 1: s2 of a step of the coarser level; level 0 has only s1 */
  /** ghosts in coarser blocks are set first, and populations for coarser blocks are collected */
  bool has_coarser;
  bool has_finer; /**< populations that arrive next to finer blocks are corrected before the sweep */
} gab_lbm_substep;
/* The parts of a step of the blocks of one level; gab_lbm_exchange_start() and so on are those of level 0. */
gab_status gab_lbm_start_on(gab_lbm *lbm, int level);
/** Between start and finish: sweeps the slabs that need no messages of the level, unless other work must come
 *  first. */
gab_status gab_lbm_collide_inner_on(gab_lbm *lbm, const gab_lbm_substep *at);
gab_status gab_lbm_finish_on(gab_lbm *lbm, int level);
/** Sets all ghosts and writes links, if that was deferred. @param[in] time  in steps
 */
gab_status gab_lbm_settle_on(gab_lbm *lbm, const gab_lbm_substep *at);
gab_status gab_lbm_collide_on(gab_lbm *lbm, const gab_lbm_substep *at);
/** The formula of a factor at a time, in steps. Pure. @return ::GAB_ERR_INPUT if it is not finite or beyond its limit */
gab_status gab_lbm_check_factor(const gab_lbm *lbm, int condition, double steps);
/** Statistics of the state, nothing if no factor uses any (sides/side_factor.c). */
gab_status gab_lbm_pack_statistics(const gab_lbm *lbm, gab_buffer *out);
gab_status gab_lbm_unpack_statistics(const gab_lbm *lbm, gab_reader *in, gab_side_statistics *read);
/** A condition with a flow rate before gab_lbm_set_flow_rates(); -1: none. Pure. */
int gab_lbm_lacks_flow_rate(const gab_lbm *lbm);
void gab_lbm_ramps(const gab_lbm *lbm, double time, double ramp[GAB_SIDE_FACTORS]);
/** Calls the kernel for runs of a block, or of rows into which its cells are gathered. @param[in] before,after  storage
 *  states of `from` and `to`; @param[in] end  as gab_sweep.end */
static inline void gab_lbm_sweep_runs(const gab_lbm_model *model, const gab_lbm_block *block,
                                      const void *from, void *to, const gab_storage *before,
                                      const gab_storage *after, const gab_run *runs, size_t count,
                                      const gab_run *end)
{
  const gab_sweep sweep = {.from = from,
                           .to = to,
                           .arriving = before->arriving,
                           .sent = after->sent,
                           .rates = &block->at->rates,
                           .lattice = model->lattice,
                           .collision = model->options.collision,
                           .reals = model->variant.reals,
                           .forced = model->variant.forced,
                           .end = end};
  model->kernel->run(&sweep, runs, count);
}
/** Sweeps a slab of a block of any kind from state `now` to the next. @param[in] ramp  all factors */
void gab_lbm_sweep_slab(const gab_lbm_model *model, gab_lbm_block *block, size_t slab,
                        const double ramp[GAB_SIDE_FACTORS]);
/** The same of all blocks of a fused group, row by row. @param[in] first  its first block */
void gab_lbm_sweep_fused(const gab_lbm_model *model, gab_lbm_block *first, size_t slab,
                         const double ramp[GAB_SIDE_FACTORS]);
/** Populations that cells of a slab have sent, right after their sweep. */
typedef struct gab_sponge_cells {
  gab_field *field;
  const ptrdiff_t *sent;
  bool is_part;          /**< the field has only `count` cells of the slab, from number ... */
  uint32_t shift, count; /**< ... shift; else 0 */
} gab_sponge_cells;
/** Sets gab_lbm_model.sponges. */
void gab_sponge_list(gab_lbm_model *model);
/** The rate of the stress in a cell, including the viscosity of its sponges: that of collision and sponges together.
 *  Pure.
 *  @param[in] cell  its number in the block @param[in] moment  of the incoming non-equilibrium @param[in] rate  that
 *  of its collision */
double gab_sponge_rate(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t cell, double rho,
                       double moment[3][3], double rate);
/** Applies the sponges of all sides to cells of a slab: sides/sponge.c. @param[in] ramp  all factors */
void gab_sponge_apply(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab,
                      const gab_sponge_cells *at, const double ramp[GAB_SIDE_FACTORS]);
/** Applies the local force to a slab after its sweep, before the states of the block are switched: step/local_force.c */
void gab_lbm_push_slab(const gab_lbm_model *model, const gab_lbm_block *block, size_t slab);

/* Blocks that are computed twice (recompute.c). All local. */
/** Whether blocks are kept or compared in this step, so that no cell may be swept before. */
bool gab_lbm_recompute_waits(const gab_lbm *lbm);
/** Whether a block of this process is computed twice in this sub-step. */
bool gab_lbm_recompute_is_due(const gab_lbm *lbm, const gab_lbm_substep *at);
/** The first keeps these blocks right before the sweep; the second sweeps the kept blocks again after it and compares. */
gab_status gab_lbm_recompute_keep(gab_lbm *lbm, const gab_lbm_substep *at);
gab_status gab_lbm_recompute_compare(gab_lbm *lbm, const gab_lbm_substep *at);
/** Before the sweep of a level and its corrections: verifies that the blocks compared last have not changed since. */
gab_status gab_lbm_recompute_begin(gab_lbm *lbm, int level);
void gab_lbm_recompute_release(gab_lbm *lbm);

/** Adds the time since `start`, in which only the calling thread worked, if parts are timed. */
void gab_lbm_clock_messages(gab_lbm *lbm, double start);
static inline double gab_lbm_clock_now(const gab_lbm *lbm) { return lbm->clocks > 0 ? gab_seconds() : 0; }

/** Joins blocks with those of other levels, if the forest has changed. Local. */
gab_status gab_lbm_join(gab_lbm *lbm);
/** Before the exchange of a step: moves blocks to adjacent places in fused fields, once the forest has not changed for
 *  some steps. Local. */
void gab_lbm_pack_fused(gab_lbm *lbm);
/** A step on several levels, except the exchange of level 0. */
gab_status gab_lbm_advance(gab_lbm *lbm);
/** Provides in all cells the populations that arrive in the next step, approximately next to finer cells. The state does
 *  not change. Collective among neighbours. */
gab_status gab_lbm_fill_arrivals(gab_lbm *lbm);

/** Adds the share of this process to the forces of this step or sub-step. After gab_links_apply(). @param[in] sub of
 *  gab_lbm_substep */
void gab_lbm_add_forces(gab_lbm *lbm, int level, int sub);
/** Adds the forces of replaced populations next to finer blocks to bodies; after the collision of that level. */
void gab_lbm_add_replaced_forces(gab_lbm *lbm, int level);
void gab_lbm_clear_forces(gab_lbm *lbm);

/** The uniform initial state. Pure. */
gab_lbm_state gab_lbm_uniform_state(const gab_lbm_options *options);
/** Population q after collision that belongs to a state, as deviation from the weight. Pure. */
double gab_lbm_population(const gab_lbm_model *model, const gab_level_model *at, int q,
                          const gab_lbm_state *state);
/** sqrt(2 S:S) with the strain rate S of a velocity gradient. Pure. */
double gab_lbm_shear_rate(double gradient[3][3]);
/** Populations of the initial state in all fluid cells of a new block. */
void gab_lbm_initialise(const gab_lbm_model *model, const gab_forest *forest, const gab_block *block,
                        gab_lbm_block *data);

/** Of the recursive-regularised collisions: gab_collision.equilibrium_beyond; in collision_rr.c. */
double gab_collision_equilibrium_beyond(const gab_lattice *lattice, int q, double drho, const double u[3]);
/** The equilibrium of the model's collision, as deviation from the weight. */
static inline double gab_lbm_equilibrium(const gab_lbm_model *model, int q, double drho, const double u[3])
{
  const gab_collision *collision = model->options.collision;
  const double second = gab_lattice_equilibrium(model->lattice, q, drho, u);
  return collision->equilibrium_beyond ? second + collision->equilibrium_beyond(model->lattice, q, drho, u)
                                       : second;
}

/** Density minus 1 and velocity of post-collision deviations f[q]. */
void gab_lbm_moments(const gab_lbm_model *model, const gab_level_model *at, const double *f, double *drho,
                     double velocity[3]);

/** The same for up to #GAB_LBM_ROW cells side by side, bit by bit equal; in porous cells the velocity of the flow. */
#define GAB_LBM_ROW 128
typedef struct gab_lbm_row {
  double drho[GAB_LBM_ROW], u[3][GAB_LBM_ROW];
} gab_lbm_row;
/** @param[in] start  index of the first cell in the field of `block` @param[in] cell  its index or number in the block */
void gab_lbm_row_moments(const gab_lbm_model *model, const gab_lbm_block *block, uint32_t start,
                         int32_t count, uint32_t cell, gab_lbm_row *row);

/** Called with at most #GAB_LBM_ROW adjacent cells, the first one with index or number `cell` of the
 *  block.
 *  @param[in] sent  a block as for gab_lbm_row_moments(), `start` the index of the first cell there
 *  @return false to end the visit */
typedef bool (*gab_lbm_row_visitor)(void *user, const gab_lbm_block *sent, uint32_t start, int32_t count,
                                    uint32_t cell);
/** Visits the fluid cells of a job, in order, in blocks of any kind. @return false if the visit was ended */
bool gab_lbm_visit_rows(const gab_lbm_model *model, const gab_lbm_job *job, gab_lbm_row_visitor visit,
                        void *user);
/** The same for arriving populations, for now->arriving. */
bool gab_lbm_visit_arriving_rows(const gab_lbm_model *model, const gab_lbm_job *job,
                                 gab_lbm_row_visitor visit, void *user);
/** The first run of a block that ends after a given cell. */
size_t gab_lbm_run_from(const gab_lbm_block *block, int32_t x, int32_t y, int32_t z);

#endif
