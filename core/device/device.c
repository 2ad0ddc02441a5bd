/* SPDX-License-Identifier: Apache-2.0 */
#include "core/device/device_impl.h"

#include <string.h>

static const gab_device_backend *const backends[] = {&gab_device_backend_cuda, &gab_device_backend_opencl};
enum { BACKENDS = sizeof backends / sizeof backends[0] };

const char *gab_device_backend_at(int index)
{
  return index >= 0 && index < BACKENDS ? backends[index]->name : NULL;
}

static gab_status find_backend(const char *name, const gab_device_backend **found)
{
  for (int i = 0; i < BACKENDS; i++)
    if (strcmp(backends[i]->name, name) == 0) {
      *found = backends[i];
      return backends[i]->load();
    }
  GAB_FAIL(GAB_ERR_INPUT, "no device backend \"%s\": expected cuda or opencl", name);
}

gab_status gab_device_count(const char *backend, int *count)
{
  const gab_device_backend *found = NULL;
  *count = 0;
  GAB_TRY(find_backend(backend, &found));
  return found->count(count);
}

static gab_status check_number(const gab_device_backend *backend, int number)
{
  int count = 0;
  GAB_TRY(backend->count(&count));
  if (number < 0 || number >= count)
    GAB_FAIL(GAB_ERR_INPUT, "no device %d of backend %s: %d found", number, backend->name, count);
  return GAB_OK;
}

static gab_status describe(const gab_device_backend *backend, int number, gab_device_about *about)
{
  GAB_TRY(check_number(backend, number));
  *about = (gab_device_about){.backend = backend->name, .number = number};
  return backend->describe(number, about);
}

gab_status gab_device_describe(const char *backend, int number, gab_device_about *about)
{
  const gab_device_backend *found = NULL;
  GAB_TRY(find_backend(backend, &found));
  return describe(found, number, about);
}

gab_status gab_device_open(const char *backend, int number, gab_device **device)
{
  const gab_device_backend *found = NULL;
  gab_device_about about;
  *device = NULL;
  GAB_TRY(find_backend(backend, &found));
  GAB_TRY(describe(found, number, &about));
  GAB_TRY(found->open(number, device));
  (*device)->backend = found;
  (*device)->about = about;
  return GAB_OK;
}

void gab_device_close(gab_device **device)
{
  gab_device *gone = *device;
  *device = NULL;
  if (!gone) return;
  gone->backend->wait(gone);
  gab_device_drop_programs(gone);
  gone->backend->close(gone);
}

const gab_device_about *gab_device_of(const gab_device *device) { return &device->about; }

/* ---------------------------------------------------------------- memory */

gab_status gab_device_alloc(gab_device *device, size_t bytes, gab_device_memory **memory)
{
  gab_device_memory *made = NULL;
  *memory = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->device = device;
  made->bytes = bytes;
  const gab_status status = device->backend->alloc(device, bytes > 0 ? bytes : 1, &made->handle);
  if (status == GAB_OK) *memory = made;
  else gab_free(&made);
  return status;
}

void gab_device_free(gab_device_memory **memory)
{
  if (!*memory) return;
  (*memory)->device->backend->free((*memory)->device, (*memory)->handle);
  gab_free(memory);
}

size_t gab_device_bytes(const gab_device_memory *memory) { return memory->bytes; }

gab_status gab_device_pin(gab_device *device, size_t bytes, void **data, gab_device_pinned **pinned)
{
  gab_device_pinned *made = NULL;
  *pinned = NULL;
  *data = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->device = device;
  made->bytes = bytes;
  const gab_status status = device->backend->pin(device, bytes > 0 ? bytes : 1, &made->data, &made->handle);
  if (status == GAB_OK) {
    *pinned = made;
    *data = made->data;
  } else {
    gab_free(&made);
  }
  return status;
}

