/* SPDX-License-Identifier: Apache-2.0 */
/* Initial states from the output of an earlier run: blocks are read when a cell of them is asked for. */
#include "blockforest/hdf5/hdf5_input.h"
#include "phasefield/setup/initial_impl.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { CACHED_BLOCKS = 32, MOST_FIELDS = GAB_MOST_PHASES + GAB_MOST_INDEPENDENTS };

typedef struct cached_block {
  gab_box box;
  double *values; /* [field][z][y][x] */
} cached_block;

struct gab_phasefield_start_file {
  gab_volume_files *files;
  int phases, independents;
  char names[MOST_FIELDS][GAB_PHASE_NAME_LENGTH + 8];
  const char *wanted[MOST_FIELDS];
  pthread_mutex_t mutex;
  cached_block cache[CACHED_BLOCKS];
  int next;
  gab_status failed; /* the first failure of a read */
  char message[512];
};

void gab_phasefield_start_file_close(gab_phasefield_start_file **file)
{
  gab_phasefield_start_file *gone = *file;
  if (!gone) return;
  for (int i = 0; i < CACHED_BLOCKS; i++) gab_free(&gone->cache[i].values);
  gab_volume_files_close(&gone->files);
  pthread_mutex_destroy(&gone->mutex);
  gab_free(file);
}

static gab_status require(const gab_phasefield_start_file *file, const char *path, const char *name)
{
  if (gab_volume_files_have(file->files, name)) return GAB_OK;
  GAB_FAIL(GAB_ERR_INPUT, "%s has no %s, only %s; it takes phi_NAME of all phases, and c_1 ... or mu_1 ...",
           path, name, gab_volume_files_names(file->files));
}

static gab_status choose_fields(gab_phasefield_start_file *file, const char *path, const gab_thermo *thermo,
                                bool *as_stored)
{
  file->phases = thermo->phases;
  file->independents = thermo->independents;
  *as_stored = true;
  for (int i = 0; i < MOST_FIELDS; i++) file->wanted[i] = file->names[i];
  for (int a = 0; a < thermo->phases; a++) {
    snprintf(file->names[a], sizeof *file->names, "phi_%s", thermo->phase[a].name);
    GAB_TRY(require(file, path, file->names[a]));
  }
  for (int turn = 0; turn < 2; turn++) {
    bool all = true;
    for (int i = 0; i < thermo->independents; i++) {
      char *name = file->names[thermo->phases + i];
      snprintf(name, sizeof *file->names, "%s_%d", *as_stored ? "c" : "mu", i + 1);
      if (turn == 1) GAB_TRY(require(file, path, name));
      all = all && gab_volume_files_have(file->files, name);
    }
    if (all) break;
    *as_stored = false;
  }
  return GAB_OK;
}

gab_status gab_phasefield_start_file_open(const char *path, const gab_forest_options *forest,
                                          const gab_thermo *thermo, bool *as_stored,
                                          gab_phasefield_start_file **file)
{
  *file = NULL;
  gab_phasefield_start_file *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  if (pthread_mutex_init(&made->mutex, NULL) != 0) {
    gab_free(&made);
    GAB_FAIL(GAB_ERR_MEMORY, "no mutex for an initial state");
  }
  gab_status status = gab_volume_files_open(path, forest, &made->files);
  if (status == GAB_OK) status = choose_fields(made, path, thermo, as_stored);
  if (status != GAB_OK) gab_phasefield_start_file_close(&made);
  *file = made;
  return status;
}

static bool has_cell(const cached_block *block, const int64_t cell[3])
{
  bool inside = block->values != NULL;
  for (int k = 0; k < 3; k++) inside = inside && cell[k] >= block->box.lo[k] && cell[k] < block->box.hi[k];
  return inside;
}

/* Of a run that has diverged, say, or of one with more phases. */
static gab_status check_values(const gab_phasefield_start_file *file, const cached_block *block,
                               const gab_box *box)
{
  const double enough = 1e-3; /* tolerance for rounded numbers of the file */
  const size_t cells = gab_box_count(box);
  for (size_t i = 0; i < cells; i++) {
    double sum = 0;
    for (int k = 0; k < file->phases + file->independents; k++) {
      const double value = block->values[(size_t)k * cells + i];
      if (!isfinite(value))
        GAB_FAIL(
            GAB_ERR_INPUT,
            "the state to start from has a value of %s that is not finite, in the block from cell (%" PRId64
            ", %" PRId64 ", %" PRId64 ") on",
            file->names[k], box->lo[0], box->lo[1], box->lo[2]);
      if (k < file->phases) sum += value;
    }
    if (!(fabs(sum - 1) < enough))
      GAB_FAIL(GAB_ERR_INPUT,
               "the state to start from has phases that sum to %g, not 1, in the block from cell (%" PRId64
               ", %" PRId64 ", %" PRId64 ") on",
               sum, box->lo[0], box->lo[1], box->lo[2]);
  }
  return GAB_OK;
}

static gab_status load(gab_phasefield_start_file *file, const int64_t cell[3], cached_block **found)
{
  for (int i = 0; i < CACHED_BLOCKS; i++)
    if (has_cell(&file->cache[i], cell)) {
      *found = &file->cache[i];
      return GAB_OK;
    }
  cached_block *block = &file->cache[file->next];
  const size_t fields = (size_t)(file->phases + file->independents);
  if (!block->values) {
    const int32_t *cells = gab_volume_files_cells(file->files);
    GAB_TRY(GAB_NEW_ARRAY(&block->values, fields * (size_t)cells[0] * (size_t)cells[1] * (size_t)cells[2],
                          GAB_MEMORY_OTHER));
  }
  block->box = (gab_box){0}; /* nothing, should the read fail */
  gab_box box;
  GAB_TRY(gab_volume_files_read(file->files, cell, file->wanted, fields, &box, block->values));
  GAB_TRY(check_values(file, block, &box));
  block->box = box;
  file->next = (file->next + 1) % CACHED_BLOCKS;
  *found = block;
  return GAB_OK;
}

void gab_phasefield_start_file_cell(gab_phasefield_start_file *file, const int64_t cell[3], double *phi,
                                    double *mu)
{
  cached_block *block = NULL;
  pthread_mutex_lock(&file->mutex);
  gab_status status = file->failed == GAB_OK ? load(file, cell, &block) : file->failed;
  if (status != GAB_OK && file->failed == GAB_OK) {
    file->failed = status;
    snprintf(file->message, sizeof file->message, "%s", gab_error_message());
  }
  for (int i = 0; i < file->phases + file->independents; i++) {
    double value = NAN;
    if (status == GAB_OK) {
      const gab_box *box = &block->box;
      const int64_t nx = box->hi[0] - box->lo[0], ny = box->hi[1] - box->lo[1], nz = box->hi[2] - box->lo[2];
      value = block->values[((i * nz + cell[2] - box->lo[2]) * ny + cell[1] - box->lo[1]) * nx + cell[0] -
                            box->lo[0]];
    }
    if (i < file->phases) phi[i] = value;
    else mu[i - file->phases] = value;
  }
  pthread_mutex_unlock(&file->mutex);
}

gab_status gab_phasefield_start_file_status(gab_phasefield_start_file *file)
{
  pthread_mutex_lock(&file->mutex);
  const gab_status status = file->failed;
  pthread_mutex_unlock(&file->mutex);
  return status == GAB_OK ? GAB_OK : gab_error_set(status, __FILE__, __LINE__, "%s", file->message);
}
