/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: state of gab_state that gab_reinit() needs. */
#ifndef GABION_RESILIENCE_REINIT_IMPL_H
#define GABION_RESILIENCE_REINIT_IMPL_H

#include "resilience/recovery/reinit.h"

/* The program keeps its state by gab_state: until a save is committed, a death loses nothing. */
void gab_reinit_keeps_state(void);
/* This process has taken part in a save that was committed, or has loaded one. */
void gab_reinit_has_saved(void);

#endif
