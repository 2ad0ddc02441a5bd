/* SPDX-License-Identifier: Apache-2.0 */
/* Internal declarations of stencils: case, run, and adaptive grid (stencil_grid.c, criteria.c). */
#ifndef GABION_APPS_DRIVER_STENCIL_IMPL_H
#define GABION_APPS_DRIVER_STENCIL_IMPL_H

#include "apps/driver/case/common_sections.h"
#include "apps/driver/plan/app_plan.h"
#include "apps/driver/run/run.h"
#include "apps/driver/stencil/stencil.h"
#include "blockforest/elliptic/elliptic.h"
#include "blockforest/exchange/level_ghosts.h"
#include "field/checked_access.h"

enum { GAB_STENCIL_MOST_LEVELS = 6, GAB_STENCIL_MOST_RULES = 16 };

/* One item of NAME.refinement.criteria. */
typedef struct stencil_rule {
  const gab_stencil_criterion *criterion;
  int field;
  double above, below; /* larger measures refine, smaller ones allow a merge */
} stencil_rule;

/* In the order of their names in stencil_sides.c. */
typedef enum stencil_side_kind {
  STENCIL_SIDE_PERIODIC,
  STENCIL_SIDE_VALUE,
  STENCIL_SIDE_GRADIENT,
  STENCIL_SIDE_MIRRORED,
  STENCIL_SIDE_OWN
} stencil_side_kind;

typedef struct stencil_side {
  stencil_side_kind kind;
  const gab_expression *values
      [GAB_STENCIL_MOST_FIELDS]; /* values of fields at the side, or their outward derivatives; otherwise NULL */
  bool varies;                   /* in space or time */
  bool is_odd[GAB_STENCIL_MOST_FIELDS]; /* mirrored with the opposite sign */
} stencil_side;

/* A stage combines the state at the beginning of the step, the state before the stage, and its rate at `time`:
 * next = first first + now now + rate dt du/dt + sum sum. */
typedef struct stencil_stage {
  double time; /* share of the step */
  double first, now, rate, sum;
  double first_in_sum, now_in_sum; /* added to the sum; the first contribution sets it */
} stencil_stage;

/* A method of integration in time. */
typedef struct stencil_integrator {
  const char *name;
  int stages;
  bool has_sum;
  stencil_stage stage[4];
} stencil_integrator;

typedef struct stencil_case {
  gab_app_case base;                    /* its grid is that of level 0, its domain that of the finest level */
  int finest;                           /* finest level, with cells of the width of domain.cells */
  gab_step every;                       /* steps between adaptations of the grid */
  const stencil_integrator *integrator; /* NULL: update */
  gab_step look_every; /* steps between checks of the end of the run, and between rows of the table of sums */
  double steady;       /* NAME.steady; 0: none */
  double end;          /* time at which the run ends; INFINITY: after its steps */
  double cfl;          /* step as a share of gab_stencil.bound; 0: constant steps, base.dt */
  stencil_side sides[6];
  const gab_expression *initial[GAB_STENCIL_MOST_FIELDS]; /* NULL: the value of the program */
  bool has_initial;                                       /* one of them is not NULL */
  stencil_rule rules[GAB_STENCIL_MOST_RULES];
  size_t rule_count;
} stencil_case;

typedef struct stencil_run stencil_run;
typedef struct stencil_view {
  stencil_run *run;
  int field;
} stencil_view;

struct stencil_run {
  gab_app_run base;
  const stencil_case *parameters;
  gab_block_field shape;
  gab_data_id now, next;
  gab_data_id first, sum; /* first: with several stages; sum: integrators with a sum */
  gab_level_ghosts *ghosts;
  gab_elliptic *implicit[GAB_STENCIL_MOST_IMPLICIT];
  int64_t solves, cycles; /* implicit solves of this process, for the log */
  stencil_view views[GAB_STENCIL_MOST_FIELDS];
  gab_quantity quantities[GAB_STENCIL_MOST_FIELDS + GAB_MOST_OWN_QUANTITIES];
  gab_own_quantity own[GAB_MOST_OWN_QUANTITIES];
  uint64_t updated;      /* forest revision of the last update of own quantities, */
  gab_step updated_step; /* and its step */
  bool is_tried;         /* update() was tried in this process */
  double time;           /* with a bound: time of the state, part of the state */
  double dt;             /* of the present step */
  int stage;             /* of the present step */
  gab_step measured;     /* step of the last measurement of the next two; all are part of the state */
  double change[GAB_STENCIL_MOST_FIELDS]; /* of fields, per unit of time */
  double sums[GAB_STENCIL_MOST_SUMS];
};

