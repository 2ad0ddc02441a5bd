# SPDX-License-Identifier: Apache-2.0
# Two runs in one folder; to be sourced by the scripts of that name with ROUNDS set. The short form is
# script_one_run.sh, the long one script_one_run_long.sh (GABION_ROUNDS=N: number of rounds).
. "$GABION_SOURCE/tests/apps/common.sh"

sed 's/a box/the first/; s/steps: 20/steps: 900000000/' good.yaml >first.yaml
sed 's/a box/the second/; s/steps: 20/steps: 900000000/; s/omega: 1.5/omega: 1.2/' good.yaml >second.yaml
ours='' # sessions that this test started and has to end whatever happens
end_session() { kill -KILL $(ps -o pid= -s "$1") 2>/dev/null; }
trap 'for session in $ours; do end_session $session; done; rm -rf "$work"' EXIT

# begin NAME PROCESSES [options]: starts that case in out, when `go' exists, in a separate session
begin() {
  local name=$1 processes=$2
  shift 2
  rm -f "$name.code" "$name.pid"
  setsid bash -c 'name=$1 launch=$2 processes=$3 gabion=$4; shift 4
    until [ -e go ]; do :; done
    "$launch" -n "$processes" --stop-within 30 -- "$gabion" run "$name.yaml" --out out "$@" >"$name.txt" 2>&1 &
    echo $! >"$name.pid"
    wait $!
    echo $? >"$name.code"' bash "$name" "$GABION_LAUNCH" "$processes" "$gabion" "$@" &
  ours+=" $!"
  disown
}
waits() { # waits SECONDS COMMAND...: until that is true
  local end=$((SECONDS + $1))
  shift
  until eval "$*"; do ((SECONDS < end)) || return 1; sleep 0.05; done
}
# One of the two is to end at once, and the other to compute alone. $winner, $loser
one_wins() { # one_wins WHAT
  waits 60 '[ -s first.code ] || [ -s second.code ]' || { complain "$1: neither ended: $(cat first.txt second.txt)"; return 1; }
  if [ -s first.code ]; then loser=first winner=second; else loser=second winner=first; fi
  [ "$(cat $loser.code)" = 2 ] || complain "$1: the $loser ended with $(cat $loser.code), not 2; it said: $(cat $loser.txt)"
  [ "$(grep -c 'error: the output folder out is in use' $loser.txt)" = 1 ] || complain "$1: the $loser said: $(cat $loser.txt)"
  waits 60 "[ -s $winner.code ] || [ -s out/progress.json ]"
  [ ! -s $winner.code ] || complain "$1: the $winner ended with $(cat $winner.code), too: $(cat $winner.txt)"
  grep -q "the $winner" out/case.yaml || complain "$1: case.yaml is not that of the $winner"
  [ "$(grep -c '"event": "start"' out/events.jsonl)" = 1 ] || complain "$1: events: $(cat out/events.jsonl)"
  [ "$(grep -c 'Gabion' out/log.txt)" = 1 ] || complain "$1: log: $(cat out/log.txt)"
  [ -z "$(grep '^[0-9]' out/integrals.csv | cut -d, -f1 | sort | uniq -d)" ] || complain "$1: rows twice in integrals.csv"
}
stop_winner() { # stop_winner WHAT: stops it normally
  kill -TERM "$(cat $winner.pid)"
  waits 60 "[ -s $winner.code ]" || complain "$1: the $winner does not stop: $(cat $winner.txt)"
  case $(cat $winner.code) in 1|75) ;; *) complain "$1: told to stop it ended with $(cat $winner.code): $(cat $winner.txt)" ;; esac
  [ -z "$(ls out | grep run.lock)" ] || complain "$1: it left $(ls out | grep run.lock)"
  ours=''
}
kill_winner() { # launcher, mpirun and processes at once
  end_session "$(ps -o sid= -p "$(cat $winner.pid)" | tr -d ' ')"
  ours=''
}
