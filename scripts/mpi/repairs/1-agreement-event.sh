#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The event of a late failure report keeps its agreement alive, and does nothing once the agreement is complete.
#
# A failure that is noticed within the code of an agreement is handled later, by an event. The event holds a bare
# pointer to the agreement: if the agreement ends first, the process crashes in era_mark_process_failed().
# Upstream: open-mpi/ompi pull request 13455, first released with Open MPI 5.0.10: the event retains the
# agreement. It lacks the check for completion.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

file=$src/ompi/mca/coll/ftagree/coll_ftagree_earlyreturning.c
set_agreement='^ *event->ci = ci;$'
handle='^    era_mark_process_failed(ci, r);$'
expect "$file" 1 "$set_agreement" "$handle"

sed -i -e "s/$set_agreement/        OBJ_RETAIN(ci);\\n&/" \
  -e "s/$handle/    if (ci->status != COMPLETED) era_mark_process_failed(ci, r);\\n    OBJ_RELEASE(ci);/" "$file"
