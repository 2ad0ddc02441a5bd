/* SPDX-License-Identifier: Apache-2.0 */
#define N    4
#define NI   2
#define NAME gab_phasefield_kernel_4_3
#include "phasefield/kernels/kernel_fast_body.inc"
