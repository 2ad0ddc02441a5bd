# SPDX-License-Identifier: Apache-2.0
# For the scripts of this folder: a new folder to work in, complaints, programs killed at a line of their source.
set -u
: "${GABION_SOURCE:?}" "${GABION_BUILD:?}" "${GABION_MPICC:?}" "${GABION_MPIRUN:?}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
failures=0
complain() { echo "$*"; failures=$((failures + 1)); }
read -ra mpi_flags <<<"${GABION_MPI_FLAGS:-}"
several=() # options of mpirun for more processes than cores; other launchers than Open MPI's need none
[ -z "${GABION_TEST_OPEN_MPI:-}" ] || several=(--oversubscribe)

# build NAME SOURCE [LIBRARIES]: NAME, and NAME-killed, which dies at a line: PERSIST_KILL="RANK LINE VISIT [MARKER]", once if
# the file MARKER is named. PERSIST_REACHED=FILE gets "RANK LINE" at each line that is reached. After each statement that ends its line a call is put in; nothing else changes.
build() {
  local name=$1 source=$2
  shift 2
  cat >killed.h <<'END'
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
static void at_line(int line)
{
  static int visits;
  const char *plan = getenv("PERSIST_KILL"), *rank = getenv("OMPI_COMM_WORLD_RANK");
  int who, where, when;
  char marker[200] = "";
  const char *reached = getenv("PERSIST_REACHED");
  FILE *list = reached && rank ? fopen(reached, "a") : NULL;
  if (list) fprintf(list, "%s %d\n", rank, line);
  if (list) fclose(list);
  if (!plan || !rank || getenv("GABION_SPAWNED")) return;
  if (sscanf(plan, "%d %d %d %199s", &who, &where, &when, marker) < 3) return;
  if (who != atoi(rank) || where != line || ++visits != when) return;
  if (!*marker || open(marker, O_CREAT | O_EXCL | O_WRONLY, 0600) >= 0) raise(SIGKILL);
}
END
  { echo '#include "killed.h"'; echo "#line 1 \"$source\""
    awk '/^static struct/ { inside = 1 } /^}/ { inside = 0 }
         !inside && /^  .*;$/ && !/^ *return/ { print $0 " at_line(" NR ");"; next } { print }' "$source"; } >"$name-killed.c"
  "$GABION_MPICC" -std=gnu11 -Wall -I. -I"$GABION_SOURCE" "$name-killed.c" -o "$name-killed" "$@" || exit 1
  lines=$(sed -n 's/.* at_line(\([0-9]*\));$/\1/p' "$name-killed.c")
  [ -n "$lines" ] || { echo "no lines found in $source"; exit 1; }
}
