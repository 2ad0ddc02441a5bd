/* SPDX-License-Identifier: Apache-2.0 */
/* Backend `cuda': the CUDA driver (libcuda.so.1) and its run-time compiler (libnvrtc). Functions of both are declared
 * here, so that no CUDA header is needed. */
#include "core/device/device_impl.h"
#include "core/device/library_impl.h"

#include <stdio.h>
#include <string.h>

typedef int cu_result;
typedef int cu_device;
typedef uint64_t cu_address;
typedef struct cu_object *cu_any; /* context, stream, event, module, function */
typedef int nvrtc_result;
typedef struct nvrtc_program_object *nvrtc_program;

enum { CUDA_ERROR_OUT_OF_MEMORY = 2, CUDA_ERROR_NO_DEVICE = 100, COMPUTE_MAJOR = 75, COMPUTE_MINOR = 76 };
enum { LOG_SHOWN = 2000, MOST_OPTIONS = 32 };

static struct {
  void *library, *compiler;
  cu_result (*init)(unsigned);
  cu_result (*driver_version)(int *);
  cu_result (*device_count)(int *);
  cu_result (*device_get)(cu_device *, int);
  cu_result (*device_name)(char *, int, cu_device);
  cu_result (*device_attribute)(int *, int, cu_device);
  cu_result (*device_memory)(size_t *, cu_device);
  cu_result (*context_retain)(cu_any *, cu_device);
  cu_result (*context_release)(cu_device);
  cu_result (*context_set)(cu_any);
  cu_result (*alloc)(cu_address *, size_t);
  cu_result (*free)(cu_address);
  cu_result (*pin)(void **, size_t, unsigned);
  cu_result (*unpin)(void *);
  cu_result (*to_device)(cu_address, const void *, size_t, cu_any);
  cu_result (*to_host)(void *, cu_address, size_t, cu_any);
  cu_result (*within)(cu_address, cu_address, size_t, cu_any);
  cu_result (*stream_create)(cu_any *, unsigned);
  cu_result (*stream_wait)(cu_any);
  cu_result (*stream_destroy)(cu_any);
  cu_result (*event_create)(cu_any *, unsigned);
  cu_result (*event_record)(cu_any, cu_any);
  cu_result (*event_wait)(cu_any);
  cu_result (*event_seconds)(float *, cu_any, cu_any);
  cu_result (*event_destroy)(cu_any);
  cu_result (*module_load)(cu_any *, const void *);
  cu_result (*module_unload)(cu_any);
  cu_result (*module_function)(cu_any *, cu_any, const char *);
  cu_result (*launch)(cu_any, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, cu_any,
                      void **, void **);
  cu_result (*error_name)(cu_result, const char **);
  cu_result (*error_words)(cu_result, const char **);
  nvrtc_result (*version)(int *, int *);
  nvrtc_result (*program_create)(nvrtc_program *, const char *, const char *, int, const char *const *,
                                 const char *const *);
  nvrtc_result (*program_compile)(nvrtc_program, int, const char *const *);
  nvrtc_result (*program_destroy)(nvrtc_program *);
  nvrtc_result (*log_bytes)(nvrtc_program, size_t *);
  nvrtc_result (*log)(nvrtc_program, char *);
  nvrtc_result (*code_bytes)(nvrtc_program, size_t *);
  nvrtc_result (*code)(nvrtc_program, char *);
  nvrtc_result (*portable_bytes)(nvrtc_program, size_t *);
  nvrtc_result (*portable)(nvrtc_program, char *);
  const char *(*compiler_words)(nvrtc_result);
} cu;

typedef struct cuda_device {
  gab_device base;
  cu_device device;
  cu_any context, stream;
} cuda_device;

static cuda_device *of(gab_device *device) { return (cuda_device *)device; }

static gab_status check(cu_result error, const char *call)
{
  const char *name = NULL, *words = NULL;
  if (error == 0) return GAB_OK;
  if (cu.error_name) cu.error_name(error, &name);
  if (cu.error_words) cu.error_words(error, &words);
  GAB_FAIL(error == CUDA_ERROR_OUT_OF_MEMORY ? GAB_ERR_MEMORY : GAB_ERR_SUSPECT,
           "CUDA: %s failed: %s (%s, %d)", call, words ? words : "?", name ? name : "?", error);
}
#define CHECKED(call, function) GAB_TRY(check((call), function))

