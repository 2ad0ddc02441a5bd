# SPDX-License-Identifier: Apache-2.0
# Finds what Gabion stands on, and puts it into gabion_flags, so that every target sees the same.
# Sets GAB_HAVE_ULFM, GAB_HAVE_METIS, and GAB_HAVE_<NAME> for each of gabion_optional (defined as 1 when compiling,
# else undefined).

function(gabion_missing what debian)
  message(FATAL_ERROR "Gabion needs ${what}, which was not found.\n"
    "  Debian, Ubuntu: apt-get install ${debian}\n"
    "  everything at once: scripts/setup.sh\n"
    "  on a cluster: load its module, or point CMAKE_PREFIX_PATH / PKG_CONFIG_PATH to it")
endfunction()

set(THREADS_PREFER_PTHREAD_FLAG ON)
find_package(Threads REQUIRED)
find_package(OpenMP COMPONENTS C QUIET)
if(NOT OpenMP_C_FOUND)
  gabion_missing("OpenMP for ${CMAKE_C_COMPILER_ID}" "libomp-dev (Clang)")
endif()
find_package(PkgConfig QUIET)
if(NOT PKG_CONFIG_FOUND)
  gabion_missing("pkg-config" "pkg-config")
endif()

# ---------------------------------------------------------------- MPI
# The first of: -DGABION_MPI, $GABION_MPI, -DMPI_C_COMPILER, what setup.sh recorded, the one that FindMPI sees.
if(DEFINED ENV{GABION_CACHE})
  set(gabion_cache "$ENV{GABION_CACHE}")
elseif(DEFINED ENV{XDG_CACHE_HOME})
  set(gabion_cache "$ENV{XDG_CACHE_HOME}/gabion")
else()
  set(gabion_cache "$ENV{HOME}/.cache/gabion")
endif()
set(mpi_prefix "${GABION_MPI}")
set(mpi_why "GABION_MPI")
if(NOT mpi_prefix)
  set(mpi_prefix "$ENV{GABION_MPI}")
  set(mpi_why "environment GABION_MPI")
endif()
# A wrapper that this file did not choose itself was asked for.
set(mpi_wrapper "")
if(MPI_C_COMPILER AND NOT "${MPI_C_COMPILER}" STREQUAL "${GABION_MPICC_CHOSEN}")
  find_program(mpi_wrapper_path NAMES "${MPI_C_COMPILER}" NO_CACHE)
  if(NOT mpi_wrapper_path)
    message(FATAL_ERROR "MPI_C_COMPILER=${MPI_C_COMPILER}: no such program")
  endif()
  set(mpi_wrapper "${mpi_wrapper_path}")
endif()
if(mpi_wrapper AND mpi_prefix)
  file(REAL_PATH "${mpi_wrapper}" asked)
  file(REAL_PATH "${mpi_prefix}/bin/mpicc" chosen)
  if(NOT asked STREQUAL chosen)
    message(FATAL_ERROR "MPI_C_COMPILER=${mpi_wrapper} and ${mpi_why}=${mpi_prefix} are different MPIs: give one of them")
  endif()
  set(mpi_wrapper "")
endif()
if(mpi_wrapper)
  set(mpi_prefix "${mpi_wrapper}")
  set(mpi_why "MPI_C_COMPILER")
elseif(NOT mpi_prefix AND EXISTS "${gabion_cache}/mpi-prefix")
  file(STRINGS "${gabion_cache}/mpi-prefix" mpi_prefix LIMIT_COUNT 1)
  set(mpi_why "chosen by scripts/setup.sh")
endif()
if(NOT "${mpi_prefix}" STREQUAL "${GABION_MPI_USED}") # a change of MPI: forget what FindMPI remembers
  get_cmake_property(cached CACHE_VARIABLES)
  foreach(variable IN LISTS cached)
    if(variable MATCHES "^(MPI_|MPIEXEC|GAB_HAVE_ULFM|GABION_OPEN_MPI)")
      unset(${variable} CACHE)
    endif()
  endforeach()
  set(GABION_MPI_USED "${mpi_prefix}" CACHE INTERNAL "prefix or wrapper of the MPI at the last configuration")
endif()
if(mpi_wrapper)
  set(MPI_C_COMPILER "${mpi_wrapper}" CACHE FILEPATH "MPI compiler wrapper")
  string(REGEX REPLACE "mpicc([^/]*)$" "mpirun\\1" mpi_launcher "${mpi_wrapper}")
  if(NOT "${mpi_launcher}" STREQUAL "${mpi_wrapper}" AND EXISTS "${mpi_launcher}")
    set(MPIEXEC_EXECUTABLE "${mpi_launcher}" CACHE FILEPATH "MPI launcher")
  endif()
