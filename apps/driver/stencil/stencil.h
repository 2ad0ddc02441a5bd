/* SPDX-License-Identifier: Apache-2.0 */
/** @file stencil.h
 *  @brief A solver of fields on cells, explicit in time: a program supplies the equation, and becomes a `gabion` of
 *  its own.
 *
 *  The state is some numbers in each cell of a grid. A program defines the initial values of a cell, and the next
 *  state of a block from its present state and some layers of cells around it (default: one):
 *  @code
 *    static void diffuse(const gab_stencil_block *at)
 *    {
 *      const double k = gab_config_real(at->config, "heat.k");
 *      ... gab_field_set(at->next, x, y, z, 0, here + k * (around - 6 * here)); for all cells
 *    }
 *    static const gab_stencil heat = {.name = "heat", .title = "conduction of heat", ..., .update = diffuse};
 *    int main(int argc, char **argv) { return gab_stencil_main(argc, argv, &heat); }
 *  @endcode
 *  This gives the commands run, check, plan, help, info and status, strict parameter files with a section `heat`,
 *  steps with ghost exchange on all processes and threads, fields, slices, a table of sums, checkpoints in memory and
 *  on disk, and fault injection. Complete examples: apps/tutorial/heat.c and gray_scott.c.
 *
 *  Levels
 *  ------
 *  A stencil with the flag `adaptive` may have blocks of wider cells. The section NAME.refinement of a parameter file
 *  has their levels and the criteria by which blocks split and merge during the run, each with a field and thresholds.
 *  The finest cells are those of domain.cells. Others are gab_stencil_block.width times as wide, which `update` must
 *  take into account. All levels take the same time step, so the finest cells set the limit of an explicit scheme.
 *  Ghosts between levels and conservation: blockforest/exchange/level_ghosts.h. In short: if a step is a constant
 *  times differences of adjacent cells (conduction, diffusion), the volume sum is kept to rounding. It is kept also
 *  when blocks split and merge. Other fluxes do not match exactly at borders. Blocks that split pass slopes to the new
 *  cells, limited so that no new extremes appear (gab_block_field.linear_split).
 *
 *  Sides
 *  -----
 *  Opposite sides of the domain are periodic, unless the section `boundaries` of the parameter file gives both sides
 *  along an axis another type:
 *  @code
 *    boundaries:
 *      x_min: {type: value, temperature: 1}         # at the side; omitted fields: 0
 *      x_max: {type: gradient, temperature: -0.5}   # derivative along the outward normal, per length of domain.length
 *      y_min: {type: mirrored, odd: [velocity_y]}   # fields in `odd` change their sign
 *      y_max: {type: mirrored, odd: [velocity_y]}
 *  @endcode
 *  Values and gradients may be formulas of x, y, z, t and of the section `constants`, e.g.
 *  `temperature: 1 + 0.1 * sin(2 * pi * t)`; those of implicit fields are numbers. With gab_stencil.beyond the program
 *  sets ghosts of sides of type `own`. A ghost beyond a side follows from its mirror cell inside: a value is the mean
 *  of both, a gradient their difference divided by their distance. With a value or a gradient diffusion is of second
 *  order, with mirrors of any order. Implicit fields have the same sides.
 *
 *  Staggered fields
 *  ----------------
 *  `centring` is the position of the values of each field in a cell: its centre, or its lower faces, edges or corner.
 *  Fields remain arrays of cells, component i of cell (x, y, z). `start` receives the position of each field's values,
 *  gab_stencil_position() returns it. The types `value` and `mirrored` (odd fields: 0) set values on a side of the
 *  domain, such as a velocity across it. They are set before each stage and after the last one: at the lower side in
 *  the first cells, at the upper one in the first ghosts. Files and pictures contain the values as stored. Not with
 *  levels.
 *
 *  Stages
 *  ------
 *  With `rate` instead of `update` a program supplies du/dt, and the library integrates in time. The method is rk3, or
 *  that of `integrator` or of the key NAME.integrator:
 *  - euler: one stage, first order.
 *  - rk2, rk3: two and three stages, strong stability preserving, second and third order (Shu & Osher 1988, J. Comput. Phys. 77, 439).
 *  - rk4: the classical method of four stages and fourth order.
 *
 *  With `stages` N, `update` is called N times per step, with the number in gab_stencil_block.stage. In each call
 *  `now` has the values of `next` from the previous call; `first` is the state at the beginning of the step. Ghosts of
 *  `now` are exchanged before each stage. Ghosts of `first` are those of the first stage. Both need one more field in
 *  memory, rk4 two. Checkpoints store whole steps only; after a death between stages the run returns to one.
 *
 *  Formulas
 *  --------
 *  The section `initial` replaces `start`: `initial: {temperature: exp(-(x^2 + y^2) / 0.01)}`. A source term is a key
 *  of the program of type ::GAB_CONFIG_EXPRESSION with the variables "x|y|z|t", evaluated by gab_stencil_evaluate().
 *
 *  Time
 *  ----
 *  A step takes the time 1 by default; `dt` is a constant step, and NAME.dt in parameter files sets it. With `bound` a
 *  step is the smallest bound of all blocks, times NAME.cfl. One reduction finds it, independent of the number of
 *  processes. The time is then part of the state: checkpoints store it, and replacement processes compute the same
 *  steps. gab_stencil_block.time and dt, the column `time` of tables, and summaries contain it. With run.time a run
 *  ends at that time; with `bound` the last step is shortened to end there.
 *
 *  Ends
 *  ----
 *  A run ends after its steps, or earlier: when no field changes faster than NAME.steady, or by the function `ended`.
 *  Both are checked every NAME.every steps. The log and summary.json state the reason. The result follows from the
 *  state, so it is the same after recoveries and when the run is resumed. A run resumed with other limits checks
 *  again.
 *
 *  Trial
 *  -----
 *  Before its first step each process tries `update` on copies of two of its blocks. The values of the run do not
 *  change. Elements that no exchange fills have other values in a copy, and then NaNs: beyond the ghosts, beyond edges
 *  and corners without `diagonals`, in components that do not exist, and in `next`. The run ends with block, cell,
 *  component and a remedy if `update`
 *  - depends on such a value, writes outside of the cells or into `now`, or leaves values of `next` unset;
 *  - gives other bits in a second call, in any stage: after another block, by another thread, with other bytes in
 *   unset memory, in the step;
 *  - makes NaN or infinity of finite values.
 *
 *  One block is also tried as in the next step: a field that `update` computes only in some steps must be copied in
 *  the others. `start`, `add`, `quantities` and `criteria` are tried too. Writing the whole of `next` is allowed
 *  (gab_field_copy(), memset()). An `update` that counts its own calls or writes files gets eight additional calls; it
 *  sets `untried`. The environment variable GABION_TRIAL=0 skips all trials. Blocks whose copies need more than 85 MiB
 *  are not tried. Limits: doc/extending.md.
 *
 *  Stability: stable.
 */
