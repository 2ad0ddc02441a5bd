/* SPDX-License-Identifier: Apache-2.0 */
#define N    2
#define NI   1
#define NAME gab_phasefield_kernel_2_2
#include "phasefield/kernels/kernel_fast_body.inc"
