# SPDX-License-Identifier: Apache-2.0
# The target `doc`: the reference of the public headers in build/doc/html. Warnings are errors.
find_program(DOXYGEN_EXECUTABLE doxygen)
mark_as_advanced(DOXYGEN_EXECUTABLE)
if(DOXYGEN_EXECUTABLE)
  add_custom_target(doc COMMENT "Doxygen: ${PROJECT_BINARY_DIR}/doc/html/index.html" VERBATIM
    COMMAND ${CMAKE_COMMAND} -E make_directory "${PROJECT_BINARY_DIR}/doc"
    COMMAND ${CMAKE_COMMAND} -E env "GABION_VERSION=${PROJECT_VERSION}"
            "GABION_DOC_OUTPUT=${PROJECT_BINARY_DIR}/doc" "${DOXYGEN_EXECUTABLE}" Doxyfile
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
else()
  add_custom_target(doc COMMAND ${CMAKE_COMMAND} -E echo "doxygen was not found: apt-get install doxygen"
                    COMMAND ${CMAKE_COMMAND} -E false VERBATIM)
endif()
