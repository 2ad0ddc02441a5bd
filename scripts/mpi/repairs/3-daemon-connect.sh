#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Daemons unpack the controls before the data of PMIx_Connect, allocate the second entry that they use, and store the
# data by a module with that function.
#
# After processes of several nodes have connected, daemons receive a string of bytes with controls, then data.
# connect_release() does not unpack the string and misinterprets the data. So it
#  - registers a namespace without a name, which compares equal to any other: addresses of processes that are started later
#    are not found;
#  - reads and destroys the second entry of an array of one, in foreign memory: the daemon crashes soon after.
# With the bytes unpacked, the addresses are stored through the module of the namespace, which may lack the function
# (gds/shmem2): a new crash. The daemon's own module has it. So these three changes belong together.
# Upstream: openpmix/prrte issue 964 shows the same crash of 2021; no report of this cause is known. openpmix/prrte pull request
# 2055 (October 2024, PRRTE 4.0) replaced connect_release() by one that has no controls to unpack.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

file=$src/3rd-party/prrte/src/prted/pmix/pmix_server_dyn.c
server=$src/3rd-party/openpmix/src/server/pmix_server.c
size='^    size_t ninfo = 1;$'
second='^        PMIX_INFO_DESTRUCT(&info\[1\]);$'
declare_payload='^    char \*payload;$'
keep_payload='^        payload = buf->unpack_ptr;$'
keep_again='^            payload = buf->unpack_ptr;$'
restore_payload='^        buf->unpack_ptr = payload;$'
unpack='PMIx_Data_unpack(NULL, buf, &infostat, &cnt, PMIX_INFO);$'
module='^        gds = nptr->compat.gds;$'
expect "$file" 1 "$size" "$second" "$declare_payload" "$keep_payload" "$keep_again" "$restore_payload" '^static void connect_release('
expect "$file" 2 "$unpack"
expect "$server" 1 "$module" '^static void _register_nspace('

sed -i -e "/^static void connect_release(/,/^}/{
    s/$size/    size_t ninfo = 2;/
    s/$declare_payload/    pmix_byte_object_t bytes = {NULL, 0};\\n    pmix_data_buffer_t controls;/
    s/$keep_payload/        cnt = 1;\\
        rc = PMIx_Data_unpack(NULL, buf, \&bytes, \&cnt, PMIX_BYTE_OBJECT);\\
        if (PMIX_SUCCESS != rc) PMIX_ERROR_LOG(rc);\\
        PMIX_DATA_BUFFER_CONSTRUCT(\&controls);\\
        PMIX_DATA_BUFFER_LOAD(\&controls, bytes.bytes, bytes.size);/
    /$keep_again/d
    s/$restore_payload/        PMIX_DATA_BUFFER_DESTRUCT(\&controls);/
    s/$unpack/PMIx_Data_unpack(NULL, \&controls, \&infostat, \&cnt, PMIX_INFO);/
  }" "$file"
sed -i "/^static void _register_nspace(/,/^}/s/$module/        gds = pmix_globals.mypeer->nptr->compat.gds;/" "$server"
expect "$file" 0 "$size" 'payload;$'
expect "$server" 0 "$module"