#ifndef GABION_APPS_DRIVER_STENCIL_H
#define GABION_APPS_DRIVER_STENCIL_H

#include "blockforest/output/own_quantity.h"
#include "core/base/version.h"
#include "field/field.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_STENCIL_MOST_IMPLICIT = 4 };
enum {
  GAB_STENCIL_MOST_FIELDS = 8,
  GAB_STENCIL_MOST_SUMS = 8,
  GAB_STENCIL_MOST_CRITERIA = 8,
  GAB_STENCIL_MOST_DEPTH = 8,
  GAB_STENCIL_MOST_STAGES = 16
};

/** Argument of `update`: a block and its step. */
typedef struct gab_stencil_block {
  const gab_config *config;
  const gab_forest *forest; /**< for gab_block_cell_centre() */
  const gab_block *block;
  gab_step step;        /**< number of the step, from 0 */
  int stage;            /**< stage of the step, from 0 */
  double time;          /**< of `now`: beginning of the step, in later stages by gab_stencil.stage_times */
  double dt;            /**< of the step */
  double width;         /**< of its cells, in cells of domain.cells: 1, 2, 4, ...; 1 without levels */
  int32_t cells[3];     /**< of the block; z is 1 in 2D */
  const gab_field *now; /**< component i is field i; `depth` layers of ghosts around it, in 2D none in z */
  gab_field *next;      /**< all cells must be set, ghosts need not */
  /** state at the beginning of the step, with its ghosts; in stage 0 equal to `now` */
  const gab_field *first;
} gab_stencil_block;

