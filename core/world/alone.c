/* SPDX-License-Identifier: Apache-2.0 */
#include "core/world/alone.h"

#include "core/base/log.h"
#include "core/system/float_modes.h"
#include "core/world/launcher.h"
#include "core/world/world_impl.h"

gab_status gab_world_create_alone(gab_world **world)
{
  *world = NULL;
  gab_world *fresh;
  GAB_TRY(GAB_NEW(&fresh, GAB_MEMORY_OTHER));
  gab_world_initialise(fresh);
  fresh->is_without_mpi = true;
  gab_members_init(&fresh->processes, 1);
  gab_members_init(&fresh->members, 1);
  gab_members_init(&fresh->whole, 0);
  fresh->first_processes = 1;
  const gab_status status = gab_world_open_ports(fresh);
  if (status != GAB_OK) {
    gab_world_release(fresh);
    return status;
  }
  gab_log_set_identity(0, gab_launcher_rank() <= 0);
  (void)gab_float_modes_settle();
  *world = fresh;
  return GAB_OK;
}