static gab_status load_driver(void)
{
  static const char *const names[] = {"libcuda.so.1", "libcuda.so", NULL};
  const gab_device_symbol symbols[] = {
      {"cuInit", &cu.init},
      {"cuDriverGetVersion", &cu.driver_version},
      {"cuDeviceGetCount", &cu.device_count},
      {"cuDeviceGet", &cu.device_get},
      {"cuDeviceGetName", &cu.device_name},
      {"cuDeviceGetAttribute", &cu.device_attribute},
      {"cuDeviceTotalMem_v2", &cu.device_memory},
      {"cuDevicePrimaryCtxRetain", &cu.context_retain},
      {"cuDevicePrimaryCtxRelease_v2", &cu.context_release},
      {"cuCtxSetCurrent", &cu.context_set},
      {"cuMemAlloc_v2", &cu.alloc},
      {"cuMemFree_v2", &cu.free},
      {"cuMemHostAlloc", &cu.pin},
      {"cuMemFreeHost", &cu.unpin},
      {"cuMemcpyHtoDAsync_v2", &cu.to_device},
      {"cuMemcpyDtoHAsync_v2", &cu.to_host},
      {"cuMemcpyDtoDAsync_v2", &cu.within},
      {"cuStreamCreate", &cu.stream_create},
      {"cuStreamSynchronize", &cu.stream_wait},
      {"cuStreamDestroy_v2", &cu.stream_destroy},
      {"cuEventCreate", &cu.event_create},
      {"cuEventRecord", &cu.event_record},
      {"cuEventSynchronize", &cu.event_wait},
      {"cuEventElapsedTime", &cu.event_seconds},
      {"cuEventDestroy_v2", &cu.event_destroy},
      {"cuModuleLoadData", &cu.module_load},
      {"cuModuleUnload", &cu.module_unload},
      {"cuModuleGetFunction", &cu.module_function},
      {"cuLaunchKernel", &cu.launch},
      {"cuGetErrorName", &cu.error_name},
      {"cuGetErrorString", &cu.error_words},
  };
  void *library = gab_device_library(names);
  if (!library) GAB_FAIL(GAB_ERR_INPUT, "no CUDA here: libcuda.so.1 cannot be opened");
  GAB_TRY(gab_device_symbols(library, "libcuda.so.1", symbols, sizeof symbols / sizeof symbols[0]));
  const cu_result error = cu.init(0);
  if (error != 0 && error != CUDA_ERROR_NO_DEVICE) return check(error, "cuInit");
  cu.library = library;
  return GAB_OK;
}

/* The compiler is loaded when it is needed; devices can be listed without it. */
static gab_status load_compiler(void)
{
  static const char *const names[] = {"libnvrtc.so.13",
                                      "libnvrtc.so.12",
                                      "libnvrtc.so.11.2",
                                      "libnvrtc.so",
                                      "/usr/local/cuda/lib64/libnvrtc.so",
                                      "/usr/local/cuda/lib/libnvrtc.so",
                                      NULL};
  const gab_device_symbol symbols[] = {
      {"nvrtcVersion", &cu.version},
      {"nvrtcCreateProgram", &cu.program_create},
      {"nvrtcCompileProgram", &cu.program_compile},
      {"nvrtcDestroyProgram", &cu.program_destroy},
      {"nvrtcGetProgramLogSize", &cu.log_bytes},
      {"nvrtcGetProgramLog", &cu.log},
      {"nvrtcGetCUBINSize", &cu.code_bytes},
      {"nvrtcGetCUBIN", &cu.code},
      {"nvrtcGetPTXSize", &cu.portable_bytes},
      {"nvrtcGetPTX", &cu.portable},
      {"nvrtcGetErrorString", &cu.compiler_words},
  };
  if (cu.compiler) return GAB_OK;
  void *library = gab_device_library(names);
  if (!library)
    GAB_FAIL(GAB_ERR_INPUT,
             "no compiler for CUDA here: libnvrtc.so cannot be opened; add its folder to LD_LIBRARY_PATH");
  GAB_TRY(gab_device_symbols(library, "libnvrtc.so", symbols, sizeof symbols / sizeof symbols[0]));
  cu.compiler = library;
  return GAB_OK;
}

