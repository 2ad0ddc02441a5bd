# SPDX-License-Identifier: Apache-2.0
# What an installed Gabion consists of: the library, that of the program `gabion' for programs of one's own, headers by folder,
# two programs, and what CMake (find_package(gabion), targets gabion::gabion, gabion::app and gabion::checked) and pkg-config (gabion,
# gabion-app, gabion-checked) need to use them.
# Programs include <gabion/gabion.h>, and headers "core/world/world.h": users have PREFIX/include and PREFIX/include/gabion. Of the
# headers of the modules those are installed that do not say `Stability: internal.'
if(NOT TARGET gabion)
  return()
endif()
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/gabion")

target_include_directories(gabion INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gabion>
                                            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(gabion INTERFACE $<INSTALL_INTERFACE:MPI::MPI_C>)
set(needs_inside OpenMP::OpenMP_C Threads::Threads ${gabion_hdf5} PkgConfig::FYAML m ${CMAKE_DL_LIBS})
set(gabion_pc_requires libfyaml)
set(gabion_modules_inside "")
foreach(name IN LISTS gabion_optional)
  if(${name}_FOUND)
    list(APPEND needs_inside PkgConfig::${name})
    if(name STREQUAL "HWLOC" AND GABION_HWLOC_FOLDER) # users' pkg-config would find that of the system
      list(JOIN HWLOC_LINK_LIBRARIES " " hwloc_libraries)
    else()
      list(APPEND gabion_pc_requires ${${name}_MODULE_NAME})
    endif()
    list(APPEND gabion_modules_inside ${name} ${${name}_MODULE_NAME})
  endif()
endforeach()
if(METIS_FOUND)
  list(APPEND needs_inside "${METIS_LIBRARY}")
endif()
if(NOT BUILD_SHARED_LIBS) # a shared library knows by itself what it stands on
  foreach(library IN LISTS needs_inside)
    target_link_libraries(gabion INTERFACE $<INSTALL_INTERFACE:$<LINK_ONLY:${library}>>)
  endforeach()
endif()
if(GABION_SANITIZE)
  target_link_options(gabion INTERFACE -fsanitize=${GABION_SANITIZE})
endif()

install(TARGETS gabion EXPORT gabionTargets 
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
install(TARGETS gabion-checked EXPORT gabionTargets)
# The driver: of its headers those of which a program with a solver or a stencil of its own needs types and functions, in
# the same place as in the sources.
install(TARGETS gabion-app EXPORT gabionTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
foreach(header solver case/case flow/flow plan/app_plan run/run stencil/stencil)
  get_filename_component(folder "apps/driver/${header}.h" DIRECTORY)
  install(FILES "${PROJECT_SOURCE_DIR}/apps/driver/${header}.h"
          DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gabion/${folder}" COMPONENT devel)
endforeach()
if(TARGET gabion-persist) # its header goes with those of resilience/
  target_include_directories(gabion-persist INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/gabion>
                                                      $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(gabion-persist INTERFACE $<INSTALL_INTERFACE:MPI::MPI_C>)
  if(GABION_SANITIZE)
    target_link_options(gabion-persist INTERFACE -fsanitize=${GABION_SANITIZE})
  endif()
  install(TARGETS gabion-persist EXPORT gabionTargets
          ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT devel
          LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime NAMELINK_COMPONENT devel)
endif()
get_property(modules GLOBAL PROPERTY GABION_MODULES)
install(CODE "set(source [[${PROJECT_SOURCE_DIR}]])
set(modules [[${modules}]])
set(destination [[${CMAKE_INSTALL_INCLUDEDIR}/gabion]])
include([[${PROJECT_SOURCE_DIR}/cmake/install_headers.cmake]])" COMPONENT devel)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/gabion/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/gabion" COMPONENT devel
        FILES_MATCHING PATTERN "*.h")
foreach(program gabion-run gabion-launch)
  if(TARGET ${program})
    set_target_properties(${program} PROPERTIES INSTALL_RPATH_USE_LINK_PATH ON)
    install(TARGETS ${program} RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
  endif()
endforeach()

install(DIRECTORY "${PROJECT_SOURCE_DIR}/python/gabion" DESTINATION "${CMAKE_INSTALL_DATADIR}/gabion/python" COMPONENT runtime
        FILES_MATCHING PATTERN "*.py")

install(EXPORT gabionTargets NAMESPACE gabion:: DESTINATION "${package_dir}" COMPONENT devel)
configure_package_config_file(cmake/gabionConfig.cmake.in "${PROJECT_BINARY_DIR}/gabionConfig.cmake"
                              INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/gabionConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/gabionConfig.cmake" "${PROJECT_BINARY_DIR}/gabionConfigVersion.cmake"
        DESTINATION "${package_dir}" COMPONENT devel)

# ---------------------------------------------------------------- pkg-config
# MPI and OpenMP have no reliable modules of pkg-config: their flags are written out.
set(gabion_pc_cflags "")
foreach(dir IN LISTS MPI_C_INCLUDE_DIRS)
  string(APPEND gabion_pc_cflags " -I${dir}")
endforeach()
string(STRIP "${MPI_C_LINK_FLAGS}" mpi_link)
list(JOIN MPI_C_LIBRARIES " " mpi_libraries)
set(openmp_libraries ${OpenMP_C_LIBRARIES})
list(FILTER openmp_libraries EXCLUDE REGEX "pthread")
list(JOIN openmp_libraries " " openmp_libraries)
set(gabion_pc_mpi " ${mpi_link} ${mpi_libraries}")
set(gabion_pc_inside " ${openmp_libraries} -pthread -lm")
foreach(library IN LISTS CMAKE_DL_LIBS)
  string(APPEND gabion_pc_inside " -l${library}")
endforeach()
if(GABION_SANITIZE)
  string(APPEND gabion_pc_inside " -fsanitize=${GABION_SANITIZE}")
endif()
if(METIS_FOUND)
  string(APPEND gabion_pc_inside " ${METIS_LIBRARY}")
endif()
if(hwloc_libraries)
  string(APPEND gabion_pc_inside " ${hwloc_libraries}")
endif()
if(gabion_hdf5_pc)
  list(APPEND gabion_pc_requires ${gabion_hdf5_pc})
else()
  list(JOIN HDF5_C_LIBRARIES " " hdf5_libraries)
  string(APPEND gabion_pc_inside " ${hdf5_libraries}")
endif()
list(JOIN gabion_pc_requires ", " gabion_pc_requires)
if(BUILD_SHARED_LIBS)
  set(gabion_pc_private ".private")
  set(gabion_pc_libs "Libs: -L\${libdir} -lgabion${gabion_pc_mpi}\nLibs.private:${gabion_pc_inside}")
else()
  set(gabion_pc_private "")
  set(gabion_pc_libs "Libs: -L\${libdir} -lgabion${gabion_pc_mpi}${gabion_pc_inside}")
endif()
file(RELATIVE_PATH gabion_pc_up "/p/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/p")
configure_file(cmake/gabion.pc.in "${PROJECT_BINARY_DIR}/gabion.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gabion.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)

configure_file(cmake/gabion-app.pc.in "${PROJECT_BINARY_DIR}/gabion-app.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gabion-app.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)
configure_file(cmake/gabion-checked.pc.in "${PROJECT_BINARY_DIR}/gabion-checked.pc" @ONLY)
install(FILES "${PROJECT_BINARY_DIR}/gabion-checked.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig" COMPONENT devel)

# libgabion-persist stands on MPI alone.
if(TARGET gabion-persist)
  configure_file(cmake/gabion-persist.pc.in "${PROJECT_BINARY_DIR}/gabion-persist.pc" @ONLY)
  install(FILES "${PROJECT_BINARY_DIR}/gabion-persist.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig"
          COMPONENT devel)
endif()