/* ---- equation.c */
extern const gab_stencil *gab_app_stencil; /* the stencil of this program */
const char *gab_app_stencil_path(char path[GAB_CONFIG_PATH_CAPACITY], const char *key);
/* Length of a NULL-terminated list; NULL: 0. */
int gab_app_stencil_count(const char *const *names);
int gab_app_stencil_field_count(void);
int gab_app_stencil_depth(void); /* layers of ghosts */
/* Time of the state after `step` steps; with a bound that of the present state. Pure. */
double gab_app_stencil_time(const stencil_run *it, gab_step step);
/* Returns the argument of update() for a block of this process. */
gab_stencil_block gab_app_stencil_block_of(const stencil_run *it, size_t index, gab_step step);
/* "block x 12..23, y 0..7, level 1" */
void gab_app_stencil_name_block(const gab_stencil_block *at, char *text, size_t capacity);
/* Calls update; a checked access outside of a field (field/checked_access.h) names the block. */
void gab_app_stencil_update(const gab_stencil_block *at);

/* "update" or "rate". */
const char *gab_app_stencil_function(void);
/* Stages of a step. */
int gab_app_stencil_stages(const stencil_case *which);
/* Time of the present stage, as a share of the step. */
double gab_app_stencil_stage_time(const stencil_run *it);

/* ---- centring.c */
/* Whether values of the field lie on the faces of cells along an axis. */
bool gab_app_stencil_is_on_face(int field, int axis);
/* Whether any field is not at cell centres. */
bool gab_app_stencil_is_staggered(void);
/* Returns the value of a face field on a side, next to a cell. */
typedef double stencil_side_value(void *by, int field, const int32_t cell[3]);
/* Sets values of a face field on a side, and ghosts beyond as their mirror image. @param[in] along cells along the side */
void gab_app_stencil_fill_on_side(gab_field *now, const gab_box *along, int field, int axis, bool is_upper,
                                  stencil_side_value *value, void *by);
/* Checks whether staggered fields support the sides of a case. */
gab_status gab_app_stencil_check_centring(const stencil_case *which);

/* ---- stages.c */
/* Declares NAME.integrator, if the stencil has a rate. */
gab_status gab_app_stencil_integrator_declare(gab_config *config);
void gab_app_stencil_integrator_read(stencil_case *which);
/* Adds the fields that stages need to the forest. */
gab_status gab_app_stencil_add_stages(stencil_run *it);
/* Number of fields of a block besides `now' and `next'. */
int gab_app_stencil_stage_fields(const stencil_case *which);
/* Computes the next state in `next', after the call of `rate' in the present stage. */
void gab_app_stencil_integrate(const stencil_run *it, size_t index);
/* The result of the present stage becomes `now'. */
gab_status gab_app_stencil_end_stage(const stencil_run *it);

/* ---- trial.c: before the first step of a process, update is tried on copies (stencil.h). Local; the state does not change. */
typedef struct gab_stencil_trial gab_stencil_trial;
/* @param[out] which NULL without a trial; for gab_app_stencil_compare()
   @return GAB_ERR_ARGUMENT or GAB_ERR_DIVERGED with block, cell, component and remedy */
gab_status gab_app_stencil_try(const stencil_run *run, gab_step step, gab_stencil_trial **which);
/* Compares with the step, after the same blocks were computed and before `next' is exchanged. Ends the trial. */
gab_status gab_app_stencil_compare(gab_stencil_trial **which);
void gab_app_stencil_trial_destroy(gab_stencil_trial **which);

/* ---- trial_cells.c */
/* Whether a trial is requested and this process has blocks. */
bool gab_app_stencil_is_tried(const stencil_run *run);
/* Calls start() again for a block of the initial grid, in the opposite order. @return as above */
gab_status gab_app_stencil_try_start(const stencil_run *run);

/* ---- stencil_sides.c */
/* Declares the section `boundaries'. */
gab_status gab_app_stencil_sides_declare(gab_config *config);
/* Reads the section, and the periodic axes. */
gab_status gab_app_stencil_sides_read(stencil_case *which);
const char *gab_app_stencil_side_path(int side);
/* Returns the same conditions for an implicit field. @return GAB_ERR_INPUT for unsupported sides */
gab_status gab_app_stencil_sides_of(const stencil_case *which, int field, gab_elliptic_side sides[6]);

