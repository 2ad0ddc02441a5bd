/* SPDX-License-Identifier: Apache-2.0 */
/* Internal: shared functions of the writers. Paths, and files that appear when they are complete. */
#ifndef GABION_BLOCKFOREST_OUTPUT_FILES_IMPL_H
#define GABION_BLOCKFOREST_OUTPUT_FILES_IMPL_H

#include "blockforest/output/output_files.h"
#include "blockforest/output/output_quantity.h"
#include "core/base/buffer.h"
#include <stdio.h>

#define GAB_OUTPUT_PATH_CAPACITY 4096
#define GAB_OUTPUT_TEMPORARY     ".tmp" /* extension of incomplete files */

/* Capacity for the name or unit of a quantity in titles and columns. */
#define GAB_OUTPUT_LABEL_CAPACITY 128

/* printf into a path; GAB_ERR_INPUT if it is too long. */
gab_status gab_output_path(char path[GAB_OUTPUT_PATH_CAPACITY], const char *format, ...) GAB_PRINTF(2, 3);

/* Appends printf-like text, unterminated. */
gab_status gab_put_text(gab_buffer *buffer, const char *format, ...) GAB_PRINTF(2, 3);

#define GAB_OUTPUT_NUMBER 32

/* The shortest decimal number that is read as the same double, "nan" for any NaN; the same in every locale. */
void gab_output_number(double value, char text[GAB_OUTPUT_NUMBER]);

/* A copy of a string; NULL gives NULL. Released by gab_free(). */
gab_status gab_output_copy_string(const char *text, char **copy);

/* First part of the names of a writer's files. Borrowed. */
struct gab_volume;
struct gab_slice;
const char *gab_volume_name(const struct gab_volume *volume);
const char *gab_slice_name(const struct gab_slice *slice);
/* Appends the names of the files of a volume, see gab_output_list_files(). */
gab_status gab_volume_list_files(const struct gab_volume *volume, gab_buffer *names);

#define GAB_OUTPUT_FILE_BUFFER 16384

/* A file under a temporary name, renamed at the end. Waits while the disk refuses (output_retry_impl.h). */
typedef struct gab_output_file {
  bool is_open;
  int descriptor;
  int error; /* errno of the first failure, 0 if none */
  size_t held;
  char path[GAB_OUTPUT_PATH_CAPACITY], temporary[GAB_OUTPUT_PATH_CAPACITY];
  unsigned char buffer[GAB_OUTPUT_FILE_BUFFER]; /* the first `held` bytes are not yet in the file */
} gab_output_file;

gab_status gab_output_file_open(gab_output_file *file, const char *path);
/* Failures are recorded for the commit. */
void gab_output_file_write(gab_output_file *file, const void *bytes, size_t count);
/* Flushes, closes, renames; after any failure removes the temporary file. `status` is the status of the writing:
 * unless it is GAB_OK, the file is removed and that status returned. */
gab_status gab_output_file_commit(gab_output_file *file, gab_status status);

/* Label of a scalar in titles: "velocity.x" or "density". */
void gab_output_scalar_label(const gab_quantity *quantity, gab_component component,
                             char label[GAB_OUTPUT_LABEL_CAPACITY]);

/* Lower corner of a block and width of its cells, from integers: the same on every rank. */
void gab_output_block_origin(const gab_forest *forest, const gab_block *block, double origin[3],
                             double *spacing);

#endif
