/* SPDX-License-Identifier: Apache-2.0 */
/** @file means.h
 *  @brief Time means of quantities, their rms and products of fluctuations, as data of the blocks.
 *
 *  @code
 *    GAB_TRY(gab_means_create(&(gab_means_options){.quantities = list, .quantity_count = 2, .dimension = 2}, &means));
 *    GAB_TRY(gab_means_attach(means, forest));         before the forest is built
 *    ...
 *    GAB_TRY(gab_means_sample(means));                 in a task, at sampled steps
 *  @endcode
 *
 *  All samples have equal weight. A mean is updated by the deviation from it, a product by the product of both
 *  deviations (Welford 1962), so that rms values far below the mean keep their digits. All data is stored per cell in
 *  double precision. It moves with its block, is part of snapshots and of the checksum, and does not depend on
 *  processes or faults.
 *
 *  A split copies means and numbers of samples to the children. A merge averages the means of the cells, with the
 *  numbers of samples as weights. Products are averaged too; the difference between the children's means is lost.
 *  Cells without a value (NaN, solid ones) take no sample.
 *
 *  Stability: extender.
 */
#ifndef GABION_BLOCKFOREST_MEANS_H
#define GABION_BLOCKFOREST_MEANS_H

#include "blockforest/output/output_quantity.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct gab_means gab_means;

/** For example the turbulent heat flux: velocity and temperature. */
typedef struct gab_mean_product {
  gab_quantity of[2]; /**< pointwise */
} gab_mean_product;

typedef struct gab_means_options {
  const gab_quantity *quantities; /**< pointwise; copied */
  size_t quantity_count;
  int dimension; /**< 2 or 3, of the domain */
  bool rms;      /**< of each component */
  /** Of the first vector among the quantities: products of the fluctuations of all pairs of components (Reynolds stresses,
   *  without the density). ::GAB_ERR_ARGUMENT if there is none. */
  bool stresses;
  /** Pairs of quantities whose fluctuations are multiplied: a vector and a scalar, or two different scalars; copied. They
   *  need not be among `quantities`. */
  const gab_mean_product *products;
  size_t product_count;
} gab_means_options;

enum {
  GAB_MOST_MEANS = 16,
  GAB_MOST_MEAN_PRODUCTS = 8,
  GAB_MOST_MEAN_QUANTITIES = 2 * GAB_MOST_MEANS + GAB_MOST_MEAN_PRODUCTS + 7,
  GAB_MOST_PROFILE_COLUMNS = 2 + 3 * (2 * GAB_MOST_MEANS + GAB_MOST_MEAN_PRODUCTS) + 7,
  GAB_PROFILE_COLUMN_CAPACITY = 96
};

/** Makes the means, and the names of their quantities. Local. @return ::GAB_ERR_INPUT for a quantity that is not
 *  pointwise, is the owner, is repeated, or has too long a name, and for products of two vectors or of a quantity with
 *  itself; ::GAB_ERR_ARGUMENT for none or more than #GAB_MOST_MEANS, or more than #GAB_MOST_MEAN_PRODUCTS */
gab_status gab_means_create(const gab_means_options *options, gab_means **means);
/** Before or after the forest is destroyed. */
void gab_means_destroy(gab_means **means);
/** Adds the data to blocks, without a sample. Local, as gab_forest_add_data(). @param[in] forest  borrowed */
gab_status gab_means_attach(gab_means *means, gab_forest *forest);
gab_data_id gab_means_data(const gab_means *means);
/** Doubles per cell. */
int gab_means_values(const gab_means *means);

/** Takes the present state as a sample. Local: no communication; the quantities must be up to date. */
gab_status gab_means_sample(gab_means *means);
/** Forgets all samples. Local. */
void gab_means_reset(gab_means *means);
/** Largest number of samples of a cell of this process. Local. */
gab_step gab_means_samples(const gab_means *means);

/** `mean_NAME`, `rms_NAME` (about the mean, by the number of samples), `reynolds_stress_xx`, `_xy`, ...,
 *  `turbulent_kinetic_energy`, half of the trace, and `covariance_NAME_NAME` of products, a vector if one of both is. NaN where a quantity has no value, and before the first sample.
 *  @param[out] items  at least #GAB_MOST_MEAN_QUANTITIES elements; strings borrowed from the means @return number of
 *  items */
size_t gab_means_quantities(gab_means *means, gab_quantity *items);

/** Names of the columns of gab_means_profile(): the axis, `cells`, then each component of gab_means_quantities(), as
 *  "mean_velocity.x". Local; needs no forest. @return their number */
size_t gab_means_profile_columns(const gab_means *means, int axis,
                                 char names[GAB_MOST_PROFILE_COLUMNS][GAB_PROFILE_COLUMN_CAPACITY]);
/** Averages over the layers of cells across an axis, weighted by volume. Collective; the same bits on all ranks and on any
 *  number of them.
 *
 *  A row belongs to a layer of the finest level of the present grid: coordinate of its centre; volume of the cells that
 *  have a mean of the first quantity, in cells of that level; then the values. Wider cells count in each of their layers
 *  with the volume there. With the average < > over the layer and the time mean m of a cell, fluctuations are those about
 *  < m >: rms^2 and stresses are < variance > + < (m_a - < m_a >) (m_b - < m_b >) >. NaN in layers without a cell.
 *  @param[in] axis  0 to dimension - 1  @param[out] rows  [count][columns], lowest layer first; released by gab_free(),
 *  NULL on failure */
gab_status gab_means_profile(gab_means *means, int axis, double **rows, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
