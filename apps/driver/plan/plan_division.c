/* SPDX-License-Identifier: Apache-2.0 */
/* A division of processes into clusters, written for resilience.local.clusters. */
#include "apps/driver/plan/plan.h"

#include "core/system/file.h"

#include <string.h>

static const char *const goals[] = {
    [GAB_CLUSTERS_TOTAL] = "least total", [GAB_CLUSTERS_LARGEST] = "least largest"};

/* ---------------------------------------------------------------- the file */

static gab_status put_text(gab_buffer *out, const char *text)
{
  return gab_put_bytes(out, text, strlen(text));
}

/* One line of a cluster: its processes as ranges. */
static gab_status put_cluster(gab_buffer *out, int32_t number, const int32_t *cluster, int32_t ranks)
{
  char word[64];
  snprintf(word, sizeof word, "cluster%" PRId32 ":", number + 1);
  GAB_TRY(put_text(out, word));
  for (int32_t first = 0, last; first < ranks; first = last + 1) {
    last = first;
    if (cluster[first] != number) continue;
    while (last + 1 < ranks && cluster[last + 1] == number) last++;
    if (first == last) snprintf(word, sizeof word, " %" PRId32, first);
    else snprintf(word, sizeof word, " %" PRId32 "-%" PRId32, first, last);
    GAB_TRY(put_text(out, word));
  }
  return put_text(out, "\n");
}

static gab_status write_division(const plan_division *division, const int32_t *cluster, int32_t ranks)
{
  gab_buffer text = {0};
  char head[320];
  snprintf(head, sizeof head,
           "# %" PRId32 " cluster%s of %" PRId32
           " processes by %s log (gabion plan): %.5g byte per step and process, %.5g "
           "at most.\n# For resilience.local.clusters of a run with as many processes.\n",
           division->clusters, division->clusters == 1 ? "" : "s", ranks, goals[division->goal],
           division->log.mean, division->log.largest);
  gab_status status = put_text(&text, head);
  for (int32_t number = 0; number < division->clusters && status == GAB_OK; number++)
    status = put_cluster(&text, number, cluster, ranks);
  if (status == GAB_OK) status = gab_file_replace(division->path, text.data, text.size, GAB_FILE_RENAMED);
  gab_buffer_release(&text);
  return status;
}

gab_status gab_app_plan_divide(const plan_options *options, gab_cluster_task *task, int32_t domains,
                               int32_t *cluster, plan_division *division)
{
  if (options->divide == 0) return GAB_OK;
  if (options->divide > domains)
    GAB_FAIL(GAB_ERR_INPUT,
             "--clusters %" PRId64 ": there are %" PRId32 " failure domains, which are not cut",
             options->divide, domains);
  division->clusters = task->clusters = (int32_t)options->divide;
  division->goal = task->goal = options->least_largest ? GAB_CLUSTERS_LARGEST : GAB_CLUSTERS_TOTAL;
  division->path = options->write;
  GAB_TRY(gab_clusters_find(task, cluster, &division->log));
  return options->write ? write_division(division, cluster, task->ranks) : GAB_OK;
}

/* ---------------------------------------------------------------- for people, and for programs */

void gab_app_plan_division_print(const plan_division *division, FILE *out)
{
  if (division->clusters == 0) return;
  fprintf(out, "  %" PRId32 " cluster%s by %s: mean %.5g, most %.5g byte", division->clusters,
          division->clusters == 1 ? "" : "s", goals[division->goal], division->log.mean,
          division->log.largest);
  if (division->path) fprintf(out, "; written to %s", division->path);
  fprintf(out, "\n");
}

void gab_app_plan_log_put(gab_json *json, const char *name, const gab_cluster_log *log)
{
  gab_json_object(json, name);
  gab_json_real(json, "total", log->total);
  gab_json_real(json, "mean", log->mean);
  gab_json_real(json, "most", log->largest);
  gab_json_int(json, "most_at", log->at);
  gab_json_real(json, "rolls_back_mean", log->back_mean);
  gab_json_real(json, "rolls_back_most", log->back_most);
  gab_json_close(json);
}

void gab_app_plan_division_put(const plan_division *division, gab_json *json)
{
  if (division->clusters == 0) return;
  gab_json_object(json, "division");
  gab_json_int(json, "clusters", division->clusters);
  gab_json_text(json, "by", goals[division->goal]);
  if (division->path) gab_json_text(json, "file", division->path);
  gab_app_plan_log_put(json, "log", &division->log);
  gab_json_close(json);
}
