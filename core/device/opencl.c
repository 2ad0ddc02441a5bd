/* SPDX-License-Identifier: Apache-2.0 */
/* Backend `opencl': any device of any vendor that the OpenCL loader knows (pocl among them). The used functions of its
 * interface (Khronos, OpenCL 1.2) are declared here, so that no header is needed. */
#include "core/device/device_impl.h"
#include "core/device/library_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct cl_object *cl_any; /* platform, device, context, queue, buffer, program, kernel, event */
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_bits;

enum {
  CL_DEVICE_NOT_FOUND = -1,
  CL_MEM_OBJECT_ALLOCATION_FAILURE = -4,
  CL_OUT_OF_RESOURCES = -5,
  CL_OUT_OF_HOST_MEMORY = -6,
  CL_BUILD_PROGRAM_FAILURE = -11
};
enum {
  CL_DEVICE_SINGLE_FP_CONFIG = 0x101B,
  CL_DEVICE_GLOBAL_MEM_SIZE = 0x101F,
  CL_DEVICE_NAME = 0x102B,
  CL_DRIVER_VERSION = 0x102D,
  CL_DEVICE_VERSION = 0x102F,
  CL_DEVICE_DOUBLE_FP_CONFIG = 0x1032,
  CL_PROGRAM_BINARY_SIZES = 0x1165,
  CL_PROGRAM_BINARIES = 0x1166,
  CL_PROGRAM_BUILD_LOG = 0x1183,
  CL_PROFILING_COMMAND_END = 0x1283
};
static const cl_bits all_types = 0xFFFFFFFF, read_write = 1, in_host_memory = 1 << 4, with_times = 1 << 1,
                     map_both = 3, divides_correctly = 1 << 7;
enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64, LOG_SHOWN = 2000 };

static struct {
  void *library;
  cl_int (*get_platforms)(cl_uint, cl_any *, cl_uint *);
  cl_int (*get_devices)(cl_any, cl_bits, cl_uint, cl_any *, cl_uint *);
  cl_int (*device_info)(cl_any, cl_uint, size_t, void *, size_t *);
  cl_any (*create_context)(const intptr_t *, cl_uint, const cl_any *, void *, void *, cl_int *);
  cl_int (*release_context)(cl_any);
  cl_any (*create_queue)(cl_any, cl_any, cl_bits, cl_int *);
  cl_int (*release_queue)(cl_any);
  cl_int (*finish)(cl_any);
  cl_int (*flush)(cl_any);
  cl_any (*create_buffer)(cl_any, cl_bits, size_t, void *, cl_int *);
  cl_int (*release_buffer)(cl_any);
  void *(*map)(cl_any, cl_any, cl_uint, cl_bits, size_t, size_t, cl_uint, const cl_any *, cl_any *, cl_int *);
  cl_int (*unmap)(cl_any, cl_any, void *, cl_uint, const cl_any *, cl_any *);
  cl_int (*write)(cl_any, cl_any, cl_uint, size_t, size_t, const void *, cl_uint, const cl_any *, cl_any *);
  cl_int (*read)(cl_any, cl_any, cl_uint, size_t, size_t, void *, cl_uint, const cl_any *, cl_any *);
  cl_int (*copy)(cl_any, cl_any, cl_any, size_t, size_t, size_t, cl_uint, const cl_any *, cl_any *);
  cl_any (*program_of_text)(cl_any, cl_uint, const char **, const size_t *, cl_int *);
  cl_any (*program_of_binary)(cl_any, cl_uint, const cl_any *, const size_t *, const unsigned char **,
                              cl_int *, cl_int *);
  cl_int (*build)(cl_any, cl_uint, const cl_any *, const char *, void *, void *);
  cl_int (*build_info)(cl_any, cl_any, cl_uint, size_t, void *, size_t *);
  cl_int (*program_info)(cl_any, cl_uint, size_t, void *, size_t *);
  cl_int (*release_program)(cl_any);
  cl_any (*create_kernel)(cl_any, const char *, cl_int *);
  cl_int (*release_kernel)(cl_any);
  cl_int (*set_argument)(cl_any, cl_uint, size_t, const void *);
  cl_int (*launch)(cl_any, cl_any, cl_uint, const size_t *, const size_t *, const size_t *, cl_uint,
                   const cl_any *, cl_any *);
  cl_int (*marker)(cl_any, cl_uint, const cl_any *, cl_any *);
  cl_int (*wait_for)(cl_uint, const cl_any *);
  cl_int (*event_times)(cl_any, cl_uint, size_t, void *, size_t *);
  cl_int (*release_event)(cl_any);
} cl;

