/* SPDX-License-Identifier: Apache-2.0 */
/* Erasure codes over bytes: parities of columns, and reconstruction of lost columns. Internal.
 *
 * A stripe has `data` columns and `parities` columns that are linear combinations of them over GF(2^8) (polynomial x^8 +
 * x^4 + x^3 + x^2 + 1): any `data` columns determine the others. The matrix is a Cauchy matrix whose columns are scaled so
 * that its first row is all ones: parity 0 is the exclusive or for any number of parities (Blömer et al. 1995; scaling a
 * column by a constant keeps every square part regular). */
#ifndef GABION_RESILIENCE_CODE_IMPL_H
#define GABION_RESILIENCE_CODE_IMPL_H

#include "core/base/status.h"

enum { GAB_CODE_COLUMNS = 64, GAB_CODE_PARITIES = 8 };

/* The factor of data column `column` in parity `parity`. */
uint8_t gab_code_factor(int data, int parity, int column);

/* Product in GF(2^8), and the inverse of a non-zero number. */
uint8_t gab_gf_multiply(uint8_t a, uint8_t b);
uint8_t gab_gf_invert(uint8_t a);

/* Finds factors that give data column `wanted` from `data` present columns: present[i] is the number of the i-th; data
 * columns count from 0, parities from `data`. ::GAB_ERR_STATE if these columns do not determine it. */
gab_status gab_code_solve(int data, const int *present, int wanted, uint8_t *factors);

/* into = sum of factors[i] * from[i], `bytes` of each; `into` must not be one of them. Multithreaded. */
void gab_code_combine(const uint8_t *factors, const unsigned char *const *from, int count, size_t bytes,
                      unsigned char *into);

#endif
