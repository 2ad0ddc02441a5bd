/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/output/fields/step_files_impl.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/output/fields/xdmf_impl.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Content of a file name of this output. */
typedef struct file_name {
  gab_step step;
  gab_rank rank; /* GAB_NO_RANK: of all */
  const char *extension;
  bool is_temporary;
} file_name;

static bool parse_name(const char *prefix, const char *text, file_name *name)
{
  size_t length = strlen(prefix);
  if (strncmp(text, prefix, length) != 0 || text[length] != '_') return false;
  const char *digits = text + length + 1;
  char *end = NULL;
  if (!isdigit((unsigned char)digits[0])) return false;
  errno = 0;
  long long step = strtoll(digits, &end, 10);
  if (errno || end - digits < 10) return false;
  *name = (file_name){.step = step, .rank = GAB_NO_RANK};
  if (strncmp(end, ".s", 2) == 0 && isdigit((unsigned char)end[2])) {
    name->rank = (gab_rank)strtol(end + 2, &end, 10);
    if (strncmp(end, ".h5", 3) != 0) return false;
  }
  static const char *const extensions[] = {".h5", ".xdmf", ".vtkhdf"};
  for (size_t i = 0; i < sizeof extensions / sizeof *extensions && !name->extension; i++)
    if (strncmp(end, extensions[i], strlen(extensions[i])) == 0) name->extension = extensions[i];
  if (!name->extension) return false;
  end += strlen(name->extension);
  name->is_temporary = strcmp(end, GAB_OUTPUT_TEMPORARY) == 0;
  return name->is_temporary || end[0] == '\0';
}

static int compare_steps(const void *a, const void *b)
{
  gab_step x = *(const gab_step *)a, y = *(const gab_step *)b;
  return (x > y) - (x < y);
}

/* Removes files of later steps, and files of this step whose rank no longer writes. */
static gab_status clean_folder(gab_step_files *files, const gab_world *world, const char *path,
                               const char *prefix, gab_step step)
{
  DIR *folder = opendir(path);
  if (!folder) GAB_FAIL(GAB_ERR_IO, "cannot look into %s: %s", path, strerror(errno));
  const gab_members *members = gab_world_members(world);
  const char *const description = files->description ? files->description : ".xdmf";
  gab_status status = GAB_OK;
  gab_buffer_clear(&files->steps);
  for (struct dirent *entry = readdir(folder); entry && status == GAB_OK; entry = readdir(folder)) {
    file_name name;
    if (!parse_name(prefix, entry->d_name, &name)) continue;
    bool is_orphan = name.step == step && name.rank != GAB_NO_RANK && !gab_members_has(members, name.rank);
    if (name.is_temporary || name.step > step || is_orphan) {
      if (unlinkat(dirfd(folder), entry->d_name, 0) != 0 && errno != ENOENT) {
        status = gab_error_set(GAB_ERR_IO, __FILE__, __LINE__, "cannot remove %s/%s: %s", path, entry->d_name,
                               strerror(errno));
      }
    } else if (name.step < step && strcmp(name.extension, description) == 0) {
      status = gab_put_bytes(&files->steps, &name.step, sizeof name.step);
    }
  }
  closedir(folder);
  if (files->steps.size) {
    qsort(files->steps.data, files->steps.size / sizeof(gab_step), sizeof(gab_step), compare_steps);
  }
  return status;
}

void gab_step_files_release(gab_step_files *files) { gab_buffer_release(&files->steps); }

gab_status gab_step_files_update(gab_step_files *files, const gab_world *world, const char *folder,
                                 const char *name, gab_step step)
{
  const gab_epoch epoch = gab_world_epoch(world);
  const gab_step *steps = (const gab_step *)files->steps.data;
  const size_t count = files->steps.size / sizeof(gab_step);
  if (count && steps[count - 1] == step) files->steps.size -= sizeof(gab_step);
  const bool went_back = count && steps[count - 1] > step;
  if (!files->is_known || files->epoch != epoch || went_back) {
    files->is_known = false;
    GAB_TRY(clean_folder(files, world, folder, name, step));
    files->is_known = true;
    files->epoch = epoch;
  }
  return gab_put_bytes(&files->steps, &step, sizeof step);
}

gab_status gab_step_files_write_index(const gab_step_files *files, const char *folder, const char *name)
{
  char path[GAB_OUTPUT_PATH_CAPACITY];
  gab_buffer text = {0};
  GAB_TRY(gab_output_path(path, "%s/%s.xdmf", folder, name));
  gab_status status = gab_xdmf_put_index(&text, name, (const gab_step *)files->steps.data,
                                         files->steps.size / sizeof(gab_step));
  if (status == GAB_OK) status = gab_output_file_save(path, text.data, text.size);
  gab_buffer_release(&text);
  return status;
}
