# SPDX-License-Identifier: Apache-2.0
# gab_reinit() as a user has it: programs built outside of the source tree against the installed libraries, started by the installed
# launcher, killed from outside by SIGKILL. The listing of resilience/recovery/reinit.h is one of them; the other one saves its
# state in files of its own and uses nothing else of Gabion. Both come to the sum of the run that nobody disturbed, the launcher
# says how they ended, and takes a program that is busy for longer than --stall for what it is.
# gabion-test: timeout=300 needs=ulfm,png waits=1
. "$GABION_SOURCE/tests/apps/common.sh"
unset GABION_MPI
cmake --install "$GABION_BUILD" --prefix "$work/prefix" >log.txt 2>&1 || { cat log.txt; exit 1; }
export PKG_CONFIG_PATH=$(dirname "$(find "$work/prefix" -name gabion.pc)")
export LD_LIBRARY_PATH=$(dirname "$(find "$work/prefix" -name 'libgabion.*' | head -n 1)")
launch=$work/prefix/bin/gabion-launch
cp "$GABION_SOURCE/tests/install/"{waves.h,reinit_listing.c,reinit_files.c} "$work"
for name in reinit_listing reinit_files; do
  # shellcheck disable=SC2046 # words on purpose
  "$GABION_CC" -std=c11 -D_POSIX_C_SOURCE=200809L -Wall -Wextra -Wpedantic -Werror $name.c -o $name $(pkg-config --cflags --libs gabion) -lm || exit 1
done

# The program is the listing: each line of it, comments and spaces aside.
plain() { sed -E 's,//.*,,; s/[[:space:]]+/ /g; s/^ //; s/ $//'; }
sed -n '/@code/,/@endcode/{/@.*code/d; s/^ \*//; p}' "$(find "$work/prefix" -path '*/recovery/reinit.h')" | plain | grep . >listing.txt
[ "$(wc -l <listing.txt)" -ge 15 ] || complain "no listing in reinit.h"
plain <reinit_listing.c >program.txt
while read -r line; do grep -qxF -e "$line" program.txt || complain "the listing has \`$line', the program has not"; done <listing.txt

# start NAME OPTIONS... PROGRAM ARGUMENTS...: in the background; what it says goes to NAME.txt
start() {
  name=$1
  shift
  timeout 120 "$launch" -t 1 --retries 0 "$@" >"$name.txt" 2>&1 </dev/null &
  launcher=$!
}
comes() { # comes TEXT [TIMES]: that it is there so often
  for _ in $(seq 1200); do
    [ "$(grep -s -c -e "$1" "$name.txt")" -ge "${2:-1}" ] 2>/dev/null && return
    sleep 0.05
  done
  complain "$name: no \`$1' within a minute: $(cat "$name.txt")"
}
reaches() { comes "^at step $1\$"; }
# kills RANK...: at once, by SIGKILL, the processes that run them now
kills() {
  local rank victims=
  for rank; do victims+=" $(sed -n "s/^rank $rank is process \([0-9]*\).*/\1/p" "$name.txt" | tail -n 1)"; done
  # shellcheck disable=SC2086 # words on purpose
  kill -KILL $victims || complain "$name: nobody to be killed"
}
ends() { # ends CODE
  wait $launcher
  local code=$?
  [ $code = "$1" ] || complain "$name: exit code $code instead of $1; it said: $(cat "$name.txt")"
}
sum() { sed -n 's/^sum //p' "$name.txt" | tail -n 1; }
right() { [ -n "$expected" ] && [ "$(sum)" = "$expected" ] || complain "$name: sum '$(sum)' instead of '$expected': $(cat "$name.txt")"; }
says() { [ -f "$name.txt" ] && [ "$(grep -c -e "$2" "$name.txt")" = "$1" ] || complain "$name: not $1 times \`$2': $(cat "$name.txt")"; }

start listing -n 3 ./reinit_listing 600
ends 0
expected=$(sum)
start listing_spare -n 3 --spares 2 ./reinit_listing 600
reaches 40; kills 1; comes 'in state 2'; kills 0
ends 0; right
says 4 'in state 1' # two survivors each time
says 2 'in state 2'
says 2 '^.*1 process died; going back with 3 of 3 ranks after'
start listing_lost -n 3 --spares 1 ./reinit_listing 600
reaches 40; kills 1 2
ends 3
says 1 'no spare process is left for rank'
says 0 'going back'

# Busy, but not with the framework: for longer than --stall altogether, and not still.
mkdir files
start files -n 3 --stall 5 ./reinit_files files 1000
ends 0
[ -n "$(sum)" ] || complain "no sum: $(cat files.txt)"
mkdir short; start short -n 3 ./reinit_files short 600
ends 0; right # the same waves, by another way of keeping them
mkdir spare; start spare -n 3 --spares 1 ./reinit_files spare 600
reaches 60; kills 2
ends 0; right
says 1 'restarted, from'
says 2 'reinited, from'
[ "$(grep '^cleanup' spare.txt | sort | uniq -c | tr -s ' ' | paste -sd,)" = ' 2 cleanup first, 2 cleanup second' ] || complain "cleanups: $(cat spare.txt)"
mkdir respawn; start respawn -n 3 ./reinit_files respawn 600 respawn
reaches 60; kills 0; comes 'restarted, from'; kills 0 # who has taken over, too
ends 0; right
says 2 'restarted, from'
mkdir shrink; start shrink -n 3 ./reinit_files shrink 600 shrink
reaches 60; kills 2
ends 0
says 1 'going back with 2 of 3 ranks'
[ -n "$(sum)" ] && [ "$(sum)" != "$expected" ] || complain "two of three ranks have the sum of three"
mkdir lost; start lost -n 3 ./reinit_files lost 600
reaches 60; kills 2
ends 3
says 1 'no spare process is left for rank 2'
start lost -n 3 ./reinit_files lost 600 # the same command goes on, from its own files
ends 0; right
finish