typedef struct opencl_device {
  gab_device base;
  cl_any device, context, queue;
} opencl_device;

static opencl_device *of(gab_device *device) { return (opencl_device *)device; }

static gab_status load(void)
{
  static const char *const names[] = {"libOpenCL.so.1", "libOpenCL.so", NULL};
  const gab_device_symbol symbols[] = {
      {"clGetPlatformIDs", &cl.get_platforms},
      {"clGetDeviceIDs", &cl.get_devices},
      {"clGetDeviceInfo", &cl.device_info},
      {"clCreateContext", &cl.create_context},
      {"clReleaseContext", &cl.release_context},
      {"clCreateCommandQueue", &cl.create_queue},
      {"clReleaseCommandQueue", &cl.release_queue},
      {"clFinish", &cl.finish},
      {"clFlush", &cl.flush},
      {"clCreateBuffer", &cl.create_buffer},
      {"clReleaseMemObject", &cl.release_buffer},
      {"clEnqueueMapBuffer", &cl.map},
      {"clEnqueueUnmapMemObject", &cl.unmap},
      {"clEnqueueWriteBuffer", &cl.write},
      {"clEnqueueReadBuffer", &cl.read},
      {"clEnqueueCopyBuffer", &cl.copy},
      {"clCreateProgramWithSource", &cl.program_of_text},
      {"clCreateProgramWithBinary", &cl.program_of_binary},
      {"clBuildProgram", &cl.build},
      {"clGetProgramBuildInfo", &cl.build_info},
      {"clGetProgramInfo", &cl.program_info},
      {"clReleaseProgram", &cl.release_program},
      {"clCreateKernel", &cl.create_kernel},
      {"clReleaseKernel", &cl.release_kernel},
      {"clSetKernelArg", &cl.set_argument},
      {"clEnqueueNDRangeKernel", &cl.launch},
      {"clEnqueueMarkerWithWaitList", &cl.marker},
      {"clWaitForEvents", &cl.wait_for},
      {"clGetEventProfilingInfo", &cl.event_times},
      {"clReleaseEvent", &cl.release_event},
  };
  if (cl.library) return GAB_OK;
  void *library = gab_device_library(names);
  if (!library) GAB_FAIL(GAB_ERR_INPUT, "no OpenCL here: libOpenCL.so.1 cannot be opened");
  GAB_TRY(gab_device_symbols(library, "libOpenCL.so.1", symbols, sizeof symbols / sizeof symbols[0]));
  cl.library = library;
  return GAB_OK;
}

