/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: time means and their profiles. */
#ifndef GABION_BLOCKFOREST_MEANS_IMPL_H
#define GABION_BLOCKFOREST_MEANS_IMPL_H

#include "blockforest/exchange/block_field.h"
#include "blockforest/output/means.h"

enum { MEANS_NAME_CAPACITY = 80, MEANS_MOST_PRODUCTS = 6, MEANS_MOST_COMPONENTS = 4 };

typedef enum means_shown { SHOWN_MEAN, SHOWN_RMS, SHOWN_PRODUCT, SHOWN_ENERGY, SHOWN_COVARIANCE } means_shown;

/* Two quantities side by side as one with up to four components, so that a cell counts where it has both. */
typedef struct means_joint {
  struct gab_means *means;
  gab_quantity of[2]; /* the second one is a scalar */
  char name[MEANS_NAME_CAPACITY], unit[24];
} means_joint;

/* Of a quantity or of two. */
typedef struct means_group {
  gab_quantity of;
  int first; /* component of its number of samples */
  int products;
  int pair[MEANS_MOST_PRODUCTS][2];
} means_group;

/* A quantity for output. */
typedef struct means_view {
  gab_means *means;
  const means_group *of;
  means_shown what;
  int product; /* of SHOWN_PRODUCT */
  char name[MEANS_NAME_CAPACITY];
} means_view;

struct gab_means {
  gab_block_field field; /* first: the `user` of the callbacks of its kind */
  gab_forest *forest;
  gab_data_id data;
  int dimension;
  size_t group_count, view_count;
  means_joint joints[GAB_MOST_MEAN_PRODUCTS];
  size_t joint_count;
  means_group groups[GAB_MOST_MEANS + GAB_MOST_MEAN_PRODUCTS];
  means_view views[GAB_MOST_MEAN_QUANTITIES];
  double *values; /* of a group on a block */
  double *part;   /* of one quantity of a product on a block */
};

int gab_means_components(const means_view *view);
/* The values of a view. @param[in] cell  the number of samples, at least one, then the means and products of its
 * group, each `apart` from the one before */
void gab_means_show(const means_view *view, const double *cell, ptrdiff_t apart, double *to);

#endif