static gab_status load(void) { return cu.library ? GAB_OK : load_driver(); }

static gab_status count_devices(int *count)
{
  if (cu.device_count(count) != 0) *count = 0;
  return GAB_OK;
}

static gab_status describe(int number, gab_device_about *about)
{
  cu_device device = 0;
  int driver = 0, major = 0, minor = 0, compiler_major = 0, compiler_minor = 0;
  CHECKED(cu.device_get(&device, number), "cuDeviceGet");
  CHECKED(cu.device_name(about->name, sizeof about->name, device), "cuDeviceGetName");
  CHECKED(cu.device_memory(&about->memory, device), "cuDeviceTotalMem");
  CHECKED(cu.device_attribute(&major, COMPUTE_MAJOR, device), "cuDeviceGetAttribute");
  CHECKED(cu.device_attribute(&minor, COMPUTE_MINOR, device), "cuDeviceGetAttribute");
  CHECKED(cu.driver_version(&driver), "cuDriverGetVersion");
  if (load_compiler() == GAB_OK) cu.version(&compiler_major, &compiler_minor);
  snprintf(about->runtime, sizeof about->runtime, "CUDA driver %d.%d, NVRTC %d.%d, compute capability %d.%d",
           driver / 1000, driver % 1000 / 10, compiler_major, compiler_minor, major, minor);
  about->has_double = true;
  return GAB_OK;
}

static void close_device(gab_device *device)
{
  cuda_device *it = of(device);
  if (it->stream) cu.stream_destroy(it->stream);
  if (it->context) cu.context_release(it->device);
  gab_free(&device);
}

static gab_status prepare(cuda_device *it, int number)
{
  CHECKED(cu.device_get(&it->device, number), "cuDeviceGet");
  CHECKED(cu.context_retain(&it->context, it->device), "cuDevicePrimaryCtxRetain");
  CHECKED(cu.context_set(it->context), "cuCtxSetCurrent");
  CHECKED(cu.stream_create(&it->stream, 1), "cuStreamCreate"); /* does not wait for the default stream */
  return GAB_OK;
}

static gab_status open_device(int number, gab_device **device)
{
  cuda_device *made = NULL;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  const gab_status status = prepare(made, number);
  *device = &made->base;
  if (status != GAB_OK) {
    close_device(*device);
    *device = NULL;
  }
  return status;
}

/* Makes the context of a device that of the calling thread. */
static gab_status enter(gab_device *device)
{
  return check(cu.context_set(of(device)->context), "cuCtxSetCurrent");
}

/* ---------------------------------------------------------------- memory */

static gab_status alloc(gab_device *device, size_t bytes, gab_device_handle *memory)
{
  cu_address address = 0;
  GAB_TRY(enter(device));
  const cu_result error = cu.alloc(&address, bytes);
  if (error == CUDA_ERROR_OUT_OF_MEMORY)
    GAB_FAIL(GAB_ERR_MEMORY, "CUDA: %s has not %zu bytes of memory left", device->about.name, bytes);
  CHECKED(error, "cuMemAlloc");
  *memory = (gab_device_handle)address;
  return GAB_OK;
}

static void release(gab_device *device, gab_device_handle memory)
{
  if (enter(device) == GAB_OK) cu.free((cu_address)memory);
}

static gab_status pin(gab_device *device, size_t bytes, void **data, gab_device_handle *pinned)
{
  GAB_TRY(enter(device));
  CHECKED(cu.pin(data, bytes, 0), "cuMemHostAlloc");
  *pinned = 0;
  return GAB_OK;
}

static void unpin(gab_device *device, void *data, gab_device_handle pinned)
{
  (void)pinned;
  if (enter(device) != GAB_OK) return;
  cu.stream_wait(of(device)->stream);
  cu.unpin(data);
}

static gab_status wait_for_all(gab_device *device)
{
  GAB_TRY(enter(device));
  CHECKED(cu.stream_wait(of(device)->stream), "cuStreamSynchronize");
  return GAB_OK;
}

