# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300 needs=ulfm
# The proxy programs with processes killed in random iterations, spares in their places: every bit of the state is that of
# the ordinary program, in which nobody died. One victim, each of three in turn and one of five; several one after another, also one that took over;
# two at once. `script_kills.sh NP...': on so many processes. What goes wrong is printed with the seed of the random numbers:
# GABION_SEED=N repeats them.
set -u
seed=${GABION_SEED:-$$} wrong=0
RANDOM=$seed
declare -A size=([cg]=12 [md]=4 [sedov]=10)
steps=30
checksum() { sed -n 's/.*checksum \([0-9a-f]*\)$/\1/p' <<<"$said"; }

undisturbed() { # undisturbed PROGRAM PROCESSES
  said=$("$GABION_MPIRUN" $GABION_MPI_FLAGS -n "$2" "$GABION_BUILD/bin/proxy-$1" --size "${size[$1]}" --steps $steps 2>&1 </dev/null)
  expected=$(checksum)
  [ "$expected" ] || { echo "$1 on $2 processes, undisturbed: $said"; exit 1; }
}
# with_deaths PROGRAM PROCESSES SPARES DEATHS: the run is done, all have died who were to, and each time the loop has gone on
# from the iteration of the death: that before it was saved.
with_deaths() {
  local deaths=${4//[^@]/} from went
  said=$(timeout 100 "$GABION_LAUNCH" -n "$2" --spares "$3" -t 1 --stall 60 --retries 0 -- \
    "$GABION_BUILD/bin/proxy-$1-reinit" --size "${size[$1]}" --steps $steps ${4:+--die "$4"} 2>&1 </dev/null)
  local code=$? died
  died=$(grep -c 'dies in iteration' <<<"$said")
  from=$({ echo 0; tr ',' '\n' <<<"$4" | sed -n 's/.*@//p'; } | sort -nu | paste -sd' ')
  went=$(sed -n 's/.*enters iteration \([0-9]*\) .*/\1/p' <<<"$said" | uniq | paste -sd' ')
  [ "$code" = 0 ] && [ "$(checksum)" = "$expected" ] && [ "$died" = "${#deaths}" ] && [ "$went" = "$from" ] && return
  echo "$1 on $2 processes and $3 spares, deaths '$4', code $code, from '$went', seed $seed, expected $expected: $said"
  wrong=1
}

# Who takes over first is the first spare: process number NP.
# Without arguments: one program on 3 processes, each in turn as the victim, the others on 5.
for np in ${*:-3 5}; do
  programs='cg md sedov'
  [ $# -gt 0 ] || { [ "$np" = 3 ] && programs=sedov || programs='cg md'; }
  for program in $programs; do
    undisturbed $program "$np"
    with_deaths $program "$np" 1 ""
    for ((k = 0; k < (np <= 3 ? np : 1); k++)); do
      victim=$((np <= 3 ? k % np : RANDOM % np))
      with_deaths $program "$np" 1 "$victim@$((RANDOM % steps))"
    done
    a=$((1 + RANDOM % 9))
    with_deaths $program "$np" 3 "1@$a,$np@$((a + 1 + RANDOM % 9)),0@$((a + 10 + RANDOM % 9))"
    with_deaths $program "$np" 2 "1@$a,$np@$a" # who takes over dies, when it has gone back and computed nothing yet
    GABION_STATE_RESPAWN=1 with_deaths $program "$np" 0 "1@$a,0@$((a + 1 + RANDOM % 9))" # processes are started anew
    ((np < 4)) || with_deaths $program "$np" 2 "1@$a,3@$a"
  done
done
exit $wrong
