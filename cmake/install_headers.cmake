# SPDX-License-Identifier: Apache-2.0
# Runs during `cmake --install`: installs the headers of the modules, except *_impl.h and those that say `Stability: internal.'
# Set before: source, modules, destination (below the prefix, or absolute).
if(NOT IS_ABSOLUTE "${destination}")
  set(destination "${CMAKE_INSTALL_PREFIX}/${destination}")
endif()
foreach(module IN LISTS modules)
  file(GLOB_RECURSE headers RELATIVE "${source}" "${source}/${module}/*.h")
  list(FILTER headers EXCLUDE REGEX "_impl\\.h$")
  foreach(header IN LISTS headers)
    file(STRINGS "${source}/${header}" internal REGEX "Stability: internal\\." LIMIT_COUNT 1)
    if(NOT internal)
      get_filename_component(folder "${header}" DIRECTORY)
      file(INSTALL DESTINATION "${destination}/${folder}" TYPE FILE FILES "${source}/${header}")
    endif()
  endforeach()
endforeach()
