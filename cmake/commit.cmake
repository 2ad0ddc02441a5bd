# SPDX-License-Identifier: Apache-2.0
# Run with every build: gabion_commit.h with the commit that is built, rewritten only when it is another one.
#   cmake -DSOURCE=DIR -DHEADER=FILE -P commit.cmake
set(commit "")
find_program(git git)
if(git AND EXISTS "${SOURCE}/.git")
  execute_process(COMMAND "${git}" -C "${SOURCE}" rev-parse --short=12 HEAD OUTPUT_VARIABLE commit
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(COMMAND "${git}" -C "${SOURCE}" status --porcelain --untracked-files=no OUTPUT_VARIABLE changes
                  ERROR_QUIET)
  if(commit AND changes)
    string(APPEND commit "+")
  endif()
endif()
set(text "#define GAB_COMMIT \"${commit}\"\n")
set(old "")
if(EXISTS "${HEADER}")
  file(READ "${HEADER}" old)
endif()
if(NOT old STREQUAL text)
  file(WRITE "${HEADER}" "${text}")
endif()
