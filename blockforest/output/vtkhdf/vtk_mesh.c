/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/vtkhdf/vtk_mesh_impl.h"
#include "blockforest/output/vtkhdf/block_scan_impl.h"
#include "core/messages/collective.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Part of the hash: change it if the content of the files changes. */
enum { MESH_FORMAT = 1 };

/* Cell types of VTK. */
enum { VTK_QUAD = 9, VTK_HEXAHEDRON = 12 };

enum { POINTS, CONNECTIVITY, OFFSETS, TYPES, ARRAYS };

static const char *const array_names[ARRAYS] = {"Points", "Connectivity", "Offsets", "Types"};
static const char *const count_names[] = {"NumberOfPoints", "NumberOfCells", "NumberOfConnectivityIds"};
enum { COUNTS = 3 };

/* ---------------------------------------------------------------------------------------- its name */

/* Of the domain, without the blocks. */
static uint64_t hash_of_domain(const gab_forest_options *domain, gab_output_precision precision)
{
  const int32_t numbers[] = {MESH_FORMAT,           (int32_t)precision,    domain->grid.dimension,
                             domain->grid.roots[0], domain->grid.roots[1], domain->grid.roots[2],
                             domain->cells[0],      domain->cells[1],      domain->cells[2]};
  const double lengths[] = {domain->origin[0], domain->origin[1], domain->origin[2], domain->dx};
  return gab_hash64(lengths, sizeof lengths, gab_hash64(numbers, sizeof numbers, 0));
}

static gab_status find_hash(const gab_dual_mesh *mesh, const uint64_t *missing,
                            gab_output_precision precision, uint64_t *hash)
{
  const gab_forest *forest = mesh->forest;
  uint64_t sum = 0;
  for (size_t b = 0; b < gab_forest_block_count(forest); b++)
    sum += gab_hash64(missing + b * mesh->row_words, mesh->row_words * sizeof *missing,
                      gab_block_get_id(gab_forest_block(forest, b)));
  GAB_TRY(gab_world_sum_u64(gab_forest_world(forest), &sum, 1));
  *hash = gab_hash64(&sum, sizeof sum, hash_of_domain(gab_forest_get_options(forest), precision));
  return GAB_OK;
}

/* ---------------------------------------------------------------------------------------- its content */

typedef struct content {
  const gab_dual_mesh *mesh;
  gab_output_precision precision;
  int corners;
  uint64_t *counts, *before; /* cells of each local block, and of all blocks before it */
  uint64_t cells;            /* of all blocks */
  bool is_wide;              /* indices of 64 bits */
  gab_buffer bytes;
} content;

static void describe(void *user, gab_hdf5_image *image)
{
  const content *it = user;
  const int64_t counts[COUNTS] = {(int64_t)it->mesh->points, (int64_t)it->cells,
                                  (int64_t)it->cells * it->corners};
  const hsize_t one = 1;
  gab_hdf5_put_text(image, image->file, "writer", "gabion");
  for (int k = 0; k < COUNTS; k++)
    gab_hdf5_put_table(image, image->file, count_names[k], H5T_NATIVE_INT64, 1, &one, 0, &counts[k]);
}

static void count_cell(void *user, const uint64_t *points)
{
  (void)points;
  ++*(uint64_t *)user;
}

static gab_status count_cells(content *it)
{
  const gab_forest *forest = it->mesh->forest;
  const size_t blocks = gab_forest_block_count(forest);
  GAB_TRY(GAB_NEW_ARRAY(&it->counts, blocks, GAB_MEMORY_OTHER));
  GAB_TRY(GAB_NEW_ARRAY(&it->before, blocks, GAB_MEMORY_OTHER));
  for (size_t b = 0; b < blocks; b++) {
    it->counts[b] = 0;
    gab_dual_mesh_visit(it->mesh, gab_forest_block(forest, b), count_cell, &it->counts[b]);
  }
  return GAB_OK;
}

static gab_status put_index(const content *it, gab_buffer *bytes, uint64_t index)
{
  const int32_t narrow = (int32_t)index;
  return it->is_wide ? gab_put_bytes(bytes, &index, sizeof index)
                     : gab_put_bytes(bytes, &narrow, sizeof narrow);
}

/* Memory for all cells of a block is reserved before. */
static void put_cell(void *user, const uint64_t *points)
{
  content *it = user;
  for (int k = 0; k < it->corners; k++) (void)put_index(it, &it->bytes, points[k]);
}

static void put_bytes(content *it, gab_vtk_file *file, int array, uint64_t offset)
{
  gab_vtk_file_put(file, (size_t)array, offset, it->bytes.data, it->bytes.size);
  gab_buffer_clear(&it->bytes);
}

/* In 2D all levels lie in one plane. */
static gab_status put_points(content *it, gab_vtk_file *file, const gab_block *block)
{
  const gab_forest *forest = it->mesh->forest;
  const gab_forest_options *domain = gab_forest_get_options(forest);
  const bool is_double = it->precision == GAB_OUTPUT_DOUBLE;
  for (int32_t z = 0; z < domain->cells[2]; z++)
    for (int32_t y = 0; y < domain->cells[1]; y++)
      for (int32_t x = 0; x < domain->cells[0]; x++) {
        double at[3];
        gab_block_cell_centre(forest, block, x, y, z, at);
        if (domain->grid.dimension == 2) at[2] = domain->origin[2] + 0.5 * domain->dx;
        const float narrow[3] = {(float)at[0], (float)at[1], (float)at[2]};
        GAB_TRY(is_double ? gab_put_bytes(&it->bytes, at, sizeof at)
                          : gab_put_bytes(&it->bytes, narrow, sizeof narrow));
      }
  put_bytes(it, file, POINTS, gab_dual_mesh_number(it->mesh, block) * it->bytes.size);
  return GAB_OK;
}

