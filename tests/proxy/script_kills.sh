# gabion-test: timeout=300 labels=quick needs=ulfm
# The proxy programs with processes killed in random iterations, spares in their places: every bit of the state is that of
# the ordinary program, in which nobody died. One victim, each in turn; several one after another, also one that took over;
# two at once. The seed of the random numbers is printed: GABION_SEED=N repeats them.
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
# with_deaths PROGRAM PROCESSES SPARES DEATHS RECOVERIES (at least): the launcher says that the run is done, the program what
# came out
with_deaths() {
  local deaths=${4//[^@]/}
  said=$(timeout 60 "$GABION_LAUNCH" -n "$2" --spares "$3" -t 1 --stall 40 --retries 0 -- \
    "$GABION_BUILD/bin/proxy-$1-reinit" --size "${size[$1]}" --steps $steps ${4:+--die "$4"} 2>&1 </dev/null)
  local code=$? died
  died=$(grep -c 'dies in iteration' <<<"$said")
  [ "$code" = 0 ] && [ "$(checksum)" = "$expected" ] && [ "$died" = "${#deaths}" ] &&
    [ "$(grep -c 'proxy: enters' <<<"$said")" -ge $((1 + $5)) ] && return
  echo "$1 on $2 processes and $3 spares, deaths '$4', code $code, seed $seed, expected $expected: $said"
  wrong=1
}

for program in cg md sedov; do
  undisturbed $program 3
  with_deaths $program 3 1 "" 0
  for victim in 0 1 2; do with_deaths $program 3 1 "$victim@$((RANDOM % steps))" 1; done
  a=$((1 + RANDOM % 9))
  with_deaths $program 3 3 "1@$a,3@$((a + 1 + RANDOM % 9)),0@$((a + 10 + RANDOM % 9))" 3 # 3: the spare that took over
  undisturbed $program 5
  with_deaths $program 5 2 "1@$a,3@$a" 1
done
exit $wrong
