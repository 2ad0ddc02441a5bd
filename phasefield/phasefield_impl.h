/* SPDX-License-Identifier: Apache-2.0 */
/** @file phasefield_impl.h
 *  @brief Declarations shared by the sources of the phase field.
 *
 *  Stability: internal, never installed.
 */
#ifndef GABION_PHASEFIELD_PHASEFIELD_IMPL_H
#define GABION_PHASEFIELD_PHASEFIELD_IMPL_H

#include "blockforest/exchange/exchange.h"
#include "core/base/exact_sum.h"
#include "phasefield/phasefield.h"

/** Constants of the model, read by kernels. */
typedef struct gab_phasefield_model {
  gab_phasefield_options options;
  int dimension, phases, independents, melt;
  int axis;    /* of growth: the last axis */
  int coarser; /* number of levels between the finest one and that of these cells */
  int32_t cells[3];
  int64_t domain[3];
  double dx, origin;
  double gamma3[GAB_MOST_PHASES][GAB_MOST_PHASES][GAB_MOST_PHASES]; /* 0 if two phases are equal */
  bool anisotropic;                                                 /* gamma or tau of some pair */
  int64_t shift;
  gab_step step;
  const struct gab_phasefield_kernel *kernel;
  struct gab_phasefield_slices *slices; /* of its level */
} gab_phasefield_model;

/** State of a block of bulk, in which phi does not change: see bulk.c. */
typedef struct gab_phasefield_bulk {
  const struct gab_phasefield_block
      *beside[6];    /* across the faces: local blocks of the same level, else NULL */
  unsigned messages; /* bits of faces whose ghosts arrive by messages */
  int sweeps; /* consecutive sweeps of phi that found only one phase, at most GAB_PHASEFIELD_BULK_COPIED */
  gab_step counted; /* step of the last of them: an interrupted and repeated one counts once */
  int phase;        /* if there were such sweeps, or the block is coarse */
  bool is_skipped;  /* by the last sweep of phi: all phi that kernels read is of that phase */
  bool is_mixed;    /* the sweep found cells of several phases, or did not check */
} gab_phasefield_bulk;
/** From this number of sweeps on, ghosts of phi from the block are the same in both fields. */
enum { GAB_PHASEFIELD_BULK_COPIED = 2 };

/** The data of a block. All fields have one layer of ghosts and one map per number of components. */
typedef struct gab_phasefield_block {
  const gab_phasefield_model *model; /* in cells of its level */
  int64_t first[3];                  /* cell of the domain */
  gab_field *phi, *phi_new;
  gab_field *c;
  gab_field *mu, *mu_new;
  gab_box inner;   /* cells that need no ghosts of other ranks */
  uint64_t work;   /* nanoseconds of all threads, if measured */
  uint32_t beside; /* bits of the directions to blocks of other levels */
  int astray;      /* an interface has reached coarser cells */
  int nearest;     /* interface, see refinement.c */
  uint8_t nearness[27];
  size_t by[2]; /* threads that last swept phi and mu of its first cells */
  gab_phasefield_bulk bulk;
} gab_phasefield_block;

/** Energies of all phases at the temperature of one row. */
typedef struct gab_phasefield_slice {
  double offset[GAB_MOST_PHASES][GAB_MOST_INDEPENDENTS]; /* c at mu = 0 */
  double base[GAB_MOST_PHASES];                          /* psi at mu = 0 */
} gab_phasefield_slice;

/** Slices of the rows of all local blocks of a level, and of their neighbours: see model/slices.c. */
typedef struct gab_phasefield_slices {
  gab_phasefield_slice *at[2];    /* at `step` and a step later; owned */
  int64_t capacity, first, count; /* rows */
  gab_step step;
  int64_t shift;
} gab_phasefield_slices;

/** A sweep over a box of cells of a block. */
typedef struct gab_phasefield_job {
  gab_phasefield_block *block;
  gab_box box;
  int bulk;       /* 1 + the phase of all the cells and their neighbours, if known; 0: to be determined */
  bool *is_mixed; /* set by kernels that find bulk if the cells are not of one phase; NULL: not needed */
} gab_phasefield_job;

typedef struct gab_phasefield_kernel {
  const char *name;
  int phases, independents; /* 0: any */
  bool obstacle_only;
  bool finds_bulk; /* detects cells of one phase, and leaves their phi unchanged */
  /** @return ::GAB_ERR_MEMORY at most */
  gab_status (*phi)(const gab_phasefield_model *model, const gab_phasefield_job *job);
  gab_status (*mu)(const gab_phasefield_model *model, const gab_phasefield_job *job);
} gab_phasefield_kernel;

extern const gab_phasefield_kernel gab_phasefield_kernel_reference;
extern const gab_phasefield_kernel gab_phasefield_kernel_4_3, gab_phasefield_kernel_3_2,
    gab_phasefield_kernel_2_2;
