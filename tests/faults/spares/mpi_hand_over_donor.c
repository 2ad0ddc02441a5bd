/* SPDX-License-Identifier: Apache-2.0 */
/* The donor of an image dies when the replacement process has all of it, before the next snapshot: that process
 * restores the received image, and the donor is replaced in its turn. */
/* gabion-test: np=7 timeout=60 needs=ulfm args=2 donor */
#include "tests/faults/spares/mpi_hand_over.c"
