/* SPDX-License-Identifier: Apache-2.0 */
/* A short run of the fuzz target with mutations of its seeds; see fuzz_main.h for longer ones. */
/* gabion-test: timeout=120 labels=quick args=-runs=20000 */
#include "tests/fuzz/fuzz_tiff.c"
