#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Processes that create a communicator continue with the agreed epoch.
#
# An agreement is identified by the context id of its communicator and an epoch. Processes that create a communicator
# agree on the lowest epoch of all, but each then counts its own down by one. After some have created communicators
# without the others, epochs repeat, and an agreement finds the result of an old one.
# Upstream: no known report of this cause; open-mpi/ompi issue 13138 (MPIX_Comm_shrink intermittently never returns) may
# be it.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

file=$src/ompi/communicator/comm_cid.c
count='^        ompi_comm_cid_epoch -= 1;'
expect "$file" 1 "$count"

sed -i "s/$count/        ompi_comm_cid_epoch = context->rflag < ompi_comm_cid_epoch ? context->rflag : ompi_comm_cid_epoch - 1;/" "$file"