/** Position of the values of a field in a cell: a sum of 1, 2 and 4 for x, y and z. An axis in the sum: the lower
 *  face; otherwise the centre. In 2D z has no meaning. */
typedef enum gab_stencil_centring {
  GAB_STENCIL_CELL = 0,
  GAB_STENCIL_X_FACE = 1,
  GAB_STENCIL_Y_FACE = 2,
  GAB_STENCIL_Z_EDGE = 3, /**< parallel to z; in 2D a corner */
  GAB_STENCIL_Z_FACE = 4,
  GAB_STENCIL_Y_EDGE = 5,
  GAB_STENCIL_X_EDGE = 6,
  GAB_STENCIL_CORNER = 7
} gab_stencil_centring;

/** A measure of a block for refinement. `gradient` and `value` are built in. */
typedef struct gab_stencil_criterion {
  const char *name; /**< the `type` in parameter files */
  const char *doc;  /**< one sentence, for help */
  /** Pure; called by several threads. @param[in] now  all fields, with ghosts beyond faces, not beyond edges and
   *  corners
   *  @param[in] field  from the parameter file @return value for comparison with `above` and `below` */
  double (*measure)(const gab_field *now, int field);
} gab_stencil_criterion;

/** A ghost beyond a side of type `own`. */
typedef struct gab_stencil_ghost {
  const gab_config *config;
  int side;        /**< x_min, x_max, y_min, y_max, z_min, z_max: 0 to 5 */
  double place[3]; /**< the point on the side next to it */
  double time;
  double distance;      /**< of its centre from the side, equal to that of the mirror cell */
  const double *inside; /**< values of all fields in the mirror cell inside the domain */
} gab_stencil_ghost;

/** A cell for the evaluation of a quantity. */
typedef struct gab_stencil_cell {
  const gab_config *config;
  const gab_forest *forest; /**< for gab_block_cell_centre() */
  const gab_block *block;
  double time;          /**< of the state */
  double width;         /**< of the cell, in cells of domain.cells */
  const gab_field *now; /**< of the block, with ghosts as in `update` */
  int32_t x, y, z;      /**< index of the cell in the block; in 2D z is 0 */
} gab_stencil_cell;

/** A quantity derived from the fields, chosen by name for output.fields and output.slices. */
typedef struct gab_stencil_quantity {
  const char *name; /**< letters, digits, `_` and `-` */
  const char *doc;  /**< a few words, for help */
  const char *unit; /**< for readers; NULL: none */
  int components;   /**< 1 (scalar) or 3 (vector) */
  bool diverging;   /**< pictures use a colour map symmetric about 0 */
  /** A pure function, called by one thread at a time. @param[out] values  one for each component */
  void (*evaluate)(const gab_stencil_cell *at, double *values);
} gab_stencil_quantity;

/** Input for the decision to end; equal on all processes. */
typedef struct gab_stencil_end {
  const gab_config *config;
  gab_step step; /**< steps done */
  double time;
  const double *sums;   /**< of gab_stencil.sums */
  const double *change; /**< of each field: largest change of a cell in the last step, divided by dt */
} gab_stencil_end;

/** A field that each step solves for: alpha u - beta Laplace(u) = r, where r is the value of the field from `update`.
 *  Implicit diffusion over a time step dt has alpha 1 and beta k dt. A pressure has alpha 0 and beta 1; then the mean
 *  of r is subtracted and u has the mean 0. By multigrid, to 1e-10 of the largest right-hand side
 *  (blockforest/elliptic/elliptic.h): blocks of 2^n cells are best. On levels fluxes match at borders, and blocks have
 *  a multiple of 2^levels cells, 4 or more. */
typedef struct gab_stencil_implicit {
  int field; /**< from 0 */
  int stage; /**< solved after this stage, from 0 */
  /** Pure. @param[out] alpha, beta  not negative, not both 0; beta in units of squared cells: of domain.cells */
  void (*operation)(const gab_config *config, double *alpha, double *beta);
} gab_stencil_implicit;

