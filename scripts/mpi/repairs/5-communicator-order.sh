#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A communicator whose creation failed leaves the queue of creations.
#
# Communicators are created in the order of the ids of their parents: the lowest id in progress is recorded. After a
# failed creation the record stays, and creations from a communicator with a higher id wait without end.
# Upstream: no report known.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

file=$src/ompi/communicator/comm_cid.c
failed='^        return request->super.req_status.MPI_ERROR;$'
id='((int64_t) ompi_comm_get_local_cid (context->comm) << 32 | context->pml_tag)'
expect "$file" 1 "^    int64_t my_id = $(sed 's/[*]/\\&/g' <<<"$id");\$" '^static int ompi_comm_checkcid (ompi_comm_request_t \*request)$' \
  '^static int ompi_comm_nextcid_check_flag (ompi_comm_request_t \*request)$'
expect "$file" 0 '^        if (ompi_comm_cid_lowest_id == '

sed -i "/^static int ompi_comm_\(checkcid\|nextcid_check_flag\) (ompi_comm_request_t \*request)\$/,/^}/s/$failed/        if (ompi_comm_cid_lowest_id == $id) ompi_comm_cid_lowest_id = INT64_MAX;\\n&/" \
  "$file"
expect "$file" 2 '^        if (ompi_comm_cid_lowest_id == '