void gab_device_unpin(gab_device_pinned **pinned)
{
  if (!*pinned) return;
  (*pinned)->device->backend->unpin((*pinned)->device, (*pinned)->data, (*pinned)->handle);
  gab_free(pinned);
}

static gab_status check_range(const char *what, size_t capacity, size_t offset, size_t bytes)
{
  if (offset > capacity || bytes > capacity - offset)
    GAB_FAIL(GAB_ERR_ARGUMENT, "copy of %zu bytes at byte %zu of %zu bytes of %s", bytes, offset, capacity,
             what);
  return GAB_OK;
}

static gab_status write_to(gab_device_memory *to, size_t offset, const void *from, size_t bytes, bool wait)
{
  GAB_TRY(check_range("device memory", to->bytes, offset, bytes));
  return bytes == 0 ? GAB_OK : to->device->backend->write(to->device, to->handle, offset, from, bytes, wait);
}

static gab_status read_from(const gab_device_memory *from, size_t offset, void *to, size_t bytes, bool wait)
{
  GAB_TRY(check_range("device memory", from->bytes, offset, bytes));
  return bytes == 0 ? GAB_OK
                    : from->device->backend->read(from->device, from->handle, offset, to, bytes, wait);
}

gab_status gab_device_write(gab_device_memory *to, size_t offset, const void *from, size_t bytes)
{
  return write_to(to, offset, from, bytes, true);
}

gab_status gab_device_read(const gab_device_memory *from, size_t offset, void *to, size_t bytes)
{
  return read_from(from, offset, to, bytes, true);
}

gab_status gab_device_write_pinned(gab_device_memory *to, size_t offset, const gab_device_pinned *from,
                                   size_t from_offset, size_t bytes)
{
  GAB_TRY(check_range("pinned memory", from->bytes, from_offset, bytes));
  return write_to(to, offset, (const char *)from->data + from_offset, bytes, false);
}

gab_status gab_device_read_pinned(const gab_device_memory *from, size_t offset, gab_device_pinned *to,
                                  size_t to_offset, size_t bytes)
{
  GAB_TRY(check_range("pinned memory", to->bytes, to_offset, bytes));
  return read_from(from, offset, (char *)to->data + to_offset, bytes, false);
}

gab_status gab_device_copy(const gab_device_memory *from, size_t from_offset, gab_device_memory *to,
                           size_t to_offset, size_t bytes)
{
  GAB_TRY(check_range("device memory", from->bytes, from_offset, bytes));
  GAB_TRY(check_range("device memory", to->bytes, to_offset, bytes));
  if (from->device != to->device) GAB_FAIL(GAB_ERR_ARGUMENT, "copy between two devices");
  return bytes == 0
             ? GAB_OK
             : to->device->backend->copy(to->device, from->handle, from_offset, to->handle, to_offset, bytes);
}

gab_status gab_device_wait(gab_device *device) { return device->backend->wait(device); }

/* ---------------------------------------------------------------- marks */

gab_status gab_device_mark_here(gab_device *device, gab_device_mark **mark)
{
  gab_device_mark *made = NULL;
  *mark = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->device = device;
  const gab_status status = device->backend->mark(device, &made->handle);
  if (status == GAB_OK) *mark = made;
  else gab_free(&made);
  return status;
}

void gab_device_unmark(gab_device_mark **mark)
{
  if (!*mark) return;
  (*mark)->device->backend->unmark((*mark)->device, (*mark)->handle);
  gab_free(mark);
}

gab_status gab_device_mark_wait(const gab_device_mark *mark)
{
  return mark->device->backend->mark_wait(mark->device, mark->handle);
}

gab_status gab_device_seconds(const gab_device_mark *from, const gab_device_mark *to, double *seconds)
{
  GAB_TRY(gab_device_mark_wait(from));
  GAB_TRY(gab_device_mark_wait(to));
  return to->device->backend->seconds(to->device, from->handle, to->handle, seconds);
}
