# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 labels=quick needs=ulfm
# A proxy program whose processes die and are not replaced: what they had is shared out among those who are left, down to one,
# and every bit is that of the ordinary program on all of them. A program that cannot do that ends with 3 and says what could
# not be taken over; files of another number of planes, or of another size, are refused. GABION_SEED=N repeats the random numbers.
set -u
seed=${GABION_SEED:-$$} wrong=0 steps=30
RANDOM=$seed
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
checksum() { sed -n 's/.*checksum \([0-9a-f]*\)$/\1/p' <<<"$said"; }
complain() { echo "$*, seed $seed: $said"; wrong=1; }
launch() { # launch PROGRAM PROCESSES [arguments]: said, code
  said=$(timeout 60 "$GABION_LAUNCH" -n "$2" -t 1 --stall 40 --retries 0 -- "$GABION_BUILD/bin/proxy-$1" --steps $steps "${@:3}" 2>&1 </dev/null)
  code=$?
}
with_deaths() { # with_deaths PROCESSES DEATHS, in the order of their iterations
  local deaths=${2//[^@]/} from went died
  GABION_STATE_SHRINK=1 launch cg-shrink "$1" --size 12 ${2:+--die "$2"}
  died=$(grep -c 'dies in iteration' <<<"$said")
  from=$({ echo 0; tr ',' '\n' <<<"$2" | sed -n 's/.*@//p'; } | sort -nu | paste -sd' ')
  went=$(sed -n 's/.*enters iteration \([0-9]*\) .*/\1/p' <<<"$said" | paste -sd' ')
  [ "$code" = 0 ] && [ "$(checksum)" = "$expected" ] && [ "$died" = "${#deaths}" ] && [ "$went" = "$from" ] ||
    complain "on $1 processes, deaths '$2', code $code, from '$went', expected $expected"
}

for np in 2 5 8; do
  said=$("$GABION_MPIRUN" $GABION_MPI_FLAGS -n $np "$GABION_BUILD/bin/proxy-cg" --size 12 --steps $steps 2>&1 </dev/null)
  expected=$(checksum)
  [ "$expected" ] || { echo "undisturbed: $said"; exit 1; }
  with_deaths $np ""
  with_deaths $np "$((RANDOM % np))@$((1 + RANDOM % (steps - 1)))"
  a=$((1 + RANDOM % 8)) b=$((10 + RANDOM % 8)) c=$((20 + RANDOM % 8))
  ((np < 5)) || with_deaths $np "1@$a,3@$a,0@$b,2@$c"             # two at once, then one after the other
  ((np != 5)) || with_deaths $np "0@$a,4@$((a + 3)),2@$b,1@$c"    # down to one
done

GABION_STATE_SHRINK=1 launch md-reinit 3 --size 4 --die 1@5
[ $code = 3 ] && grep -q "nobody can take over its 'md'" <<<"$said" || complain "parts that cannot be adopted, code $code"
GABION_STATE_FOLDER=$folder/saved GABION_STATE_WAIT=1 launch cg-shrink 3 --size 8
[ $code = 0 ] || complain "with files, code $code"
GABION_STATE_FOLDER=$folder/saved launch cg-shrink 2 --size 8
[ $code = 2 ] && grep -q 'saved are 24 planes, these are 16' <<<"$said" || complain "files of more processes, code $code"
GABION_STATE_FOLDER=$folder/saved launch cg-shrink 2 --size 12 # as many planes, but of other cells
[ $code = 2 ] && grep -q 'another --size than 12' <<<"$said" || complain "files of another size, code $code"
exit $wrong