/* The numbers that a user of OpenCL meets most. */
static const char *words_of(cl_int error)
{
  static const struct {
    cl_int error;
    const char *words;
  } known[] = {{-1, "CL_DEVICE_NOT_FOUND"},
               {-2, "CL_DEVICE_NOT_AVAILABLE"},
               {-3, "CL_COMPILER_NOT_AVAILABLE"},
               {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
               {-5, "CL_OUT_OF_RESOURCES"},
               {-6, "CL_OUT_OF_HOST_MEMORY"},
               {-7, "CL_PROFILING_INFO_NOT_AVAILABLE"},
               {-11, "CL_BUILD_PROGRAM_FAILURE"},
               {-12, "CL_MAP_FAILURE"},
               {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
               {-30, "CL_INVALID_VALUE"},
               {-42, "CL_INVALID_BINARY"},
               {-43, "CL_INVALID_BUILD_OPTIONS"},
               {-46, "CL_INVALID_KERNEL_NAME"},
               {-51, "CL_INVALID_ARG_SIZE"},
               {-52, "CL_INVALID_KERNEL_ARGS"},
               {-54, "CL_INVALID_WORK_GROUP_SIZE"},
               {-61, "CL_INVALID_BUFFER_SIZE"},
               {-1001, "no platform is installed"}};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
    if (known[i].error == error) return known[i].words;
  return "see CL/cl.h";
}

static gab_status check(cl_int error, const char *call)
{
  if (error == 0) return GAB_OK;
  const bool memory = error == CL_MEM_OBJECT_ALLOCATION_FAILURE || error == CL_OUT_OF_HOST_MEMORY ||
                      error == CL_OUT_OF_RESOURCES;
  GAB_FAIL(memory ? GAB_ERR_MEMORY : GAB_ERR_SUSPECT, "OpenCL: %s failed: %s (%d)", call, words_of(error),
           (int)error);
}
#define CHECKED(call, function) GAB_TRY(check((call), function))

/* All devices of all platforms, in the order of the loader. */
static int list(cl_any devices[MOST_DEVICES])
{
  cl_any platforms[MOST_PLATFORMS];
  cl_uint platform_count = 0, total = 0;
  if (cl.get_platforms(MOST_PLATFORMS, platforms, &platform_count) != 0) return 0;
  if (platform_count > MOST_PLATFORMS) platform_count = MOST_PLATFORMS;
  for (cl_uint i = 0; i < platform_count && total < MOST_DEVICES; i++) {
    cl_uint count = 0;
    if (cl.get_devices(platforms[i], all_types, MOST_DEVICES - total, devices + total, &count) != 0) continue;
    total += count > MOST_DEVICES - total ? MOST_DEVICES - total : count;
  }
  return (int)total;
}

static gab_status count_devices(int *count)
{
  cl_any devices[MOST_DEVICES];
  *count = list(devices);
  return GAB_OK;
}

static gab_status text_of(cl_any device, cl_uint what, char text[GAB_DEVICE_TEXT])
{
  char whole[1024];
  CHECKED(cl.device_info(device, what, sizeof whole, whole, NULL), "clGetDeviceInfo");
  snprintf(text, GAB_DEVICE_TEXT, "%.*s", GAB_DEVICE_TEXT - 1, whole);
  return GAB_OK;
}

static gab_status describe(int number, gab_device_about *about)
{
  cl_any devices[MOST_DEVICES];
  char version[GAB_DEVICE_TEXT], driver[GAB_DEVICE_TEXT];
  cl_bits bytes = 0, doubles = 0;
  if (number >= list(devices)) GAB_FAIL(GAB_ERR_INPUT, "OpenCL: device %d has gone", number);
  GAB_TRY(text_of(devices[number], CL_DEVICE_NAME, about->name));
  GAB_TRY(text_of(devices[number], CL_DEVICE_VERSION, version));
  GAB_TRY(text_of(devices[number], CL_DRIVER_VERSION, driver));
  snprintf(about->runtime, sizeof about->runtime, "%.60s, driver %.50s", version, driver);
  CHECKED(cl.device_info(devices[number], CL_DEVICE_GLOBAL_MEM_SIZE, sizeof bytes, &bytes, NULL),
          "clGetDeviceInfo");
  about->memory = (size_t)bytes;
  about->has_double =
      cl.device_info(devices[number], CL_DEVICE_DOUBLE_FP_CONFIG, sizeof doubles, &doubles, NULL) == 0 &&
      doubles != 0;
  return GAB_OK;
}

static void close_device(gab_device *device)
{
  if (of(device)->queue) cl.release_queue(of(device)->queue);
  if (of(device)->context) cl.release_context(of(device)->context);
  gab_free(&device);
}

static gab_status open_device(int number, gab_device **device)
{
  cl_any devices[MOST_DEVICES];
  cl_int error = 0;
  opencl_device *made = NULL;
  if (number >= list(devices)) GAB_FAIL(GAB_ERR_INPUT, "OpenCL: device %d has gone", number);
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->device = devices[number];
  made->context = cl.create_context(NULL, 1, &made->device, NULL, NULL, &error);
  gab_status status = check(error, "clCreateContext");
  if (status == GAB_OK) {
    made->queue = cl.create_queue(made->context, made->device, with_times, &error);
    status = check(error, "clCreateCommandQueue");
  }
  *device = &made->base;
  if (status != GAB_OK) {
    close_device(*device);
    *device = NULL;
  }
  return status;
}

/* ---------------------------------------------------------------- memory */

static gab_status make_buffer(gab_device *device, cl_bits flags, size_t bytes, gab_device_handle *memory)
{
  cl_int error = 0;
  const cl_any buffer = cl.create_buffer(of(device)->context, flags, bytes, NULL, &error);
  CHECKED(error, "clCreateBuffer");
  *memory = (gab_device_handle)buffer;
  return GAB_OK;
}

static gab_status alloc(gab_device *device, size_t bytes, gab_device_handle *memory)
{
  return make_buffer(device, read_write, bytes, memory);
}

static void release(gab_device *device, gab_device_handle memory)
{
  cl.finish(of(device)->queue);
  cl.release_buffer((cl_any)memory);
}

static gab_status pin(gab_device *device, size_t bytes, void **data, gab_device_handle *pinned)
{
  cl_int error = 0;
  GAB_TRY(make_buffer(device, read_write | in_host_memory, bytes, pinned));
  *data = cl.map(of(device)->queue, (cl_any)*pinned, 1, map_both, 0, bytes, 0, NULL, NULL, &error);
  if (error != 0) cl.release_buffer((cl_any)*pinned);
  return check(error, "clEnqueueMapBuffer");
}

static void unpin(gab_device *device, void *data, gab_device_handle pinned)
{
  cl.unmap(of(device)->queue, (cl_any)pinned, data, 0, NULL, NULL);
  release(device, pinned);
}

static gab_status write_memory(gab_device *device, gab_device_handle to, size_t offset, const void *from,
                               size_t bytes, bool wait)
{
  CHECKED(cl.write(of(device)->queue, (cl_any)to, wait, offset, bytes, from, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
  return GAB_OK;
}

static gab_status read_memory(gab_device *device, gab_device_handle from, size_t offset, void *to,
                              size_t bytes, bool wait)
{
  CHECKED(cl.read(of(device)->queue, (cl_any)from, wait, offset, bytes, to, 0, NULL, NULL),
          "clEnqueueReadBuffer");
  return wait ? GAB_OK : check(cl.flush(of(device)->queue), "clFlush");
}

static gab_status copy_memory(gab_device *device, gab_device_handle from, size_t from_offset,
                              gab_device_handle to, size_t to_offset, size_t bytes)
{
  CHECKED(cl.copy(of(device)->queue, (cl_any)from, (cl_any)to, from_offset, to_offset, bytes, 0, NULL, NULL),
          "clEnqueueCopyBuffer");
  return GAB_OK;
}

static gab_status wait_for_all(gab_device *device)
{
  CHECKED(cl.finish(of(device)->queue), "clFinish");
  return GAB_OK;
}

/* ---------------------------------------------------------------- programs */

static gab_status explain(gab_device *device, cl_any program, const char *call, cl_int error)
{
  if (error == 0) return GAB_OK;
  char *log = NULL;
  size_t bytes = 0;
  cl.build_info(program, of(device)->device, CL_PROGRAM_BUILD_LOG, 0, NULL, &bytes);
  if (GAB_NEW_ARRAY(&log, bytes + 1, GAB_MEMORY_OTHER) == GAB_OK)
    cl.build_info(program, of(device)->device, CL_PROGRAM_BUILD_LOG, bytes, log, NULL);
  const gab_status status =
      gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "OpenCL: %s failed: %s (%d)%s%.*s", call,
                    words_of(error), (int)error, log && *log ? ":\n" : "", LOG_SHOWN, log ? log : "");
  gab_free(&log);
  return status;
}

static gab_status take_binary(cl_any program, gab_buffer *binary)
{
  size_t bytes = 0;
  void *place = NULL;
  CHECKED(cl.program_info(program, CL_PROGRAM_BINARY_SIZES, sizeof bytes, &bytes, NULL), "clGetProgramInfo");
  GAB_TRY(gab_buffer_extend(binary, bytes, &place));
  CHECKED(cl.program_info(program, CL_PROGRAM_BINARIES, sizeof place, &place, NULL), "clGetProgramInfo");
  return GAB_OK;
}

static gab_status compile(gab_device *device, const char *text, const char *options, gab_buffer *binary)
{
  cl_int error = 0;
  cl_bits single = 0;
  char all[1024];
  const opencl_device *it = of(device);
  cl.device_info(it->device, CL_DEVICE_SINGLE_FP_CONFIG, sizeof single, &single, NULL);
  const int length = snprintf(all, sizeof all, "-cl-std=CL1.2 %s%s%s",
                              single & divides_correctly ? "-cl-fp32-correctly-rounded-divide-sqrt " : "",
                              device->about.has_double ? "-DGAB_DOUBLE " : "", options);
  if (length < 0 || (size_t)length >= sizeof all)
    GAB_FAIL(GAB_ERR_ARGUMENT, "options of a program are too long");
  const cl_any program = cl.program_of_text(it->context, 1, &text, NULL, &error);
  CHECKED(error, "clCreateProgramWithSource");
  error = cl.build(program, 1, &it->device, all, NULL, NULL);
  gab_status status = explain(device, program, "clBuildProgram", error);
  if (status == GAB_OK) status = take_binary(program, binary);
  cl.release_program(program);
  return status;
}

static gab_status load_program(gab_device *device, const void *binary, size_t bytes,
                               gab_device_handle *handle)
{
  cl_int error = 0, of_binary = 0;
  const unsigned char *start = binary;
  const opencl_device *it = of(device);
  const cl_any program =
      cl.program_of_binary(it->context, 1, &it->device, &bytes, &start, &of_binary, &error);
  CHECKED(error != 0 ? error : of_binary, "clCreateProgramWithBinary");
  error = cl.build(program, 1, &it->device, "", NULL, NULL);
  const gab_status status = explain(device, program, "clBuildProgram of a binary", error);
  if (status == GAB_OK) *handle = (gab_device_handle)program;
  else cl.release_program(program);
  return status;
}

static void unload_program(gab_device *device, gab_device_handle program)
{
  (void)device;
  cl.release_program((cl_any)program);
}

static gab_status find_kernel(gab_device *device, gab_device_handle program, const char *name,
                              gab_device_handle *kernel)
{
  cl_int error = 0;
  (void)device;
  const cl_any found = cl.create_kernel((cl_any)program, name, &error);
  if (error != 0)
    GAB_FAIL(GAB_ERR_ARGUMENT, "OpenCL: no kernel %s: %s (%d)", name, words_of(error), (int)error);
  *kernel = (gab_device_handle)found;
  return GAB_OK;
}

static void release_kernel(gab_device *device, gab_device_handle kernel)
{
  (void)device;
  cl.release_kernel((cl_any)kernel);
}

static gab_status launch(gab_device *device, gab_device_handle kernel, size_t groups, size_t group,
                         const gab_device_argument *arguments, int argument_count)
{
  const size_t items = groups * group;
  for (int i = 0; i < argument_count; i++) {
    const gab_device_argument *argument = &arguments[i];
    const cl_any buffer = argument->memory ? (cl_any)argument->memory->handle : NULL;
    const cl_int error = argument->memory
                             ? cl.set_argument((cl_any)kernel, (cl_uint)i, sizeof buffer, &buffer)
                             : cl.set_argument((cl_any)kernel, (cl_uint)i, argument->bytes, argument->value);
    if (error != 0)
      GAB_FAIL(GAB_ERR_ARGUMENT, "OpenCL: clSetKernelArg of argument %d failed: %s (%d)", i, words_of(error),
               (int)error);
  }
  CHECKED(cl.launch(of(device)->queue, (cl_any)kernel, 1, NULL, &items, &group, 0, NULL, NULL),
          "clEnqueueNDRangeKernel");
  CHECKED(cl.flush(of(device)->queue), "clFlush");
  return GAB_OK;
}

/* ---------------------------------------------------------------- marks */

static gab_status mark(gab_device *device, gab_device_handle *handle)
{
  cl_any event = NULL;
  CHECKED(cl.marker(of(device)->queue, 0, NULL, &event), "clEnqueueMarkerWithWaitList");
  *handle = (gab_device_handle)event;
  return check(cl.flush(of(device)->queue), "clFlush");
}

static void unmark(gab_device *device, gab_device_handle event)
{
  (void)device;
  cl.release_event((cl_any)event);
}

static gab_status mark_wait(gab_device *device, gab_device_handle event)
{
  const cl_any it = (cl_any)event;
  (void)device;
  CHECKED(cl.wait_for(1, &it), "clWaitForEvents");
  return GAB_OK;
}

static gab_status seconds(gab_device *device, gab_device_handle from, gab_device_handle to, double *result)
{
  cl_bits first = 0, last = 0;
  (void)device;
  CHECKED(cl.event_times((cl_any)from, CL_PROFILING_COMMAND_END, sizeof first, &first, NULL),
          "clGetEventProfilingInfo");
  CHECKED(cl.event_times((cl_any)to, CL_PROFILING_COMMAND_END, sizeof last, &last, NULL),
          "clGetEventProfilingInfo");
  *result = 1e-9 * (double)(int64_t)(last - first);
  return GAB_OK;
}

const gab_device_backend gab_device_backend_opencl = {
    .name = "opencl",
    .load = load,
    .count = count_devices,
    .describe = describe,
    .open = open_device,
    .close = close_device,
    .alloc = alloc,
    .free = release,
    .pin = pin,
    .unpin = unpin,
    .write = write_memory,
    .read = read_memory,
    .copy = copy_memory,
    .wait = wait_for_all,
    .compile = compile,
    .load_program = load_program,
    .unload_program = unload_program,
    .find_kernel = find_kernel,
    .release_kernel = release_kernel,
    .launch = launch,
    .mark = mark,
    .unmark = unmark,
    .mark_wait = mark_wait,
    .seconds = seconds,
};