/** Finds a kernel by name, for a model with N, K and options set. @return NULL with an error message */
const gab_phasefield_kernel *gab_phasefield_kernel_find(const char *name, const gab_phasefield_model *model);

/** Field of a ghost exchange. */
typedef enum gab_phasefield_which { WHICH_PHI, WHICH_PHI_NEW, WHICH_MU, WHICH_C } gab_phasefield_which;

typedef struct gab_phasefield_ghosts {
  const int32_t *cells;
  gab_phasefield_which which;
  int components;
  bool edges; /* edges as well as faces */
} gab_phasefield_ghosts;

/** Contents of one quantity. */
typedef struct gab_phasefield_part {
  const struct gab_phasefield *phasefield;
  int kind, index;
  char name[GAB_PHASE_NAME_LENGTH + 8];
} gab_phasefield_part;

/** Data of several levels: levels_impl.h. */
typedef struct gab_phasefield_levels gab_phasefield_levels;

/** Blocks computed twice: recompute.c. */
typedef struct gab_phasefield_recompute gab_phasefield_recompute;

/** The calls made in a step, as bits. */
enum {
  GAB_PHASEFIELD_MU_STARTED = 1,
  GAB_PHASEFIELD_PHI_SWEPT = 2,
  GAB_PHASEFIELD_PHI_STARTED = 4,
  GAB_PHASEFIELD_MU_FINISHED = 8,
  GAB_PHASEFIELD_PHI_FINISHED = 16
};

struct gab_phasefield {
  gab_forest *forest;
  gab_phasefield_model model;
  gab_data_id data;
  gab_phasefield_ghosts phi_ghosts, mu_ghosts, c_ghosts;
  gab_exchange *phi_exchange, *mu_exchange, *c_exchange;
  gab_exact_sum ledger[GAB_MOST_INDEPENDENTS]; /* gained by blocks while they were on this rank */
  uint64_t revision; /* revision of the forest for which mu and the ghosts of phi are valid; 0: none */
  unsigned made;     /* calls made in the present step */
  bool overlaps;     /* some cells wait for messages and some do not */
  bool inner_is_swept;
  bool times_blocks;
  gab_phasefield_slices slices[GAB_PHASEFIELD_MOST_LEVELS + 1]; /* by `coarser` */
  gab_phasefield_levels *levels;                                /* NULL: one level */
  gab_phasefield_recompute *recompute;                          /* NULL: no block was ever computed twice */
  gab_phasefield_part parts[GAB_PHASEFIELD_MOST_PARTS];         /* contents of the quantities */
  gab_own_quantity own[GAB_MOST_OWN_QUANTITIES];
  uint64_t ghosts_of;   /* revision of the forest at the last update of user-defined quantities, */
  gab_step ghosts_step; /* and its step */
};

/* ---- lookup.c ---- */
gab_phasefield_block *gab_phasefield_block_of(const gab_phasefield *phasefield, size_t index);
gab_field *gab_phasefield_field(const gab_phasefield_block *block, gab_phasefield_which which);
/** Whether a block lies at a side of the domain. */
bool gab_phasefield_is_at_side(const gab_phasefield_model *model, const gab_phasefield_block *block,
                               int side);

/* ---- initialise.c ---- */
/** The initial state of a cell of the finest level. @param[in] slice  of its row */
void gab_phasefield_initial_cell(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                                 const int64_t cell[3], double *phi, double *c);
/** initialise() of the block data. */
gab_status gab_phasefield_initialise(void *phasefield, const gab_forest *forest, const gab_block *place,
                                     void *data);

/* ---- block.c ---- */
gab_block_data_kind gab_phasefield_block_kind(gab_phasefield *phasefield);
gab_ghost_kind gab_phasefield_ghost_kind(gab_phasefield_ghosts *ghosts, const char *name);
/** Ghosts beyond the sides of the domain, from the cells next to them and, at edges, from ghosts that the
 *  exchange has filled. */
void gab_phasefield_fill_sides(const gab_phasefield_model *model, const gab_phasefield_block *block,
                               gab_phasefield_which which);

/* ---- reconstruct.c ---- */
/** gather() and reconstruct() of the block data: phases across the faces, and their approximation. */
gab_status gab_phasefield_gather(void *phasefield);
gab_status gab_phasefield_approximate(void *phasefield, const gab_forest *forest, const gab_block *place,
                                      void *data, uint32_t known);

/* ---- step.c ---- */
/** Recomputes mu and the ghosts of phi if the forest has changed. Collective. */
gab_status gab_phasefield_settle(gab_phasefield *phasefield);
/** All ghosts of phi and mu, between steps. Collective. */
gab_status gab_phasefield_fill_ghosts(gab_phasefield *phasefield);
/** Fills the ghosts of phi without a block of the same level. */
void gab_phasefield_fill_rest(const gab_phasefield_block *block, gab_phasefield_which which);

