/* SPDX-License-Identifier: Apache-2.0 */
/* Ends a failed setup with the same status on all processes. */
#include "apps/driver/driver.h"
#include "core/base/log.h"

/* Before the run is protected nothing can be restored, but all processes end with the same status and its reason. */
gab_status gab_app_end_of_setup(gab_world *world, gab_status status)
{
  gab_status abort_request;
  if (status != GAB_ERR_FAULT) return status;
  GAB_TRY(gab_world_repair(world, &abort_request));
  if (abort_request != GAB_OK) return abort_request;
  GAB_FAIL(GAB_ERR_AGAIN, "a process died while the run was being set up: nothing is lost");
}

gab_status gab_app_refuse(gab_world *world, gab_status status)
{
  const bool died = status == GAB_ERR_FAULT;
  status = gab_app_end_of_setup(world, status);
  if (died) gab_log(GAB_LOG_ERROR, "%s: %s", gab_status_name(status), gab_error_message());
  else gab_log(GAB_LOG_ERROR, "%s", gab_error_message());
  return status;
}
