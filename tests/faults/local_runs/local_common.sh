# SPDX-License-Identifier: Apache-2.0
# Shared by the tests of local recovery; to be sourced after tests/apps/common.sh, with `case` (a parameter file) and
# `short` (arguments of all runs) set. `expected` and `lines` are the checksum and the series of the undisturbed run.
# every_case: the long tier, with situations that another test of the full tier covers for another solver
# (script_local_clusters_phase_long.sh).
every_case() { [ -n "${GABION_TEST_EVERY_CASE:-}" ]; }
member() { sed -n "s/.*\"$1\": \([0-9]*\),.*/\1/p" out/summary.json | head -n 1; }
# The rows of all series: as written, in whatever order processes die.
series() { cat out/*.csv 2>/dev/null | cksum; }
strategies() { sed -n 's/.*"strategy": "\([a-z]*\)".*/\1/p' out/summary.json | tr '\n' ' '; }
launch() { # launch EXIT RANKS SPARES [arguments]: in a new folder, unless `keep` is set
  local expected=$1 ranks=$2 spares=$3 code=0
  shift 3
  [ -n "${keep:-}" ] || rm -rf out
  # shellcheck disable=SC2086 # words on purpose
  "$GABION_LAUNCH" -n "$ranks" --spares "$spares" -t 1 --stall 60 -- "$gabion" run "$case" --out out $short "$@" \
    >said.txt 2>&1 || code=$?
  [ "$code" = "$expected" ] || complain "exit $code instead of $expected: -n $ranks --spares $spares $*
it said: $(cat said.txt)"
  kept_going -n "$ranks" --spares "$spares" "$@"
}
same() { # same NAME: the undisturbed result
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  [ "$(series)" = "$lines" ] || complain "$1: another series"
}
slabs() { # slabs NAME: those of the undisturbed run, in the folder whole
  diff -rq whole/slabs out/slabs || complain "$1: other slabs"
}
verified() { # verified NAME: all that was left out was compared
  [ "$(member left_out)" -gt 0 ] || complain "$1: nothing that others had was left out"
  [ "$(member compared)" = "$(member left_out)" ] ||
    complain "$1: $(member compared) of $(member left_out) messages that were left out were compared"
}
alone() { # alone NAME FAULTS: that number of ranks returned, without work of other ranks
  same "$1"
  [ "$(member fault_count)" = "$2" ] || complain "$1: $(member fault_count) faults instead of $2"
  [ "$(strategies | tr ' ' '\n' | sort -u | tr -d '\n')" = local ] || complain "$1: strategies $(strategies)"
  [ "$(member survivor_steps_computed_again)" = 0 ] || complain "$1: steps were computed again"
  [ "$(member meetings)" = 0 ] || complain "$1: there were agreements or repairs"
  [ "$(member living)" = "$(member ranks)" ] || complain "$1: not at full size"
}
ranks_of() { sed -n "s/.*\"rank\": \([0-9]*\),.*\"event\": \"$1\".*/\1/p" out/events.jsonl | sort -u; }
# The ranks that went back although nobody took them over, each once.
went_back() { comm -23 <(ranks_of "went back with its cluster") <(ranks_of "took over") | tr '\n' ' '; }
cluster() { # cluster NAME FAULTS RANKS: only these rolled back with that number of deaths
  alone "$1" "$2"
  [ "$(went_back)" = "$3" ] || complain "$1: ranks $(went_back)went back, not $3"
}
# step_of EVENT RANK: the step to which it went
step_of() { sed -n "s/.*\"rank\": $2,.*\"event\": \"$1\".*\"of_step\": \([0-9]*\).*/\1/p" out/events.jsonl | tail -n 1; }
# The newest one, or the one before if the holder had not learnt of its commit when the rank died.
went_to() { # went_to NAME EVENT RANK STEP BEFORE
  local to
  to=$(step_of "$2" "$3")
  [ "$to" = "$4" ] || [ "$to" = "$5" ] || complain "$1: rank $3 $2 of step $to, not $4 or $5: $(grep "$2" out/events.jsonl)"
}
