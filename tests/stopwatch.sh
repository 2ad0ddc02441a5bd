#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs a test and appends its times to a table, if scripts/test.sh asks for one (GABION_TEST_TIMES).
#
#   stopwatch.sh NAME TIER BUDGET COMMAND ...     ends as the command does
#
# A row: name, tier, code, wall seconds, CPU seconds (of all processes that were waited for), budget in CPU seconds.
table=${GABION_TEST_TIMES:-}
[ -n "$table" ] || exec "${@:4}"
unset GABION_TEST_TIMES # tests of the harness start ctest themselves
started=${EPOCHREALTIME/[.,]/}
"${@:4}"
code=$?
wall=$((${EPOCHREALTIME/[.,]/} - started))
# The second line of `times' is that of the children: 1m2.345s 0m6.789s
milliseconds() { local seconds=${1#*m}; seconds=${seconds%s}; echo $((60000 * ${1%%m*} + 10#${seconds/[.,]/})); }
times >"$table.$$" # not in a subshell, which has no children
{ read -r _ && read -r user system; } <"$table.$$"
rm -f "$table.$$"
cpu=$(($(milliseconds "$user") + $(milliseconds "$system")))
printf '%s\t%s\t%d\t%d.%03d\t%d.%03d\t%s\n' "$1" "$2" "$code" $((wall / 1000000)) $((wall / 1000 % 1000)) $((cpu / 1000)) $((cpu % 1000)) \
  "$3" >>"$table"
if ((code > 128 && code < 160)); then kill -"$((code - 128))" $$; fi
exit "$code"
