# SPDX-License-Identifier: Apache-2.0
# A text as an array of C: cmake -DROOT=sources -DTEXT=core/device/head.inc -DNAME=gab_device_head_text -DOUT=head.c -P text.cmake
# Lines `#include "PATH"` are replaced by that file of ROOT, over and over, since compilers of devices find no files.
file(READ "${ROOT}/${TEXT}" text)
while(text MATCHES "#include \"([^\"\n]+)\"")
  set(line "${CMAKE_MATCH_0}")
  file(READ "${ROOT}/${CMAKE_MATCH_1}" part)
  string(REPLACE "${line}" "${part}" text "${text}")
endwhile()
file(WRITE "${OUT}.text" "${text}")
file(READ "${OUT}.text" digits HEX)
string(REGEX REPLACE "(..)" "'\\\\x\\1'," bytes "${digits}")
string(REGEX REPLACE "('.x0a',)" "\\1\n" bytes "${bytes}")
file(WRITE "${OUT}" "/* ${TEXT} with what it includes. */\nextern const char ${NAME}[];\nconst char ${NAME}[] = {\n${bytes}0};\n")
