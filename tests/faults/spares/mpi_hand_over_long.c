/* SPDX-License-Identifier: Apache-2.0 */
/* At twenty moments, the last with the whole image. */
/* gabion-test: np=24 timeout=300 labels=long needs=ulfm args=20 */
/* gabion-test: np=24 env=GABION_TEST_WAY=share */
/* gabion-test: np=24 env=GABION_TEST_WAY=send */
/* gabion-test: np=24 env=GABION_TEST_WAY=compressed */
/* gabion-test: np=24 env=GABION_TEST_WAY=parity */
#include "tests/faults/spares/mpi_hand_over.c"
