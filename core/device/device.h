/* SPDX-License-Identifier: Apache-2.0 */
/** @file device.h
 *  @brief Accelerators: memory, kernels and times of a device, through OpenCL or through the CUDA driver and NVRTC.
 *
 *  A backend is a table chosen by name. Its runtime library is opened when it is first asked for, so a build needs neither headers
 *  nor libraries of it, and a machine without it has no devices of that backend. Kernels are text in the common subset of OpenCL C
 *  and CUDA C (core/device/head.inc maps what differs), compiled at run time without contraction of products and sums, without fast
 *  mathematics, with denormal numbers, and with division and square root rounded correctly. Work of a device is done in the order of
 *  the calls, and asynchronously where the call says so.
 *  @code
 *    GAB_TRY(gab_device_open("cuda", 0, &device));
 *    GAB_TRY(gab_device_build(device, text, "-DREAL=double", &program));
 *    GAB_TRY(gab_device_alloc(device, bytes, &memory));
 *    GAB_TRY(gab_device_write(memory, 0, host, bytes));
 *    const gab_device_argument arguments[] = {GAB_DEVICE_BUFFER(memory), GAB_DEVICE_VALUE(count)};
 *    GAB_TRY(gab_device_launch(program, "scale", count, 128, arguments, 2));
 *    GAB_TRY(gab_device_read(memory, 0, host, bytes));
 *  @endcode
 *  All functions are local. A device and what belongs to it are used by one thread at a time. Failures of a runtime are
 *  ::GAB_ERR_SUSPECT with the runtime's words, since the hardware may be at fault, or ::GAB_ERR_MEMORY if device memory is exhausted.
 *
 *  Stability: extender.
 */
#ifndef GABION_CORE_DEVICE_H
#define GABION_CORE_DEVICE_H

#include "core/base/status.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { GAB_DEVICE_TEXT = 128 }; /**< capacity of names, with their end */

typedef struct gab_device gab_device;
typedef struct gab_device_memory gab_device_memory; /**< an allocation on a device */
typedef struct gab_device_pinned
    gab_device_pinned; /**< host memory that a device copies from and to asynchronously */
typedef struct gab_device_program gab_device_program; /**< compiled kernels; owned by the device */
typedef struct gab_device_mark gab_device_mark; /**< a place in the order of a device's work, with a time */

/** A device, as its runtime describes it. */
typedef struct gab_device_about {
  const char *backend; /**< "cuda" */
  int number;          /**< within the backend, from 0 */
  char name[GAB_DEVICE_TEXT];
  char runtime[GAB_DEVICE_TEXT]; /**< version of driver and compiler */
  size_t memory;                 /**< bytes */
  bool has_double;               /**< arithmetic in double precision */
} gab_device_about;

/** The index-th backend ("cuda", "opencl"); NULL behind the last. */
const char *gab_device_backend_at(int index);
/** Number of devices of a backend.
 *  @return ::GAB_ERR_INPUT for an unknown backend, or if its runtime cannot be opened here: the message says which library */
gab_status gab_device_count(const char *backend, int *count);
gab_status gab_device_describe(const char *backend, int number, gab_device_about *about);

/** @param[out] device  owned by the caller, released by gab_device_close(); NULL on failure
 *  @return ::GAB_ERR_INPUT if there is no such device */
gab_status gab_device_open(const char *backend, int number, gab_device **device);
/** Waits for its work, then releases it and its programs; sets *device to NULL. Memory, pinned memory and marks are released before. */
void gab_device_close(gab_device **device);
const gab_device_about *gab_device_of(const gab_device *device);

/** Device memory, not initialised. @param[out] memory  owned by the caller; NULL on failure */
gab_status gab_device_alloc(gab_device *device, size_t bytes, gab_device_memory **memory);
void gab_device_free(gab_device_memory **memory);
size_t gab_device_bytes(const gab_device_memory *memory);
/** Host memory that stays in place. @param[out] data  its bytes @param[out] pinned  owned by the caller; NULL on failure */
gab_status gab_device_pin(gab_device *device, size_t bytes, void **data, gab_device_pinned **pinned);
void gab_device_unpin(gab_device_pinned **pinned);