elseif(mpi_prefix)
  if(NOT EXISTS "${mpi_prefix}/bin/mpicc")
    message(FATAL_ERROR "no bin/mpicc in ${mpi_prefix} (${mpi_why})")
  endif()
  set(MPI_C_COMPILER "${mpi_prefix}/bin/mpicc" CACHE FILEPATH "MPI compiler wrapper")
  set(GABION_MPICC_CHOSEN "${MPI_C_COMPILER}" CACHE INTERNAL "wrapper that cmake/dependencies.cmake chose")
  set(MPIEXEC_EXECUTABLE "${mpi_prefix}/bin/mpirun" CACHE FILEPATH "MPI launcher")
else()
  set(mpi_why "found on PATH")
endif()
# FindMPI says nothing useful about a wrapper without headers (runtime packages alone): try it first.
find_program(gabion_mpicc NAMES mpicc NO_CACHE)
if(MPI_C_COMPILER)
  set(gabion_mpicc "${MPI_C_COMPILER}")
endif()
if(gabion_mpicc)
  file(WRITE "${PROJECT_BINARY_DIR}/CMakeFiles/mpi_header.c" "#include <mpi.h>\n")
  execute_process(COMMAND "${gabion_mpicc}" -E "${PROJECT_BINARY_DIR}/CMakeFiles/mpi_header.c"
                  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
  if(failed)
    message(FATAL_ERROR "${gabion_mpicc} (${mpi_why}) cannot compile: its header mpi.h is missing or it is broken.\n"
      "  scripts/setup.sh provides an MPI that works; GABION_MPI=/prefix chooses another")
  endif()
endif()
find_package(MPI COMPONENTS C QUIET)
if(NOT MPI_C_FOUND)
  message(FATAL_ERROR "Gabion needs MPI, which was not found.\n"
    "  scripts/setup.sh provides one that survives deaths (Open MPI >= 5)\n"
    "  on a cluster: load a module of Open MPI >= 5, or GABION_MPI=/prefix cmake ...")
endif()

set(CMAKE_REQUIRED_LIBRARIES MPI::MPI_C)
check_c_source_compiles("
#include <mpi.h>
#include <mpi-ext.h>
int main(void)
{
  MPI_Comm survivors;
  int flag = 1;
  MPIX_Comm_revoke(MPI_COMM_WORLD);
  MPIX_Comm_shrink(MPI_COMM_WORLD, &survivors);
  MPIX_Comm_agree(survivors, &flag);
  return flag == MPIX_ERR_PROC_FAILED || flag == MPIX_ERR_REVOKED;
}" GAB_HAVE_ULFM)
check_c_source_compiles("
#include <mpi.h>
#ifndef OPEN_MPI
#error another MPI
#endif
int main(void) { return 0; }" GABION_OPEN_MPI)
unset(CMAKE_REQUIRED_LIBRARIES)
set(gabion_ulfm FALSE)
if(GAB_HAVE_ULFM AND NOT GABION_WITHOUT_ULFM)
  set(gabion_ulfm TRUE)
  target_compile_definitions(gabion_flags INTERFACE GAB_HAVE_ULFM=1)
endif()

# ---------------------------------------------------------------- HDF5, serial
# Serial on purpose: no collective file operation can hang on a dead process, and a parallel HDF5 would
# bring an MPI of its own.
function(gabion_hdf5_is_serial result)
  set(CMAKE_REQUIRED_LIBRARIES ${ARGN})
  set(CMAKE_REQUIRED_QUIET ON)
  unset(GABION_HDF5_SERIAL CACHE)
  check_c_source_compiles("
#include <hdf5.h>
#ifdef H5_HAVE_PARALLEL
#error parallel
#endif
int main(void) { return H5open() < 0; }" GABION_HDF5_SERIAL)
  set(${result} ${GABION_HDF5_SERIAL} PARENT_SCOPE)
endfunction()
set(gabion_hdf5 "")
foreach(name hdf5-serial hdf5)
  if(NOT gabion_hdf5)
    pkg_check_modules(HDF5_${name} QUIET IMPORTED_TARGET ${name})
    if(HDF5_${name}_FOUND)
      gabion_hdf5_is_serial(serial PkgConfig::HDF5_${name})
      if(serial)
        set(gabion_hdf5 PkgConfig::HDF5_${name})
        set(gabion_hdf5_pc ${name})
        set(gabion_hdf5_version ${HDF5_${name}_VERSION})
      endif()
    endif()
  endif()
endforeach()
if(NOT gabion_hdf5)
  set(HDF5_PREFER_PARALLEL OFF)
  find_package(HDF5 COMPONENTS C QUIET)
  if(HDF5_FOUND)
    set(gabion_hdf5_version ${HDF5_VERSION})
    gabion_hdf5_is_serial(serial hdf5::hdf5)
    if(serial)
      set(gabion_hdf5 hdf5::hdf5)
    else()
      message(FATAL_ERROR "the HDF5 found (${HDF5_C_LIBRARIES}) is a parallel one; Gabion needs a serial HDF5.\n"
        "  Debian, Ubuntu: apt-get install libhdf5-dev; on a cluster: load the serial module or set HDF5_ROOT")
    endif()
  endif()
endif()
if(NOT gabion_hdf5)
  gabion_missing("serial HDF5" "libhdf5-dev")
endif()

# ---------------------------------------------------------------- libfyaml and what is optional
pkg_check_modules(FYAML QUIET IMPORTED_TARGET libfyaml)
if(NOT FYAML_FOUND)
  gabion_missing("libfyaml" "libfyaml-dev")
endif()
# Modules of pkg-config that are used where they are there: hashing, pictures, erasure codes, compression, topology, formulas.
set(gabion_optional XXHASH:libxxhash PNG:libpng ISAL:libisal BLOSC:blosc HWLOC:hwloc MUPARSER:muparser)
# An MPI that has brought an hwloc of its own loads it in any case: with that of the system beside it one of the two
# would hide the other.
set(hwloc_folder "")
foreach(library IN LISTS MPI_C_LIBRARIES)
  get_filename_component(folder "${library}" DIRECTORY)
  if(EXISTS "${folder}/libhwloc.so" AND EXISTS "${folder}/pkgconfig/hwloc.pc")
    set(hwloc_folder "${folder}/pkgconfig")
  endif()
endforeach()
if(NOT "${hwloc_folder}" STREQUAL "${GABION_HWLOC_FOLDER}")
  unset(__pkg_config_checked_HWLOC CACHE)
  unset(pkgcfg_lib_HWLOC_hwloc CACHE)
endif()
set(GABION_HWLOC_FOLDER "${hwloc_folder}" CACHE INTERNAL "pkg-config folder of the hwloc that the MPI has brought")
foreach(pair IN LISTS gabion_optional)
  string(REPLACE ":" ";" pair "${pair}")
  list(GET pair 0 name)
  list(GET pair 1 module)
  set(pkg_config_path "$ENV{PKG_CONFIG_PATH}")
  if(name STREQUAL "HWLOC" AND GABION_HWLOC_FOLDER)
    set(ENV{PKG_CONFIG_PATH} "${GABION_HWLOC_FOLDER}:${pkg_config_path}")
  endif()
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  set(ENV{PKG_CONFIG_PATH} "${pkg_config_path}")
endforeach()
list(TRANSFORM gabion_optional REPLACE ":.*" "")
pkg_check_modules(CMOCKA QUIET IMPORTED_TARGET cmocka)
if(GABION_METIS) # has no pkg-config file where distributions package it
  find_path(METIS_INCLUDE_DIR metis.h)
  find_library(METIS_LIBRARY metis)
endif()
set(METIS_FOUND FALSE)
if(GABION_METIS AND METIS_INCLUDE_DIR AND METIS_LIBRARY)
  set(METIS_FOUND TRUE)
endif()

target_link_libraries(gabion_flags INTERFACE MPI::MPI_C OpenMP::OpenMP_C Threads::Threads
                      ${gabion_hdf5} PkgConfig::FYAML)
foreach(name IN LISTS gabion_optional)
  if(${name}_FOUND)
    target_compile_definitions(gabion_flags INTERFACE GAB_HAVE_${name}=1)
    target_link_libraries(gabion_flags INTERFACE PkgConfig::${name})
  endif()
endforeach()
if(METIS_FOUND)
  target_compile_definitions(gabion_flags INTERFACE GAB_HAVE_METIS=1)
  target_include_directories(gabion_flags SYSTEM INTERFACE "${METIS_INCLUDE_DIR}")
  target_link_libraries(gabion_flags INTERFACE "${METIS_LIBRARY}")
endif()
