/* SPDX-License-Identifier: Apache-2.0 */
/* A fault in words, and as members of an object of JSON. */
#include "resilience/loop/timeloop_impl.h"

#include <stdio.h>

const char *gab_fault_who(const gab_rank *lost, int32_t listed, int32_t count, char *text, size_t capacity)
{
  enum { RANK = 13, MORE = 23 }; /* ", 2147483647", " and 2147483647 more" */
  size_t used = (size_t)snprintf(text, capacity, "%s",
                                 count == 0   ? "nobody"
                                 : count == 1 ? "rank "
                                              : "ranks ");
  int32_t i = 0;
  for (; i < listed && i < count && used + RANK + MORE < capacity; i++)
    used += (size_t)snprintf(text + used, capacity - used, "%s%" GAB_PRI_RANK, i ? ", " : "", lost[i]);
  if (i < count) snprintf(text + used, capacity - used, " and %" PRId32 " more", count - i);
  return text;
}

void gab_fault_to_json(gab_json *json, const gab_fault *fault, const gab_rank *lost, int32_t count)
{
  gab_json_list(json, "lost");
  for (int32_t i = 0; i < count; i++) gab_json_int(json, NULL, lost[i]);
  gab_json_close(json);
  gab_json_int(json, "lost_count", fault->lost_count);
  gab_json_text(json, "strategy", fault->strategy ? fault->strategy : "");
  gab_json_text(json, "scope", fault->is_local ? "local" : "global");
  gab_json_int(json, "returned", fault->returned);
  gab_json_uint(json, "incarnation", fault->incarnation);
  gab_json_int(json, "respawned", fault->respawned);
  gab_json_int(json, "noticed_step", fault->noticed_step);
  gab_json_int(json, "restored_step", fault->restored_step);
  gab_json_int(json, "rounds", fault->rounds);
  gab_json_rounded(json, "seconds", fault->seconds, 6);
  gab_json_rounded(json, "revoke", fault->revoke, 6);
  gab_json_rounded(json, "shrink", fault->shrink, 6);
  gab_json_rounded(json, "agree", fault->agree, 6);
  gab_json_rounded(json, "restore", fault->restore, 6);
  gab_json_rounded(json, "reprotect", fault->reprotect, 6);
  gab_json_rounded(json, "rebalance", fault->rebalance, 6);
  gab_json_uint(json, "reconstructed_blocks", fault->approximated);
}
