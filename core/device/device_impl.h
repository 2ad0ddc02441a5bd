/* SPDX-License-Identifier: Apache-2.0 */
/** @file device_impl.h
 *  @brief Table of a device backend, and state that all devices share.
 *
 *  The device of a backend begins with a ::gab_device. Handles are those of its runtime: pointers or numbers.
 *
 *  Stability: internal.
 */
#ifndef GABION_CORE_DEVICE_IMPL_H
#define GABION_CORE_DEVICE_IMPL_H

#include "core/base/buffer.h"
#include "core/device/device.h"

typedef uintptr_t gab_device_handle;

typedef struct gab_device_backend {
  const char *name;
  /** Opens the libraries; repeated calls are cheap. @return ::GAB_ERR_INPUT with the name of what is missing */
  gab_status (*load)(void);
  gab_status (*count)(int *count);
  /** Backend and number are set by the caller. */
  gab_status (*describe)(int number, gab_device_about *about);
  gab_status (*open)(int number, gab_device **device);
  void (*close)(gab_device *device);

  gab_status (*alloc)(gab_device *device, size_t bytes, gab_device_handle *memory);
  void (*free)(gab_device *device, gab_device_handle memory);
  gab_status (*pin)(gab_device *device, size_t bytes, void **data, gab_device_handle *pinned);
  void (*unpin)(gab_device *device, void *data, gab_device_handle pinned);
  gab_status (*write)(gab_device *device, gab_device_handle to, size_t offset, const void *from, size_t bytes,
                      bool wait);
  gab_status (*read)(gab_device *device, gab_device_handle from, size_t offset, void *to, size_t bytes,
                     bool wait);
  gab_status (*copy)(gab_device *device, gab_device_handle from, size_t from_offset, gab_device_handle to,
                     size_t to_offset, size_t bytes);
  gab_status (*wait)(gab_device *device);

  /** Compiles. @param[out] binary  what load_program() takes, for this device and runtime */
  gab_status (*compile)(gab_device *device, const char *text, const char *options, gab_buffer *binary);
  gab_status (*load_program)(gab_device *device, const void *binary, size_t bytes,
                             gab_device_handle *program);
  void (*unload_program)(gab_device *device, gab_device_handle program);
  gab_status (*find_kernel)(gab_device *device, gab_device_handle program, const char *name,
                            gab_device_handle *kernel);
  void (*release_kernel)(gab_device *device, gab_device_handle kernel);
  gab_status (*launch)(gab_device *device, gab_device_handle kernel, size_t groups, size_t group,
                       const gab_device_argument *arguments, int argument_count);

  gab_status (*mark)(gab_device *device, gab_device_handle *mark);
  void (*unmark)(gab_device *device, gab_device_handle mark);
  gab_status (*mark_wait)(gab_device *device, gab_device_handle mark);
  gab_status (*seconds)(gab_device *device, gab_device_handle from, gab_device_handle to, double *seconds);
} gab_device_backend;

extern const gab_device_backend gab_device_backend_cuda, gab_device_backend_opencl;

struct gab_device {
  const gab_device_backend *backend;
  gab_device_about about;
  gab_device_program *programs; /* all that were built, the newest first */
  gab_device_builds builds;
};

struct gab_device_memory {
  gab_device *device;
  size_t bytes;
  gab_device_handle handle;
};

struct gab_device_pinned {
  gab_device *device;
  size_t bytes;
  void *data;
  gab_device_handle handle;
};

struct gab_device_mark {
  gab_device *device;
  gab_device_handle handle;
};

/** Releases all programs of a device. */
void gab_device_drop_programs(gab_device *device);

/** Compiled programs in the user's cache folder, see gab_device_build(). @return false if there is none, or it is damaged */
bool gab_device_cache_read(uint64_t key, gab_buffer *binary);
/** Failures leave no file. */
void gab_device_cache_write(uint64_t key, const gab_buffer *binary);

#endif
