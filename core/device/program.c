/* SPDX-License-Identifier: Apache-2.0 */
/* Programs of a device: compiled once for each text and options, found again in memory or in the cache folder. */
#include "core/device/device_impl.h"

#include "core/base/hash.h"

#include <string.h>

extern const char gab_device_head_text[]; /* made of head.inc by the build */

typedef struct kernel {
  char name[GAB_DEVICE_TEXT];
  gab_device_handle handle;
  struct kernel *next;
} kernel;

struct gab_device_program {
  gab_device *device;
  uint64_t key;
  gab_device_handle handle;
  kernel *kernels;
  gab_device_program *next;
};

static void drop(gab_device_program *program)
{
  const gab_device_backend *backend = program->device->backend;
  while (program->kernels) {
    kernel *gone = program->kernels;
    program->kernels = gone->next;
    if (backend->release_kernel) backend->release_kernel(program->device, gone->handle);
    gab_free(&gone);
  }
  backend->unload_program(program->device, program->handle);
  gab_free(&program);
}

void gab_device_drop_programs(gab_device *device)
{
  while (device->programs) {
    gab_device_program *gone = device->programs;
    device->programs = gone->next;
    drop(gone);
  }
}

static uint64_t key_of(const gab_device_about *about, const char *text, const char *options)
{
  const char *const parts[] = {about->backend,       about->name, about->runtime,
                               gab_device_head_text, text,        options};
  gab_hash64_stream stream;
  gab_hash64_begin(&stream, 1);
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
    gab_hash64_add(&stream, parts[i], strlen(parts[i]) + 1);
  return gab_hash64_of(&stream);
}

/* What is in the folder may be of a runtime that says the same of itself and is another one: then it is compiled. */
static gab_status load_or_compile(gab_device *device, uint64_t key, const char *text, const char *options,
                                  gab_device_handle *handle)
{
  const gab_device_backend *backend = device->backend;
  gab_buffer binary = {0};
  gab_status status = GAB_OK;
  if (gab_device_cache_read(key, &binary) &&
      backend->load_program(device, binary.data, binary.size, handle) == GAB_OK) {
    device->builds.from_folder++;
  } else {
    gab_buffer whole = {0};
    gab_buffer_clear(&binary);
    status = gab_put_bytes(&whole, gab_device_head_text, strlen(gab_device_head_text));
    if (status == GAB_OK) status = gab_put_bytes(&whole, text, strlen(text) + 1);
    if (status == GAB_OK) status = backend->compile(device, (const char *)whole.data, options, &binary);
    if (status == GAB_OK) status = backend->load_program(device, binary.data, binary.size, handle);
    if (status == GAB_OK) {
      device->builds.compiled++;
      gab_device_cache_write(key, &binary);
    }
    gab_buffer_release(&whole);
  }
  gab_buffer_release(&binary);
  return status;
}

gab_status gab_device_build(gab_device *device, const char *text, const char *options,
                            gab_device_program **program)
{
  const uint64_t key = key_of(&device->about, text, options);
  *program = NULL;
  for (gab_device_program *known = device->programs; known; known = known->next)
    if (known->key == key) {
      device->builds.from_memory++;
      *program = known;
      return GAB_OK;
    }
  gab_device_program *made = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = load_or_compile(device, key, text, options, &made->handle);
  if (status != GAB_OK) {
    gab_free(&made);
    return status;
  }
  made->device = device;
  made->key = key;
  made->next = device->programs;
  device->programs = made;
  *program = made;
  return GAB_OK;
}

gab_device_builds gab_device_builds_of(const gab_device *device) { return device->builds; }

static gab_status find_kernel(gab_device_program *program, const char *name, gab_device_handle *handle)
{
  for (const kernel *known = program->kernels; known; known = known->next)
    if (strcmp(known->name, name) == 0) {
      *handle = known->handle;
      return GAB_OK;
    }
  if (strlen(name) >= GAB_DEVICE_TEXT)
    GAB_FAIL(GAB_ERR_ARGUMENT, "name of a kernel with %zu letters", strlen(name));
  GAB_TRY(program->device->backend->find_kernel(program->device, program->handle, name, handle));
  kernel *made = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  memcpy(made->name, name, strlen(name) + 1);
  made->handle = *handle;
  made->next = program->kernels;
  program->kernels = made;
  return GAB_OK;
}

gab_status gab_device_launch(gab_device_program *program, const char *name, size_t count, size_t group,
                             const gab_device_argument *arguments, int argument_count)
{
  gab_device_handle handle = 0;
  if (count == 0 || group == 0 || argument_count > GAB_DEVICE_MOST_ARGUMENTS)
    GAB_FAIL(GAB_ERR_ARGUMENT, "kernel %s for %zu items in groups of %zu with %d arguments", name, count,
             group, argument_count);
  GAB_TRY(find_kernel(program, name, &handle));
  return program->device->backend->launch(program->device, handle, (count + group - 1) / group, group,
                                          arguments, argument_count);
}
