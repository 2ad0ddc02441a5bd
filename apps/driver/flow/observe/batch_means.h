/* SPDX-License-Identifier: Apache-2.0 */
/** @file batch_means.h
 *  @brief Mean of a correlated series with its 95 % confidence interval, by batch means.
 *
 *  The values lie in 16 to 31 batches of equal length; at 32, pairs are merged into 16 of twice the length (Fishman 1978). Means of
 *  batches much longer than the correlation of the series are independent, so Student's t gives the interval (Law & Kelton 2000,
 *  9.5.3). There is no interval while the lag-1 correlation of the batch means exceeds two standard errors.
 *
 *  Stability: internal.
 */
#ifndef GABION_APPS_DRIVER_BATCH_MEANS_H
#define GABION_APPS_DRIVER_BATCH_MEANS_H

#include <math.h>
#include <stdbool.h>

enum { BATCHES_MOST = 32, BATCHES_LEAST = 16, BATCH_LEAST_LENGTH = 4 };

/* Plain doubles, so that they can be packed as such; all 0 at first. */
typedef struct batch_means {
  double count;              /**< of values */
  double length;             /**< of a batch; 0 as 1 */
  double whole;              /**< batches that are full */
  double sum, in_sum;        /**< of the batch that is not, and how many values are in it */
  double mean[BATCHES_MOST]; /**< of the full ones */
} batch_means;

static inline void batch_means_note(batch_means *all, double value)
{
  if (all->length == 0) all->length = 1;
  all->count += 1;
  all->sum += value;
  all->in_sum += 1;
  if (all->in_sum < all->length) return;
  all->mean[(int)all->whole] = all->sum / all->length;
  all->whole += 1;
  all->sum = all->in_sum = 0;
  if (all->whole < BATCHES_MOST) return;
  for (int i = 0; i < BATCHES_MOST / 2; i++) all->mean[i] = 0.5 * (all->mean[2 * i] + all->mean[2 * i + 1]);
  for (int i = BATCHES_MOST / 2; i < BATCHES_MOST; i++) all->mean[i] = 0;
  all->whole = BATCHES_MOST / 2;
  all->length *= 2;
}

/* 97.5 % of Student's distribution, to 0.1 % from 15 degrees of freedom on. */
static inline double batch_means_quantile(double freedom)
{
  return 1.959964 + 2.372 / freedom + 2.82 / (freedom * freedom);
}

/* @param[out] mean  of the full batches @param[out] half  width of the interval, halved @return false: too few
 * values, or dependent batches */
static inline bool batch_means_interval(const batch_means *all, double *mean, double *half)
{
  const int count = (int)all->whole;
  double sum = 0, square = 0, next = 0;
  if (count < BATCHES_LEAST || all->length < BATCH_LEAST_LENGTH) return false;
  for (int i = 0; i < count; i++) sum += all->mean[i];
  *mean = sum / count;
  for (int i = 0; i < count; i++) {
    const double deviation = all->mean[i] - *mean;
    square += deviation * deviation;
    if (i > 0) next += deviation * (all->mean[i - 1] - *mean);
  }
  *half = batch_means_quantile(count - 1) * sqrt(square / ((double)count * (count - 1)));
  return next <= 2 / sqrt(count) * square;
}

#endif
