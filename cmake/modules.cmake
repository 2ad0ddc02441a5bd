# SPDX-License-Identifier: Apache-2.0
# gabion_module(NAME [EXCEPT folder] USES other...): the static library gabion_NAME from all *.c in NAME/ and its folders, EXCEPT one. A
# module without sources is skipped, so that modules may appear one after another.
function(gabion_module name)
  cmake_parse_arguments(arg "" "EXCEPT" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${name}/*.c")
  if(arg_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "/${name}/${arg_EXCEPT}/")
  endif()
  if(NOT sources)
    return()
  endif()
  add_library(gabion_${name}_objects OBJECT ${sources})
  target_link_libraries(gabion_${name}_objects PRIVATE gabion_flags)
  set_target_properties(gabion_${name}_objects PROPERTIES POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
  add_library(gabion_${name} STATIC $<TARGET_OBJECTS:gabion_${name}_objects>)
  target_link_libraries(gabion_${name} PUBLIC gabion_flags)
  foreach(other IN LISTS arg_USES)
    if(TARGET gabion_${other})
      target_link_libraries(gabion_${name} PUBLIC gabion_${other})
    endif()
  endforeach()
  set_property(GLOBAL APPEND PROPERTY GABION_MODULES ${name})
endfunction()

# The one library that is installed: all objects of all modules. Programs of this project link
# gabion_modules, the same code, but each module as soon as it is built.
function(gabion_whole_library)
  get_property(modules GLOBAL PROPERTY GABION_MODULES)
  add_library(gabion_modules INTERFACE)
  target_link_libraries(gabion_modules INTERFACE gabion_flags)
  if(NOT modules)
    return()
  endif()
  add_library(gabion)
  set_target_properties(gabion PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  foreach(module IN LISTS modules)
    target_sources(gabion PRIVATE $<TARGET_OBJECTS:gabion_${module}_objects>)
    target_link_libraries(gabion_modules INTERFACE gabion_${module})
  endforeach()
  target_link_libraries(gabion PRIVATE $<BUILD_INTERFACE:gabion_flags>)
  add_library(gabion-checked INTERFACE) # checked indices in the programs that link it: field/checked_access.h
  set_target_properties(gabion-checked PROPERTIES EXPORT_NAME checked)
  target_compile_definitions(gabion-checked INTERFACE GABION_CHECKED)
  target_link_libraries(gabion-checked INTERFACE gabion)
endfunction()

# gabion_app_library(SOURCE...): the driver as gabion_apps, for programs of this project, and as libgabion-app, which is installed
# beside libgabion.
function(gabion_app_library)
  add_library(gabion_app_objects OBJECT ${ARGN})
  target_link_libraries(gabion_app_objects PRIVATE gabion_flags)
  set_target_properties(gabion_app_objects PROPERTIES POSITION_INDEPENDENT_CODE ${BUILD_SHARED_LIBS})
  add_library(gabion_apps STATIC $<TARGET_OBJECTS:gabion_app_objects>)
  target_link_libraries(gabion_apps PUBLIC gabion_modules)
  if(NOT TARGET gabion)
    return()
  endif()
  add_library(gabion-app $<TARGET_OBJECTS:gabion_app_objects>)
  set_target_properties(gabion-app PROPERTIES EXPORT_NAME app VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        LINKER_LANGUAGE C ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
  target_link_libraries(gabion-app PUBLIC gabion PRIVATE $<BUILD_INTERFACE:gabion_flags>)
endfunction()

# gabion_commit_header(MODULE): the module's sources find gabion_commit.h, brought up to date by every build.
function(gabion_commit_header module)
  set(folder "${PROJECT_BINARY_DIR}/generated")
  add_custom_target(gabion_commit BYPRODUCTS "${folder}/gabion_commit.h"
                    COMMAND "${CMAKE_COMMAND}" "-DSOURCE=${PROJECT_SOURCE_DIR}" "-DHEADER=${folder}/gabion_commit.h"
                            -P "${PROJECT_SOURCE_DIR}/cmake/commit.cmake" VERBATIM)
  target_include_directories(gabion_${module}_objects PRIVATE "${folder}")
  add_dependencies(gabion_${module}_objects gabion_commit)
endfunction()

# gabion_device_text(MODULE TEXT NAME): a kernel text for devices in the module's library, as the characters NAME[].
function(gabion_device_text module text name)
  set(made "${PROJECT_BINARY_DIR}/generated/${name}.c")
  set(depends "")
  set(todo "${text}")
  while(todo)
    list(POP_FRONT todo part)
    list(APPEND depends "${PROJECT_SOURCE_DIR}/${part}")
    file(STRINGS "${PROJECT_SOURCE_DIR}/${part}" lines REGEX "^[ \t]*#include \"")
    foreach(line IN LISTS lines)
      string(REGEX REPLACE "^.*#include \"([^\"]+)\".*$" "\\1" line "${line}")
      list(APPEND todo "${line}")
    endforeach()
  endwhile()
  add_custom_command(OUTPUT "${made}" DEPENDS ${depends} "${PROJECT_SOURCE_DIR}/cmake/text.cmake"
                     COMMAND "${CMAKE_COMMAND}" "-DROOT=${PROJECT_SOURCE_DIR}" "-DTEXT=${text}" "-DNAME=${name}" "-DOUT=${made}"
                             -P "${PROJECT_SOURCE_DIR}/cmake/text.cmake" VERBATIM)
  target_sources(gabion_${module}_objects PRIVATE "${made}")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${depends})
endfunction()

# libgabion-persist from resilience/persist: a library that stands between a program and its MPI, with the few sources of
# core that it needs. Programs of this project link gabion_persist; what is installed has those sources inside.
function(gabion_persist_library)
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/resilience/persist/*.c")
  if(NOT sources OR NOT TARGET gabion_core)
    return()
  endif()
  set(from_core "")
  foreach(name base/status base/buffer memory/memory memory/memory_pool memory/node_memory memory/shared_memory system/own_folder system/process system/file base/hash)
    list(APPEND from_core "${PROJECT_SOURCE_DIR}/core/${name}.c")
  endforeach()
  add_library(gabion_persist STATIC ${sources})
  target_link_libraries(gabion_persist PUBLIC gabion_core)
  add_library(gabion-persist ${sources} ${from_core})
  target_link_libraries(gabion-persist PRIVATE $<BUILD_INTERFACE:gabion_flags>)
  set_target_properties(gabion-persist PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                        ARCHIVE_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib"
                        LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/lib")
endfunction()