typedef struct gab_stencil {
  const char *name;           /**< name of its section in parameter files and of its table of sums: "heat" */
  const char *title;          /**< with an article, for messages: "a heated plate" */
  int dimension;              /**< 2 or 3, others are refused; 0: both */
  const gab_config_key *keys; /**< of the section; the key `every' is added: interval of rows of sums */
  size_t key_count;
  const char *const *fields;            /**< their names, NULL-terminated, at most #GAB_STENCIL_MOST_FIELDS */
  const gab_stencil_centring *centring; /**< of each field; NULL: all in the centres of cells */
  /** Initial values of a cell of the finest level; wider cells get the mean. Pure; called by several threads. NULL:
   *  zeros. Called once for each position of fields in the cell. @param[in] centre  of the cell, or that position
   *  @param[out] values  zeros; of all fields, only those at this position are used */
  void (*start)(const gab_config *config, const double centre[3], double *values);
  /** Computes `next` of a block. Pure; called by several threads, each for another block. */
  void (*update)(const gab_stencil_block *at);
  int stages; /**< calls of `update` in a step, at most #GAB_STENCIL_MOST_STAGES; 0: one */
  /** of `now` in each stage, as shares of the step, the first one 0; NULL: all 0 */
  const double *stage_times;
  /** Instead of `update`: writes du/dt of all fields into `next`. */
  void (*rate)(const gab_stencil_block *at);
  /** of `rate`, default of NAME.integrator: "euler", "rk2", "rk3", "rk4"; NULL: rk3 */
  const char *integrator;
  double dt; /**< time step, default of NAME.dt; 0: the step is 1, without that key */
  /** Largest stable time step of a block; INFINITY: no limit. Pure; called by several threads. `next` is NULL, `dt`
   *  0. NULL: steps are constant. */
  double (*bound)(const gab_stencil_block *at);
  /** Values of a ghost beyond a side of type `own`. Pure; called by several threads. NULL: sides cannot have that
   *  type.
   *  @param[in,out] values  of all fields; on entry of the cell inside */
  void (*beyond)(const gab_stencil_ghost *at, double *values);
  bool untried;                         /**< skip the trial of its functions */
  const gab_stencil_implicit *implicit; /**< solved after `update`, in this order; may be NULL */
  size_t implicit_count;                /**< at most #GAB_STENCIL_MOST_IMPLICIT */
  int depth; /**< layers of ghosts, at most #GAB_STENCIL_MOST_DEPTH and the cells of a block along an axis; 0: one */
  bool diagonals; /**< ghosts beyond edges and corners are needed, too */
  /** `update` uses the width of cells: several levels are allowed. Not with `diagonals` or a `depth` of 2 or more */
  bool adaptive;
  const gab_stencil_criterion *criteria; /**< user-defined, at most #GAB_STENCIL_MOST_CRITERIA; may be NULL */
  size_t criterion_count;
  /** in addition to its fields, at most #GAB_MOST_OWN_QUANTITIES; may be NULL */
  const gab_stencil_quantity *quantities;
  size_t quantity_count;
  /** Columns of NAME.csv, NULL-terminated, at most #GAB_STENCIL_MOST_SUMS: sums over all cells, by their volume in
   *  cells of the finest level. No digit depends on the number of processes. NULL: no table. */
  const char *const *sums;
  /** Terms of a cell in the sums. Pure. NULL: the values of its first fields, in their order. */
  void (*add)(const double *values, double *terms);
  /** Whether the run ends, called every NAME.every steps. Pure. @return reason for the log; NULL: it continues */
  const char *(*ended)(const gab_stencil_end *at);
} gab_stencil;

/** A formula of x, y, z, t at the centre of a cell. Several threads may call it at once; e.g. with gab_config_expression(at->config, "heat.source").
 *  @param[in] formula  with the variables "x|y|z|t" */
double gab_stencil_evaluate(const gab_stencil_block *at, const gab_expression *formula, int32_t x, int32_t y,
                            int32_t z);

/** The position of a value of a field in a block, by gab_stencil.centring. Pure. */
void gab_stencil_position(const gab_stencil_block *at, int field, int32_t x, int32_t y, int32_t z,
                          double position[3]);

/** The whole program, for main(). One stencil per program. @param[in] which  borrowed until the process ends @return
 *  its exit code */
int gab_stencil_main(int argc, char **argv, const gab_stencil *which);
#define gab_stencil_main(...) GAB_WITH_VERSION(gab_stencil_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
