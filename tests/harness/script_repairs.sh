# SPDX-License-Identifier: Apache-2.0
# Repairs of Open MPI (scripts/mpi/repairs/) change sources that they know, leave others as they are and say so, and each stands in
# the table of doc/ulfm.md. The sources here are the lines that the repairs look for, and nothing else.
# gabion-test: timeout=60 labels=quick
set -u
repairs=$GABION_SOURCE/scripts/mpi/repairs
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
complain() { echo "$*"; failed=1; }

agreement=ompi/mca/coll/ftagree/coll_ftagree_earlyreturning.c cid=ompi/communicator/comm_cid.c
connections=3rd-party/openpmix/src/mca/ptl/base/ptl_base_sendrecv.c server=3rd-party/openpmix/src/server/pmix_server.c
dyn=3rd-party/prrte/src/prted/pmix/pmix_server_dyn.c
make_sources() { # make_sources FOLDER
  local file
  for file in $agreement $cid $connections $server $dyn; do mkdir -p "$1/${file%/*}"; done
  cat >"$1/$agreement" <<'END'
    era_mark_process_failed(ci, r);
        event->ci = ci;
END
  cat >"$1/$cid" <<'END'
    int64_t my_id = ((int64_t) ompi_comm_get_local_cid (context->comm) << 32 | context->pml_tag);
static int ompi_comm_checkcid (ompi_comm_request_t *request)
        return request->super.req_status.MPI_ERROR;
}
static int ompi_comm_nextcid_check_flag (ompi_comm_request_t *request)
        return request->super.req_status.MPI_ERROR;
        ompi_comm_cid_epoch -= 1;
}
static int another (ompi_comm_request_t *request)
        return request->super.req_status.MPI_ERROR;
}
END
  cat >"$1/$connections" <<'END'
static void lost_connection(pmix_peer_t *peer)
    size_t n;
        PMIX_RELEASE(peer->recv_msg);
        peer->recv_msg = NULL;
    use(peer);
}
err_close:
        PMIX_RELEASE(peer->recv_msg);
        peer->recv_msg = NULL;
    lost_connection(peer);
}
END
  cat >"$1/$server" <<'END'
static void _register_nspace(int sd)
        gds = nptr->compat.gds;
}
static void remove_client(pmix_peer_t *peer)
                CLOSE_THE_SOCKET(peer->sd);
}
END
  cat >"$1/$dyn" <<'END'
static void connect_release(int status)
    size_t ninfo = 1;
    char *payload;
        payload = buf->unpack_ptr;
        rc = PMIx_Data_unpack(NULL, buf, &infostat, &cnt, PMIX_INFO);
            payload = buf->unpack_ptr;
            rc = PMIx_Data_unpack(NULL, buf, &infostat, &cnt, PMIX_INFO);
        buf->unpack_ptr = payload;
        PMIX_INFO_DESTRUCT(&info[1]);
}
END
}
# has FILE LINE...: the lines follow each other there
has() {
  local file=$work/known/$1 wanted; shift
  wanted=$(printf '%s\n' "$@")
  [[ $'\n'"$(cat "$file")"$'\n' == *$'\n'"$wanted"$'\n'* ]] || { complain "not in $file:"; complain "$wanted"; cat "$file"; }
}

make_sources "$work/known"
count=0
for repair in "$repairs"/[0-9]*.sh; do
  name=$(basename "$repair" .sh)
  count=$((count + 1))
  bash "$repair" "$work/known" || complain "$name: does not know the sources of Open MPI 5.0.7"
  # What is repaired, and what is not there, it does not touch.
  cp -r "$work/known" "$work/before"
  if bash "$repair" "$work/known" 2>"$work/said"; then complain "$name: is applied twice"; fi
  grep -q ': expected ' "$work/said" || complain "$name: does not say what it expected: $(cat "$work/said")"
  diff -r "$work/before" "$work/known" || complain "$name: changes sources that it does not know"
  rm -r "$work/before"
  mkdir "$work/nothing"
  if bash "$repair" "$work/nothing" 2>/dev/null; then complain "$name: ends well without sources"; fi
  [ -z "$(ls -A "$work/nothing")" ] || complain "$name: makes files"
  rmdir "$work/nothing"
  grep -q "^| \`$name\` |" "$GABION_SOURCE/doc/ulfm.md" || complain "$name: not in the table of doc/ulfm.md"
  grep -q '^# Upstream: ' "$repair" || complain "$name: its head does not say what is known upstream"
done
[ "$count" -ge 5 ] || complain "only $count repairs"

lowest='        if (ompi_comm_cid_lowest_id == ((int64_t) ompi_comm_get_local_cid (context->comm) << 32 | context->pml_tag)) ompi_comm_cid_lowest_id = INT64_MAX;'
error='        return request->super.req_status.MPI_ERROR;'
has $agreement '    if (ci->status != COMPLETED) era_mark_process_failed(ci, r);' '    OBJ_RELEASE(ci);' '        OBJ_RETAIN(ci);' \
  '        event->ci = ci;'
has $cid 'static int ompi_comm_checkcid (ompi_comm_request_t *request)' "$lowest" "$error" '}' \
  'static int ompi_comm_nextcid_check_flag (ompi_comm_request_t *request)' "$lowest" "$error" \
  '        ompi_comm_cid_epoch = context->rflag < ompi_comm_cid_epoch ? context->rflag : ompi_comm_cid_epoch - 1;' '}' \
  'static int another (ompi_comm_request_t *request)' "$error" '}'
has $connections '        message = peer->recv_msg;' '        peer->recv_msg = NULL;' '    use(peer);' \
  '    if (NULL != message) { PMIX_RELEASE(message); }' '}' 'err_close:' '    lost_connection(peer);' '}'
has $server '        gds = pmix_globals.mypeer->nptr->compat.gds;' '}'
has $server '                    peer->recv_msg = NULL;' '                    if (NULL != message) { PMIX_RELEASE(message); }' '                }' \
  '                CLOSE_THE_SOCKET(peer->sd);'
has $dyn '    size_t ninfo = 2;' '    pmix_byte_object_t bytes = {NULL, 0};' '    pmix_data_buffer_t controls;' '        cnt = 1;' \
  '        rc = PMIx_Data_unpack(NULL, buf, &bytes, &cnt, PMIX_BYTE_OBJECT);'
has $dyn '            rc = PMIx_Data_unpack(NULL, &controls, &infostat, &cnt, PMIX_INFO);' '        PMIX_DATA_BUFFER_DESTRUCT(&controls);' \
  '        PMIX_INFO_DESTRUCT(&info[1]);'
exit "$failed"