/* ---- bulk.c: blocks of one phase, in which phi does not change ---- */
/** Resets the state of all blocks, and finds their neighbours across faces. */
void gab_phasefield_bulk_begin(gab_phasefield *phasefield);
/** Before a sweep of phi: decides which blocks it skips. @param[in] stale  none, as ghosts may be outdated */
void gab_phasefield_bulk_decide(gab_phasefield *phasefield, bool stale);
/** After the sweep: records its findings. */
void gab_phasefield_bulk_enter(gab_phasefield *phasefield);
/** In steps: nothing is skipped. */
enum { GAB_PHASEFIELD_LOOK_AGAIN = 64 };
/** Whether ghosts of phi from a block are equal in both fields already. */
static inline bool gab_phasefield_bulk_is_copied(const gab_phasefield_block *block)
{
  return block->bulk.sweeps >= GAB_PHASEFIELD_BULK_COPIED &&
         block->model->step % GAB_PHASEFIELD_LOOK_AGAIN >= GAB_PHASEFIELD_BULK_COPIED;
}

/* ---- recompute.c: blocks that are computed twice. All local. ---- */
/** Before the sweeps: compares the result of the step before, and keeps the input of the sample. */
gab_status gab_phasefield_recompute_begin(gab_phasefield *phasefield);
/** Computes the sample again and compares, at the end of the step. @param[in] threads  that have swept */
gab_status gab_phasefield_recompute_end(gab_phasefield *phasefield);
void gab_phasefield_recompute_release(gab_phasefield *phasefield);

/* ---- ledger.c ---- */
/** Adds the amount that the sweep of mu will take from reservoirs. */
void gab_phasefield_ledger_step(gab_phasefield *phasefield);
/** Adds a row of cells of a block that enters (sign 1) or leaves (-1). */
void gab_phasefield_ledger_row(gab_phasefield *phasefield, const gab_phasefield_block *block, int32_t row,
                               double sign);

/* ---- noise.c ---- */
/** The sweep of phi by the kernel, and the noise. */
gab_status gab_phasefield_run_phi(const gab_phasefield_model *model, const gab_phasefield_job *job);
/** Four random numbers for a counter and a key (Philox 4x32-10). */
void gab_phasefield_random(const uint32_t counter[4], const uint32_t key[2], uint32_t random[4]);

/* ---- anisotropy.c ---- */
/** Factor a_ab for a direction q of any length, in `dimension` components; and the factor of 2 q_i of an isotropic
 * interface: p_i = 2 q_i factor_i. 1 where q is 0. @param[out] factor  may be NULL */
double gab_phasefield_anisotropy(int dimension, double delta, const double *q, double *factor);
/** q_ab times dx on the face between the cell of `phi` (component 0) and the next one along an axis:
 * gradients across it from its two cells, along it from the mean of their central differences. */
void gab_phasefield_face_q(const gab_phasefield_model *model, const gab_field_map *map, const double *phi,
                           int axis, int a, int b, double q[3]);

/* ---- slices.c: the temperature of a row of cells, and derived quantities ---- */
double gab_phasefield_row_temperature(const gab_phasefield_model *model, int64_t row, gab_step step);
/** The slice of a row: from the table of the level, or computed if it is not there. */
gab_phasefield_slice gab_phasefield_slice_at(const gab_phasefield_model *model, int64_t row, gab_step step);
/** Fills the table for rows first … last - 1 at the step of the model and the next one. Not while kernels run. @return
 * ::GAB_ERR_MEMORY or GAB_OK; after a failure the table is empty */
gab_status gab_phasefield_slices_fill(const gab_phasefield_model *model, int64_t first, int64_t last);
void gab_phasefield_slices_release(gab_phasefield_slices *kept);

/* ---- cell.c: shared by all kernels and the initial state ---- */
void gab_phasefield_interpolate(const gab_phasefield_model *model, const double *phi, double *h);
void gab_phasefield_mu_of_c(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                            const double *phi, const double *c, double *mu);
void gab_phasefield_c_of_mu(const gab_phasefield_model *model, const gab_phasefield_slice *slice,
                            const double *phi, const double *mu, double *c);
/** Smaller fractions are set to 0: a cell in which one is exactly 1 has no other phase. */
#define GAB_PHASEFIELD_LEAST_PHI 1e-12
/** Euclidean projection of the values with a bit in `active` onto their simplex; the others become 0 (Michelot 1986).
 * Fractions that would be below #GAB_PHASEFIELD_LEAST_PHI are set to 0, too. */
void gab_phasefield_project(int n, unsigned active, double *phi);
/** mu of a block from its c and phi at the present step. */
void gab_phasefield_make_mu(const gab_phasefield_model *model, gab_phasefield_block *block);

#endif
