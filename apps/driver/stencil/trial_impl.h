/* SPDX-License-Identifier: Apache-2.0 */
/* The trial of a stencil's update before the first step (stencil.h, "Trial"): copies of a block with guard cells,
 * calls on these copies, and causes of failures. */
#ifndef GABION_APPS_DRIVER_STENCIL_TRIAL_IMPL_H
#define GABION_APPS_DRIVER_STENCIL_TRIAL_IMPL_H

#include "apps/driver/stencil/stencil_impl.h"

/* ---- trial_field.c: fields with guard cells */

typedef enum trial_region {
  TRIAL_CELL,     /* of the block */
  TRIAL_GHOST,    /* filled by the exchange */
  TRIAL_UNFILLED, /* ghost beyond an edge or corner that the exchange does not fill */
  TRIAL_BEYOND,   /* further outside than ghosts */
  TRIAL_COMPONENT /* of a component that does not exist */
} trial_region;

typedef struct trial_place {
  int32_t at[3];
  int component;
} trial_place;

/* Layout of a field with guard cells around its ghosts, and a guard component before and behind its components. */
typedef struct trial_layout {
  gab_field_shape shape;
  bool diagonals;      /* ghosts beyond edges and corners are filled */
  int32_t low[3];      /* elements in front of cell 0 along an axis */
  int32_t extent[3];   /* elements along an axis */
  ptrdiff_t component; /* elements of a component */
  size_t elements;
} trial_layout;

void gab_app_trial_layout(const gab_field *like, bool diagonals, trial_layout *layout);
trial_place gab_app_trial_place(const trial_layout *layout, size_t element);
trial_region gab_app_trial_region(const trial_layout *layout, const trial_place *place);
/* The field of component 0 behind the guard component that begins at `memory`. */
gab_field gab_app_trial_view(const trial_layout *layout, double *memory);
/* Copies all elements that the exchange fills: cells and filled ghosts. */
void gab_app_trial_copy(const trial_layout *layout, gab_field *to, const gab_field *from);

/* ---- trial_call.c: one call of update on a copy */

typedef enum trial_poison {
  TRIAL_VALUES,       /* values of other cells of the block */
  TRIAL_OTHER_VALUES, /* a second time, with different values */
  TRIAL_HUGE,         /* 1e200: fmax() and fmin() ignore NaNs */
  TRIAL_NAN
} trial_poison;

/* Preparation of a copy, and the way of the call. */
typedef struct trial_way {
  trial_poison poison; /* where nothing is filled, */
  trial_poison behind; /* and from element `border' on; elements of `next' follow those of `now' */
  size_t border;       /* elements of `first' follow these */
  bool other_memory;   /* place of the fields, and bytes of unset memory */
  bool other_thread;   /* the last thread instead of the first */
} trial_way;

typedef enum trial_fault {
  TRIAL_FINE,
  TRIAL_WRITES_NOW,
  TRIAL_WRITES_FIRST,
  TRIAL_WRITES_OUTSIDE,
  TRIAL_LEAVES_OUT
} trial_fault;

/* A block on trial. */
typedef struct trial_subject {
  gab_stencil_block at; /* as in the step */
  double *given;        /* values of its cells, component by component */
  double *first;        /* result of the first call, */
  double *plain;        /* and of the call with the layout of the step */
} trial_subject;

enum { TRIAL_SUBJECTS = 2, TRIAL_SHIFT = 64 };

typedef struct trial {
  trial_layout layout;
  unsigned char *regions; /* of elements */
  size_t cells, values;   /* of a block; values: cells times components */
  trial_subject subjects[TRIAL_SUBJECTS];
  int count;
  double *now, *before, *next;  /* memory of the copies, and `now' before the call */
  double *first, *first_before; /* in later stages */
  double *results[2];           /* for the search of causes */
  trial_fault fault;            /* of the last call, */
  size_t element;               /* and its element */
  size_t left_out;              /* number of unset values */
} trial;

/* Calls update on a copy. @param[out] result  values of all cells; sets fault, element and left_out */
void gab_app_trial_call(trial *it, const trial_subject *subject, const trial_way *how, double *result);
/* Calls update on a copy with the layout of the step. */
void gab_app_trial_call_plain(trial *it, const trial_subject *subject, double *result);
/* Index of the first different value, `count` if there is none. One NaN equals another. */
size_t gab_app_trial_difference(const double *a, const double *b, size_t count);

/* Whether the value at `element' also stayed unchanged in the call with TRIAL_VALUES, which gave this result. */
bool gab_app_trial_is_unset(const trial *it, const trial_subject *subject, const double *result);
/* Input of criteria and quantities. @param[out] memory  it->now or it->next @return a view of it */
gab_field gab_app_trial_fill(trial *it, const trial_subject *subject, const trial_way *how, double *memory);

/* ---- trial_causes.c */

enum { TRIAL_TEXT = 160 };
/* "temperature of cell (3, 4, 0)", in 2D without z unless it is not 0. @return text */
const char *gab_app_trial_name(const trial_layout *layout, const trial_place *place, char text[TRIAL_TEXT]);
/* "block x 12..23, y 0..7, level 1". @return text */
const char *gab_app_trial_block(const gab_stencil_block *at, char text[TRIAL_TEXT]);
trial_place gab_app_trial_place_of_value(const trial *it, size_t value);

/* @return the failure of the last call, with block, cell, component and remedy; GAB_OK if there is none */
gab_status gab_app_trial_report(const trial *it, const trial_subject *subject);
/* Two calls with the same values gave different results: finds the cause. @return GAB_ERR_ARGUMENT */
gab_status gab_app_trial_explain(trial *it, const trial_subject *subject);
/* A call alone and a call in the step, or with another layout, gave different results. */
gab_status gab_app_trial_report_difference(const trial *it, const trial_subject *subject, size_t value,
                                           double got, double expected, const char *where);
/* Finite values gave NaN or infinity. */
gab_status gab_app_trial_report_infinite(const trial *it, const trial_subject *subject, size_t value);

/* ---- trial_cells.c */

/* Trial of the other functions of a cell or a block: add, quantities, criteria. */
gab_status gab_app_trial_cells(trial *it, const stencil_run *run);

#endif