/** Copies from host to device; returns when the host memory may be changed.
 *  @return ::GAB_ERR_ARGUMENT for bytes outside the allocation, as all copies */
gab_status gab_device_write(gab_device_memory *to, size_t offset, const void *from, size_t bytes);
/** Copies from device to host; returns when all is there. */
gab_status gab_device_read(const gab_device_memory *from, size_t offset, void *to, size_t bytes);
/** The same without waiting, from and to pinned memory: complete after gab_device_wait() or gab_device_mark_wait() of a later mark. */
gab_status gab_device_write_pinned(gab_device_memory *to, size_t offset, const gab_device_pinned *from,
                                   size_t from_offset, size_t bytes);
gab_status gab_device_read_pinned(const gab_device_memory *from, size_t offset, gab_device_pinned *to,
                                  size_t to_offset, size_t bytes);
/** Copies within a device, without waiting. The two must not overlap. */
gab_status gab_device_copy(const gab_device_memory *from, size_t from_offset, gab_device_memory *to,
                           size_t to_offset, size_t bytes);
/** Waits until all work is done. Reports failures of earlier asynchronous calls. */
gab_status gab_device_wait(gab_device *device);

/** Compiles a kernel text behind core/device/head.inc, once for each text and options: later calls, and later processes of this user
 *  through the cache folder ($GABION_CACHE, $XDG_CACHE_HOME/gabion or ~/.cache/gabion; folder `kernels`), get what was compiled before.
 *  @param[in] options  definitions such as "-DREAL=double -DNX=64", separated by single spaces; "" for none
 *  @param[out] program  owned by the device
 *  @return ::GAB_ERR_ARGUMENT with the compiler's words */
gab_status gab_device_build(gab_device *device, const char *text, const char *options,
                            gab_device_program **program);

/** How often a device compiled, read the cache folder, or found a program in memory. */
typedef struct gab_device_builds {
  int compiled, from_folder, from_memory;
} gab_device_builds;
gab_device_builds gab_device_builds_of(const gab_device *device);

/** An argument of a kernel: device memory, or a value whose bytes are copied by the call. */
typedef struct gab_device_argument {
  const gab_device_memory *memory;
  const void *value;
  size_t bytes;
} gab_device_argument;
#define GAB_DEVICE_BUFFER(of_memory)                                                                         \
  {                                                                                                          \
    .memory = (of_memory)                                                                                    \
  }
#define GAB_DEVICE_VALUE(of_variable)                                                                        \
  {                                                                                                          \
    .value = &(of_variable), .bytes = sizeof(of_variable)                                                    \
  }
enum { GAB_DEVICE_MOST_ARGUMENTS = 24 };

/** Starts a kernel for `count` items in groups of `group`, without waiting. The last group may be partly beyond `count`: kernels
 *  compare their index.
 *  @return ::GAB_ERR_ARGUMENT for 0 items or too many arguments, or an unknown kernel */
gab_status gab_device_launch(gab_device_program *program, const char *kernel, size_t count, size_t group,
                             const gab_device_argument *arguments, int argument_count);

/** Marks this place in the order of work. @param[out] mark  owned by the caller, released by gab_device_unmark() */
gab_status gab_device_mark_here(gab_device *device, gab_device_mark **mark);
void gab_device_unmark(gab_device_mark **mark);
/** Waits until the work before the mark is done. */
gab_status gab_device_mark_wait(const gab_device_mark *mark);
/** Seconds between two marks by the clock of the device; waits for both. */
gab_status gab_device_seconds(const gab_device_mark *from, const gab_device_mark *to, double *seconds);

/** Compares the device's bits with the processor's: products, sums, fused products, quotients and square roots of some thousand
 *  operands, denormal, huge and infinite ones among them, in double (where the device has it) and float. NaN equals NaN.
 *  @return ::GAB_ERR_SUSPECT that names operation, operands and both results if any differs */
gab_status gab_device_check_arithmetic(gab_device *device);

#ifdef __cplusplus
}
#endif
#endif
