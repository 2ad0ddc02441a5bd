/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic in GF(2^8), the matrix of the code, and its inversion (small matrices only). */
#include "resilience/schemes/code_impl.h"

#include <string.h>

uint8_t gab_gf_multiply(uint8_t a, uint8_t b)
{
  unsigned product = 0, factor = a;
  for (; b; b >>= 1) {
    if (b & 1) product ^= factor;
    factor <<= 1;
    if (factor & 0x100) factor ^= 0x11d;
  }
  return (uint8_t)product;
}

/* a^254, since a^255 = 1. */
uint8_t gab_gf_invert(uint8_t a)
{
  uint8_t power = a, result = 1;
  for (int bit = 1; bit < 8; bit++) {
    power = gab_gf_multiply(power, power);
    result = gab_gf_multiply(result, power);
  }
  return result;
}

/* 1 / (x + y), with all x of the parities and y of the columns distinct, divided by the entry of the first row. */
uint8_t gab_code_factor(int data, int parity, int column)
{
  uint8_t here = (uint8_t)((data + parity) ^ column), first = (uint8_t)(data ^ column);
  return gab_gf_multiply(gab_gf_invert(here), first);
}

typedef struct matrix {
  int size;
  uint8_t row[GAB_CODE_COLUMNS][2 * GAB_CODE_COLUMNS]; /* with the unit matrix, which becomes the inverse */
} matrix;

static void scale_row(matrix *m, int row, uint8_t factor)
{
  for (int i = 0; i < 2 * m->size; i++) m->row[row][i] = gab_gf_multiply(m->row[row][i], factor);
}

static void subtract_row(matrix *m, int from, int what, uint8_t factor)
{
  for (int i = 0; i < 2 * m->size; i++) m->row[from][i] ^= gab_gf_multiply(m->row[what][i], factor);
}

/* Gauss-Jordan elimination. */
static gab_status invert(matrix *m)
{
  for (int column = 0; column < m->size; column++) {
    int pivot = column;
    while (pivot < m->size && m->row[pivot][column] == 0) pivot++;
    if (pivot == m->size) GAB_FAIL(GAB_ERR_STATE, "the columns that are left do not determine the others");
    if (pivot != column) {
      uint8_t swapped[2 * GAB_CODE_COLUMNS];
      memcpy(swapped, m->row[pivot], sizeof swapped);
      memcpy(m->row[pivot], m->row[column], sizeof swapped);
      memcpy(m->row[column], swapped, sizeof swapped);
    }
    scale_row(m, column, gab_gf_invert(m->row[column][column]));
    for (int row = 0; row < m->size; row++)
      if (row != column && m->row[row][column]) subtract_row(m, row, column, m->row[row][column]);
  }
  return GAB_OK;
}

gab_status gab_code_solve(int data, const int *present, int wanted, uint8_t *factors)
{
  matrix m = {.size = data};
  for (int i = 0; i < data; i++) {
    for (int column = 0; column < data; column++)
      m.row[i][column] =
          present[i] < data ? present[i] == column : gab_code_factor(data, present[i] - data, column);
    m.row[i][data + i] = 1;
  }
  GAB_TRY(invert(&m));
  for (int i = 0; i < data; i++) factors[i] = m.row[wanted][data + i];
  return GAB_OK;
}
