#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The daemon releases the partly read message of a dead process last, and does not read from a removed process.
#
# The message being read from a process holds a reference to the daemon's record of that process. lost_connection()
# releases the message first and uses the record afterwards. If that was the last reference, the daemon waits for a
# lock in freed memory, or crashes, and no further process is started. Events of a removed process also stayed armed
# on a closed file.
# Upstream: openpmix/openpmix pull request 4233 (2026), the order of the release.
. "$(dirname "${BASH_SOURCE[0]}")/common.sh"

connections=$src/3rd-party/openpmix/src/mca/ptl/base/ptl_base_sendrecv.c
server=$src/3rd-party/openpmix/src/server/pmix_server.c
release='^        PMIX_RELEASE(peer->recv_msg);$'
close='^                CLOSE_THE_SOCKET(peer->sd);$'
expect "$connections" 2 "$release"
expect "$connections" 1 '^err_close:$' '^static void lost_connection(pmix_peer_t \*peer)$'
expect "$server" 1 "$close" '^static void remove_client('

declare_message='pmix_ptl_recv_t *message = NULL;'
release_message='if (NULL != message) { PMIX_RELEASE(message); }'
# The handler of a read error leaves the message to lost_connection(), which releases it as its last action.
sed -i -e "/^err_close:/,/^}/{/$release/d; /^        peer->recv_msg = NULL;$/d}" \
  -e "/^static void lost_connection/,/^}/{
        s/^    size_t n;$/&\\n    $declare_message/
        s/$release/        message = peer->recv_msg;/
        s/^}/    $release_message\\n}/
      }" "$connections"
sed -i "/^static void remove_client/,/^}/s/$close/                {\\
                    $declare_message\\
                    if (peer->recv_ev_active) { pmix_event_del(\&peer->recv_event); peer->recv_ev_active = false; }\\
                    if (peer->send_ev_active) { pmix_event_del(\&peer->send_event); peer->send_ev_active = false; }\\
                    message = peer->recv_msg;\\
                    peer->recv_msg = NULL;\\
                    $release_message\\
                }\\
&/" "$server"
