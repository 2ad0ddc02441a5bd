# SPDX-License-Identifier: Apache-2.0
# What can be chosen, and the flags that every target gets.

option(BUILD_SHARED_LIBS "build libgabion as a shared library" OFF)
option(GABION_NATIVE "use all instructions of this machine (-march=native)" ON)
set(GABION_BASELINE "x86-64-v3" CACHE STRING
    "x86 without GABION_NATIVE: the least processor that programs run on (empty: any; kernels are then six times slower)")
option(GABION_WITHOUT_ULFM "do not use fault tolerance even where the MPI has it" OFF)
option(GABION_METIS "use METIS where it is there, for the balancing strategy `graph'" ON)
option(GABION_WERROR "treat warnings of the compiler as errors" OFF)
set(GABION_SANITIZE "" CACHE STRING "sanitizers, e.g. address,undefined")
set(GABION_MPI "" CACHE PATH "prefix of the MPI to use (empty: $GABION_MPI, the one of setup.sh, PATH)")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Release, Debug or RelWithDebInfo" FORCE)
endif()
set(CMAKE_C_FLAGS_RELEASE "-O3 -DNDEBUG" CACHE STRING "flags of release builds")
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bin")
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)

# gabion_compiler: what every object of the project is compiled with. -ffp-contract=off and the absence of
# any fast-math option are what makes results equal to the last bit across variants of a loop.
# gabion_flags: the same and the libraries that Gabion stands on (dependencies.cmake).
add_library(gabion_compiler INTERFACE)
add_library(gabion_flags INTERFACE)
target_link_libraries(gabion_flags INTERFACE gabion_compiler)
target_include_directories(gabion_compiler INTERFACE "${PROJECT_SOURCE_DIR}")
target_compile_definitions(gabion_compiler INTERFACE _GNU_SOURCE "GAB_VERSION=\"${PROJECT_VERSION}\""
                           "GAB_BUILD_TYPE=\"${CMAKE_BUILD_TYPE}\""
                           "GAB_COMPILER=\"${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}\"")
# A function that is not declared would be taken to return an int: C99 has no such thing, but GCC goes on with a warning.
target_compile_options(gabion_compiler INTERFACE -Wall -Wextra -Wpedantic -Werror=implicit-function-declaration
                       -ffp-contract=off -fno-math-errno)
target_link_libraries(gabion_compiler INTERFACE m ${CMAKE_DL_LIBS}) # runtimes of devices are opened at run time
if(GABION_WERROR)
  target_compile_options(gabion_compiler INTERFACE -Werror)
endif()
# Results are the same with any of these. Without a fused multiply-add of the processor, which x86 has had since
# 2013, the C library computes it, one number at a time.
if(GABION_NATIVE)
  set(processor_flags -march=native -mprefer-vector-width=512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64" AND GABION_BASELINE)
  set(processor_flags -march=${GABION_BASELINE})
endif()
if(processor_flags)
  foreach(flag ${processor_flags})
    string(MAKE_C_IDENTIFIER "GABION_TAKES${flag}" takes)
    check_c_compiler_flag("${flag}" ${takes})
    if(${takes})
      target_compile_options(gabion_compiler INTERFACE ${flag})
    endif()
  endforeach()
endif()
if(GABION_SANITIZE)
  target_compile_options(gabion_compiler INTERFACE -fsanitize=${GABION_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=undefined -g)
  target_link_options(gabion_compiler INTERFACE -fsanitize=${GABION_SANITIZE})
endif()
