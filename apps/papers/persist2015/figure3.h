/* SPDX-License-Identifier: Apache-2.0 */
/* The fictitious algorithm of figure 3 of Gracia et al. 2015: a large array that can be made again from one number. All numbers
 * are multiples of 1/1024 below 8192, so that every sum is exact and the array made again is the array that was, to the
 * last bit. */
#ifndef GABION_APPS_PAPERS_PERSIST2015_FIGURE3_H
#define GABION_APPS_PAPERS_PERSIST2015_FIGURE3_H

enum { SIZE = 1025, LAST = SIZE - 1, ITERATIONS = 10 };
enum { SEED_TAG = 1, ITER_TAG, BOUNDARY_TAG, HALO_TAG, NEXT_TAG };

/* A boundary value says of which iteration it is; laid out as MPI_FLOAT_INT. */
typedef struct message {
  float value;
  int iter;
} message;

/* All but the last element, which is the neighbour's. */
static inline void init_data(float *data, float seed)
{
  for (int i = 0; i < LAST; i++) data[i] = seed + (float)i / 1024;
}

static inline void compute(float *data)
{
  const float step = 0.25f * (float)(1 + (int)(4 * data[LAST]) % 7);
  for (int i = 0; i < LAST; i++) data[i] += step;
}

static inline float aggregate(const float *data)
{
  double sum = 0;
  for (int i = 0; i < LAST; i++) sum += data[i] - (double)i / 1024;
  return (float)(sum / LAST);
}

#endif