static gab_status put_block(content *it, gab_vtk_file *file, size_t b)
{
  const gab_block *block = gab_forest_block(it->mesh->forest, b);
  const uint64_t index_bytes = it->is_wide ? 8 : 4, corners = (uint64_t)it->corners;
  const uint64_t count = it->counts[b], before = it->before[b];
  GAB_TRY(put_points(it, file, block));
  GAB_TRY(gab_buffer_reserve(&it->bytes, (size_t)(count * corners * index_bytes)));
  gab_dual_mesh_visit(it->mesh, block, put_cell, it);
  put_bytes(it, file, CONNECTIVITY, before * corners * index_bytes);
  for (uint64_t i = 0; i < count; i++) GAB_TRY(put_index(it, &it->bytes, (before + i) * corners));
  put_bytes(it, file, OFFSETS, before * index_bytes);
  for (uint64_t i = 0; i < count; i++)
    GAB_TRY(gab_put_u8(&it->bytes, it->corners == GAB_DUAL_CORNERS ? VTK_HEXAHEDRON : VTK_QUAD));
  put_bytes(it, file, TYPES, before);
  return GAB_OK;
}

static gab_status put_blocks(content *it, gab_vtk_file *file)
{
  const gab_forest *forest = it->mesh->forest;
  for (size_t b = 0; b < gab_forest_block_count(forest) && !file->error; b++) GAB_TRY(put_block(it, file, b));
  if (gab_world_is_root(gab_forest_world(forest))) { /* the end of the last cell */
    GAB_TRY(put_index(it, &it->bytes, it->cells * (uint64_t)it->corners));
    put_bytes(it, file, OFFSETS, it->cells * (it->is_wide ? 8 : 4));
  }
  return GAB_OK;
}

static void shape_arrays(const content *it, gab_vtk_array arrays[ARRAYS])
{
  const gab_vtk_type index = it->is_wide ? GAB_VTK_I64 : GAB_VTK_I32;
  const gab_vtk_type types[ARRAYS] = {it->precision == GAB_OUTPUT_DOUBLE ? GAB_VTK_F64 : GAB_VTK_F32, index,
                                      index, GAB_VTK_U8};
  const uint64_t extents[ARRAYS] = {it->mesh->points, it->cells * (uint64_t)it->corners, it->cells + 1,
                                    it->cells};
  for (int k = 0; k < ARRAYS; k++) {
    arrays[k] = (gab_vtk_array){.type = types[k], .axes = 1, .extent = {extents[k]}};
    snprintf(arrays[k].path, sizeof arrays[k].path, "%s", array_names[k]);
  }
  arrays[POINTS].extent[arrays[POINTS].axes++] = 3;
}

static gab_status write_mesh(content *it, const char *path)
{
  gab_world *world = gab_forest_world(it->mesh->forest);
  gab_vtk_array arrays[ARRAYS];
  gab_vtk_file file;
  GAB_TRY(gab_world_reduce_status(world, count_cells(it)));
  GAB_TRY(gab_block_scan(it->mesh->forest, it->counts, it->before, &it->cells));
  it->is_wide = it->cells * (uint64_t)it->corners > INT32_MAX || it->mesh->points > INT32_MAX;
  shape_arrays(it, arrays);
  const gab_vtk_head head = {.describe = describe, .user = it, .arrays = arrays, .array_count = ARRAYS};
  GAB_TRY(gab_vtk_file_open(&file, world, path, &head));
  return gab_vtk_file_commit(&file, put_blocks(it, &file));
}

/* ---------------------------------------------------------------------------------------- the file */

gab_status gab_vtk_mesh_write(const gab_dual_mesh *mesh, const uint64_t *missing,
                              gab_output_precision precision, const char *folder, const char *name,
                              char file[GAB_VTK_MESH_NAME])
{
  gab_world *world = gab_forest_world(mesh->forest);
  char path[GAB_OUTPUT_PATH_CAPACITY];
  uint64_t hash = 0, is_there = 0;
  GAB_TRY(find_hash(mesh, missing, precision, &hash));
  snprintf(file, GAB_VTK_MESH_NAME, "%s_mesh_%020" PRIu64 ".h5", name, hash);
  GAB_TRY(gab_output_path(path, "%s/%s", folder, file));
  if (gab_world_is_root(world)) is_there = access(path, R_OK) == 0;
  GAB_TRY(gab_world_max_u64(world, &is_there, 1));
  if (is_there) return GAB_OK;
  content it = {.mesh = mesh,
                .precision = precision,
                .corners = 1 << gab_forest_get_options(mesh->forest)->grid.dimension};
  const gab_status status = write_mesh(&it, path);
  gab_free(&it.counts);
  gab_free(&it.before);
  gab_buffer_release(&it.bytes);
  return status;
}

void gab_vtk_mesh_link(gab_hdf5_image *image, hid_t group, const char *file)
{
  if (image->failed) return;
  for (int k = 0; k < COUNTS + ARRAYS; k++) {
    const char *const name = k < COUNTS ? count_names[k] : array_names[k - COUNTS];
    gab_hdf5_check(image, H5Lcreate_external(file, name, group, name, H5P_DEFAULT, H5P_DEFAULT));
  }
}