/* ---- stencil_beyond.c */
/* Sets ghosts beyond sides of the domain at time 0. @param[in] first  cell of the block in its level */
void gab_app_stencil_fill_sides(const stencil_case *which, gab_field *now, const int64_t first[3], int level);
/* Sets values of face fields on sides, at a time. Local. */
gab_status gab_app_stencil_set_on_sides(stencil_run *it, double time);
/* Fills all ghosts of `now', which is the state at `time'. Collective among neighbours. */
gab_status gab_app_stencil_exchange(stencil_run *it, double time);

/* ---- stencil_formulas.c */
/* Declares the section `initial'. */
gab_status gab_app_stencil_initial_declare(gab_config *config);
void gab_app_stencil_initial_read(stencil_case *which);
/* Replaces the values that the section specifies. */
void gab_app_stencil_initial_cell(const stencil_case *which, const double centre[3], double *values);

/* ---- stencil_time.c */
/* Declares NAME.dt and NAME.cfl if the stencil uses them. */
gab_status gab_app_stencil_time_declare(gab_config *config);
/* Reads these keys, before gab_app_case_settle(). */
void gab_app_stencil_time_read(stencil_case *which);
/* Determines dt of the step; needs filled ghosts of `now'. Collective. @return GAB_ERR_DIVERGED for a bound that is not positive */
gab_status gab_app_stencil_find_dt(stencil_run *it, gab_step step);
/* Called after a step. */
void gab_app_stencil_advance_time(stencil_run *it);
/* Adds the time to the state if dt varies. */
gab_status gab_app_stencil_add_time(stencil_run *it);

/* ---- stencil_sums.c */
/* Receives the values of a cell. */
typedef gab_status stencil_cell_fn(void *user, const gab_block *block, const int32_t at[3], double *values);
/* Visits all cells of this process's blocks, in the order of the blocks. */
gab_status gab_app_stencil_visit(const stencil_run *it, stencil_cell_fn *see, void *user);
/* Computes a row of sums; a gab_row_fn. Collective. @param[in] user the run */
gab_status gab_app_stencil_sums_row(void *user, gab_step step, double time, double *row);

/* ---- stencil_end.c */
/* Declares NAME.every and NAME.steady, if the stencil has sums or an end. */
gab_status gab_app_stencil_end_declare(gab_config *config);
/* Reads these keys, and run.time if steps follow from a bound; after gab_app_case_settle(). */
gab_status gab_app_stencil_end_read(stencil_case *which);
/* Adds criteria and their measures to the time loop. */
gab_status gab_app_stencil_add_ends(stencil_run *it);
/* Measures the values of the end criteria, after steps with a check. Collective. @param[in] steps completed steps */
gab_status gab_app_stencil_end_measure(stencil_run *it, gab_step steps);

/* ---- implicit.c */
/* Creates the solvers of the implicit fields, before blocks exist. Collective. */
gab_status gab_app_stencil_implicit_create(stencil_run *it);
void gab_app_stencil_implicit_destroy(stencil_run *it);
/* Adds their memory and messages to the plan. */
gab_status gab_app_stencil_implicit_plan(const stencil_run *it, gab_app_plan *plan);
/* Replaces right-hand sides in `now` by solutions, after the present stage. Collective. */
gab_status gab_app_stencil_implicit_solve(stencil_run *it);
/* Bytes that the solvers need per cell. */
double gab_app_stencil_implicit_bytes(void);

/* ---- stencil_quantities.c */
/* Registers the quantities of the program. */
gab_status gab_app_stencil_register_quantities(void);
/* Lists fields and quantities of the program for the run. */
void gab_app_stencil_list_quantities(stencil_run *it);
/* As gab_solver.update_quantities. */
gab_status gab_app_stencil_update_quantities(gab_app_run *run);
gab_config_choice gab_app_stencil_quantity_choice(int index);

/* ---- criteria.c */
/* Returns the index-th criterion, first of the library, then of the program; NULL after the last. */
const gab_stencil_criterion *gab_app_stencil_criterion_at(size_t index);
/* Declares NAME.refinement and its criteria. */
gab_status gab_app_stencil_refinement_declare(gab_config *config);
/* Reads this section, and converts a grid in cells of the finest level to level 0. */
gab_status gab_app_stencil_refinement_read(stencil_case *which);

/* ---- stencil_grid.c */
/* Computes the initial value of a cell: the mean over its cells of the finest level. */
void gab_app_stencil_start_cell(const stencil_case *which, int level, const int64_t cell[3], double *values);
gab_status gab_app_stencil_build_grid(stencil_run *it);
gab_status gab_app_stencil_add_adaptation(stencil_run *it);
/* Refines the blocks of level 0 to the initial grid. */
gab_status gab_app_stencil_refine(const stencil_case *which, gab_proxies *proxies);

#endif
