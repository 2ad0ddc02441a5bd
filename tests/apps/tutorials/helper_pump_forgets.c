/* SPDX-License-Identifier: Apache-2.0 */
/* The tutorial apps/tutorial/pump.c without its entity: to see that the result depends on it. */
#include "apps/driver/run/run.h"
static gab_status leave_out(const gab_entity *entity) { return entity ? GAB_OK : GAB_ERR_ARGUMENT; }
#define gab_timeloop_add_entity(loop, entity) leave_out(entity)
#include "apps/tutorial/pump.c"