static gab_status write_memory(gab_device *device, gab_device_handle to, size_t offset, const void *from,
                               size_t bytes, bool wait)
{
  GAB_TRY(enter(device));
  CHECKED(cu.to_device((cu_address)to + offset, from, bytes, of(device)->stream), "cuMemcpyHtoDAsync");
  return wait ? wait_for_all(device) : GAB_OK;
}

static gab_status read_memory(gab_device *device, gab_device_handle from, size_t offset, void *to,
                              size_t bytes, bool wait)
{
  GAB_TRY(enter(device));
  CHECKED(cu.to_host(to, (cu_address)from + offset, bytes, of(device)->stream), "cuMemcpyDtoHAsync");
  return wait ? wait_for_all(device) : GAB_OK;
}

static gab_status copy_memory(gab_device *device, gab_device_handle from, size_t from_offset,
                              gab_device_handle to, size_t to_offset, size_t bytes)
{
  GAB_TRY(enter(device));
  CHECKED(cu.within((cu_address)to + to_offset, (cu_address)from + from_offset, bytes, of(device)->stream),
          "cuMemcpyDtoDAsync");
  return GAB_OK;
}

/* ---------------------------------------------------------------- programs */

static gab_status explain(nvrtc_program program, nvrtc_result error)
{
  char *log = NULL;
  size_t bytes = 0;
  if (error == 0) return GAB_OK;
  cu.log_bytes(program, &bytes);
  if (GAB_NEW_ARRAY(&log, bytes + 1, GAB_MEMORY_OTHER) == GAB_OK) cu.log(program, log);
  const gab_status status =
      gab_error_set(GAB_ERR_ARGUMENT, __FILE__, __LINE__, "CUDA: nvrtcCompileProgram failed: %s (%d)%s%.*s",
                    cu.compiler_words(error), error, log && *log ? ":\n" : "", LOG_SHOWN, log ? log : "");
  gab_free(&log);
  return status;
}

/* Options in front of those of the caller, which are split in `split`. @return their number */
static int list_options(const char *architecture, char *split, const char *list[MOST_OPTIONS])
{
  int count = 0;
  char *next = NULL;
  list[count++] = architecture;
  list[count++] = "--fmad=false";
  list[count++] = "--ftz=false";
  list[count++] = "--prec-div=true";
  list[count++] = "--prec-sqrt=true";
  list[count++] = "-DGAB_DOUBLE";
  for (char *word = strtok_r(split, " ", &next); word && count < MOST_OPTIONS;
       word = strtok_r(NULL, " ", &next))
    list[count++] = word;
  return count;
}

/* Code for the device if this compiler supports it (sm_90), else PTX that the driver translates (compute_90). */
static gab_status compile_for(const char *kind, gab_device *device, const char *text, const char *options,
                              gab_buffer *binary)
{
  int major = 0, minor = 0;
  char architecture[64], split[1024];
  const char *list[MOST_OPTIONS];
  nvrtc_program program = NULL;
  void *place = NULL;
  size_t bytes = 0;
  CHECKED(cu.device_attribute(&major, COMPUTE_MAJOR, of(device)->device), "cuDeviceGetAttribute");
  CHECKED(cu.device_attribute(&minor, COMPUTE_MINOR, of(device)->device), "cuDeviceGetAttribute");
  snprintf(architecture, sizeof architecture, "--gpu-architecture=%s_%d%d", kind, major, minor);
  if (strlen(options) >= sizeof split) GAB_FAIL(GAB_ERR_ARGUMENT, "options of a program are too long");
  memcpy(split, options, strlen(options) + 1);
  const int count = list_options(architecture, split, list);
  nvrtc_result error = cu.program_create(&program, text, "gabion.cu", 0, NULL, NULL);
  if (error != 0)
    GAB_FAIL(GAB_ERR_SUSPECT, "CUDA: nvrtcCreateProgram failed: %s (%d)", cu.compiler_words(error), error);
  gab_status status = explain(program, cu.program_compile(program, count, list));
  const bool portable = kind[0] == 'c';
  if (status == GAB_OK) {
    error = portable ? cu.portable_bytes(program, &bytes) : cu.code_bytes(program, &bytes);
    if (error == 0 && bytes > 0) status = gab_buffer_extend(binary, bytes, &place);
    if (error == 0 && status == GAB_OK && place)
      error = portable ? cu.portable(program, place) : cu.code(program, place);
    if (error != 0 || !place) status = explain(program, error ? error : -1);
  }
  cu.program_destroy(&program);
  return status;
}

