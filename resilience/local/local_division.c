/* SPDX-License-Identifier: Apache-2.0 */
/* Clusters of local recovery: parsing of the parameter; cluster of a rank. */
#include "resilience/local/local_division_impl.h"
#include "resilience/schemes/domains_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

gab_status gab_division_parse(const char *text, gab_division *division)
{
  *division = (gab_division){.kind = GAB_DIVISION_RANK};
  if (!text || !text[0] || strcmp(text, "rank") == 0) return GAB_OK;
  if (strcmp(text, "node") == 0) {
    division->kind = GAB_DIVISION_NODE;
    return GAB_OK;
  }
  char *end;
  errno = 0;
  const long number = strtol(text, &end, 10);
  if (*end) {
    division->kind = GAB_DIVISION_FILE;
    return GAB_OK;
  }
  if (errno != 0 || number < 1 || number > INT32_MAX)
    GAB_FAIL(GAB_ERR_INPUT, "resilience.local.clusters = %s: must be at least 1", text);
  division->kind = GAB_DIVISION_NUMBER;
  division->number = (int32_t)number;
  return GAB_OK;
}

static gab_status check_number(const gab_division *division, int32_t ranks)
{
  if (division->kind == GAB_DIVISION_NUMBER && division->number > ranks)
    GAB_FAIL(GAB_ERR_INPUT,
             "resilience.local.clusters = %" PRId32 ": must be at most the number of ranks, %" PRId32,
             division->number, ranks);
  return GAB_OK;
}

gab_status gab_division_check(const char *text, int32_t ranks, int32_t spares)
{
  gab_division division;
  GAB_TRY(gab_division_parse(text, &division));
  GAB_TRY(check_number(&division, ranks));
  if (division.kind != GAB_DIVISION_FILE) return GAB_OK;
  const gab_status status = gab_domains_load(text, ranks, spares, &division.file);
  gab_division_release(&division);
  return status;
}

gab_status gab_division_make(gab_world *world, const char *text, gab_division *division)
{
  GAB_TRY(gab_division_parse(text, division));
  GAB_TRY(check_number(division, (int32_t)gab_members_count(gab_world_members(world))));
  return division->kind == GAB_DIVISION_FILE ? gab_domains_find(world, text, GAB_DOMAIN_NODE, &division->file)
                                             : GAB_OK;
}

void gab_division_release(gab_division *division) { gab_domains_destroy(&division->file); }

static gab_rank domain_of(const gab_domains *domains, gab_rank number)
{
  return (gab_rank)gab_domains_range(domains, GAB_DOMAIN_NODE, gab_domains_place(domains, number)).first;
}

gab_rank gab_division_cluster(const gab_division *division, const gab_members *members,
                              const gab_domains *nodes, gab_rank place)
{
  switch (division->kind) {
  case GAB_DIVISION_NODE:
    return domain_of(nodes, (gab_rank)gab_members_process(members, gab_members_rank(members, place)));
  case GAB_DIVISION_NUMBER:
    return (gab_rank)((int64_t)place * division->number / gab_members_count(members));
  case GAB_DIVISION_FILE:
    return domain_of(division->file, gab_members_rank(members, place));
  default:
    return place;
  }
}
