/* SPDX-License-Identifier: Apache-2.0 */
/* Fluid cells, row by row, in blocks of both kinds. */
#include "lbm/sparse/sparse_impl.h"
#include "core/base/lower_bound_impl.h"

static bool visit_dense(const gab_lbm_job *job, gab_lbm_row_visitor visit, void *user)
{
  const gab_lbm_block *block = job->block;
  size_t first, last;
  gab_lbm_share(job, block->run_count, &first, &last);
  for (size_t k = first; k < last; k++)
    for (int32_t done = 0; done < block->runs[k].length; done += GAB_LBM_ROW) {
      const int32_t left = block->runs[k].length - done, count = left < GAB_LBM_ROW ? left : GAB_LBM_ROW;
      const uint32_t start = block->runs[k].start + (uint32_t)done;
      if (!visit(user, block, start, count, start)) return false;
    }
  return true;
}

static bool visit_sparse(const gab_lbm_model *model, const gab_lbm_job *job, enum gab_sparse_wanted wanted,
                         gab_lbm_row_visitor visit, void *user)
{
  const gab_sparse *sparse = job->block->sparse;
  gab_sparse_window window;
  size_t first, last;
  gab_lbm_share(job, sparse->chunk_count, &first, &last);
  for (size_t k = first; k < last; k++) {
    gab_sparse_open_window(model, job->block, k, wanted, &window);
    if (!visit(user, &window.view, window.start, window.count, sparse->chunks[k].cell)) return false;
  }
  return true;
}

bool gab_lbm_visit_rows(const gab_lbm_model *model, const gab_lbm_job *job, gab_lbm_row_visitor visit,
                        void *user)
{
  return job->block->sparse ? visit_sparse(model, job, GAB_SPARSE_SENT, visit, user)
                            : visit_dense(job, visit, user);
}

bool gab_lbm_visit_arriving_rows(const gab_lbm_model *model, const gab_lbm_job *job,
                                 gab_lbm_row_visitor visit, void *user)
{
  return job->block->sparse ? visit_sparse(model, job, GAB_SPARSE_ARRIVING, visit, user)
                            : visit_dense(job, visit, user);
}

static bool ends_before(const gab_run *run, int32_t x, int32_t y, int32_t z)
{
  if (run->z != z) return run->z < z;
  if (run->y != y) return run->y < y;
  return run->x + run->length <= x;
}

size_t gab_lbm_run_from(const gab_lbm_block *block, int32_t x, int32_t y, int32_t z)
{
  size_t first = 0;
  GAB_LOWER_BOUND(size_t, first, block->run_count, i, ends_before(&block->runs[i], x, y, z));
  return first;
}