static gab_status compile(gab_device *device, const char *text, const char *options, gab_buffer *binary)
{
  GAB_TRY(load_compiler());
  if (compile_for("sm", device, text, options, binary) == GAB_OK) return GAB_OK;
  gab_buffer_clear(binary);
  return compile_for("compute", device, text, options, binary);
}

static gab_status load_program(gab_device *device, const void *binary, size_t bytes,
                               gab_device_handle *program)
{
  cu_any module = NULL;
  (void)bytes;
  GAB_TRY(enter(device));
  CHECKED(cu.module_load(&module, binary), "cuModuleLoadData");
  *program = (gab_device_handle)module;
  return GAB_OK;
}

static void unload_program(gab_device *device, gab_device_handle program)
{
  if (enter(device) == GAB_OK) cu.module_unload((cu_any)program);
}

static gab_status find_kernel(gab_device *device, gab_device_handle program, const char *name,
                              gab_device_handle *kernel)
{
  cu_any found = NULL;
  GAB_TRY(enter(device));
  const cu_result error = cu.module_function(&found, (cu_any)program, name);
  if (error != 0) GAB_FAIL(GAB_ERR_ARGUMENT, "CUDA: no kernel %s (%d)", name, error);
  *kernel = (gab_device_handle)found;
  return GAB_OK;
}

static gab_status launch(gab_device *device, gab_device_handle kernel, size_t groups, size_t group,
                         const gab_device_argument *arguments, int argument_count)
{
  cu_address addresses[GAB_DEVICE_MOST_ARGUMENTS];
  void *values[GAB_DEVICE_MOST_ARGUMENTS];
  for (int i = 0; i < argument_count; i++) {
    addresses[i] = arguments[i].memory ? (cu_address)arguments[i].memory->handle : 0;
    values[i] = arguments[i].memory ? (void *)&addresses[i] : (void *)(uintptr_t)arguments[i].value;
  }
  if (groups > INT32_MAX) GAB_FAIL(GAB_ERR_ARGUMENT, "kernel for %zu groups: at most 2^31 - 1", groups);
  GAB_TRY(enter(device));
  CHECKED(cu.launch((cu_any)kernel, (unsigned)groups, 1, 1, (unsigned)group, 1, 1, 0, of(device)->stream,
                    values, NULL),
          "cuLaunchKernel");
  return GAB_OK;
}

/* ---------------------------------------------------------------- marks */

static gab_status mark(gab_device *device, gab_device_handle *handle)
{
  cu_any event = NULL;
  GAB_TRY(enter(device));
  CHECKED(cu.event_create(&event, 0), "cuEventCreate");
  *handle = (gab_device_handle)event;
  const gab_status status = check(cu.event_record(event, of(device)->stream), "cuEventRecord");
  if (status != GAB_OK) cu.event_destroy(event);
  return status;
}

static void unmark(gab_device *device, gab_device_handle event)
{
  if (enter(device) == GAB_OK) cu.event_destroy((cu_any)event);
}

static gab_status mark_wait(gab_device *device, gab_device_handle event)
{
  GAB_TRY(enter(device));
  CHECKED(cu.event_wait((cu_any)event), "cuEventSynchronize");
  return GAB_OK;
}

static gab_status seconds(gab_device *device, gab_device_handle from, gab_device_handle to, double *result)
{
  float milliseconds = 0;
  GAB_TRY(enter(device));
  CHECKED(cu.event_seconds(&milliseconds, (cu_any)from, (cu_any)to), "cuEventElapsedTime");
  *result = 1e-3 * milliseconds;
  return GAB_OK;
}

const gab_device_backend gab_device_backend_cuda = {
    .name = "cuda",
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
    .launch = launch,
    .mark = mark,
    .unmark = unmark,
    .mark_wait = mark_wait,
    .seconds = seconds,
};
