# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 threads=2
# plan --delays: local against global recovery from the command line; results equal numbers computed by hand, pictures
# and tables are written, and invalid arguments are refused.
. "$GABION_SOURCE/tests/apps/common.sh"

delays() { # delays CODE WORDS...
  local expected=$1 code
  shift
  "$gabion" plan --delays "$@" >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "gabion plan --delays $*: exit code $code, expected $expected; it said: $(cat said.txt)"
}
is() { # is EXPRESSION VALUE; without Python only the exit codes are checked
  local found
  command -v python3 >/dev/null || return 0
  found=$(python3 -c 'import json, sys; d = json.load(open("said.txt")); r = d.get("rows", [{}])[0]; print(eval(sys.argv[1]))' "$1" 2>&1)
  [ "$found" = "$2" ] || complain "$1 is $found, expected $2, in $(cat said.txt)"
}

# Ten in a row, three separate failures: locally one delay of 4, globally two (two fail in one step).
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 3:9 --fail 5:5 --json
is '(r["failures"], r["undisturbed"]) == (3, 20)' True
is 'r["local"]["end"], r["global"]["end"], r["ratio_end"]' '(4, 8, 0.5)'
# The second one could know of the first: two delays.
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 12:9 --json
is 'r["local"]["end"]' 8
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 12:9 --periodic --json
is 'r["local"]["end"]' 8
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 5:9 --json
is 'r["local"]["end"]' 4
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 5:9 --periodic --json
is 'r["local"]["end"]' 8
delays 0 --grid 10 --steps 20 --fail 3:0 --fail 8:9 --reduce-every 5 --t1=2 --t2=3 --json
is '(r["undisturbed"], r["local"]["end"]) == (40, 2)' True
# With each process its group fails; one spare is left for two.
delays 0 --grid 10 --steps 4 --fail 4:5 --group 4 --json
is 'r["failures"], round(r["local"]["mean"], 9)' '(4, 1.6)'
delays 0 --grid 10 --steps 4 --fail 4:9 --group 4 --spares 1 --json
is 'r["failures"], r["local"]["mean"], r["without_spare"]' '(2, 4, 1)'
delays 0 --grid 12x5 --steps 30 --fail 25:0 --checkpoint-every 10 --checkpoint-time 0.5 --rework 1 --json
is 'r["undisturbed"], r["local"]["end"]' '(31.5, 8)'

# Hops from a corner: of 4 x 4 x 4 all are reached after 9, or 3 with all 26 neighbours; with deep ghosts later by
# their depth.
delays 0 --grid 4x4x4 --reach 0 --steps 12 --at 0,8,9 --json
is '[round(64 * x["share"]) for x in d["reach"]]' '[1, 63, 64]'
delays 0 --grid 4x4x4 --neighbours 26 --reach 0 --steps 12 --at 2,3 --json
is '[round(64 * x["share"]) for x in d["reach"]]' '[27, 64]'
delays 0 --grid 4x4x4 --ghost-depth 5 --reach centre --t1 0.5 --steps 40 --at 29,30 --json
is '[(x["time"], x["share"] == 1) for x in d["reach"]]' '[(14.5, False), (15, True)]'

# The paper, section 4.3: half of a million is late after 75 exchanges, whatever steps there are between two of them and however long these take.
for row in "10 0.5 375" "10 5 3750" "20 1 1500"; do # exchange every, t1, seconds
  read -r depth t1 seconds <<<"$row"
  delays 0 --grid 100x100x100 --reach centre --ghost-depth "$depth" --t1 "$t1" --steps $((75 * depth)) --at $((75 * depth - 1)),$((75 * depth)) --json
  is '[round(100 * x["share"], 2) > 50 for x in d["reach"]]' '[False, True]'
  is "d['reach'][1]['time'] == $seconds and round(100 * d['reach'][1]['share'], 2)" 50.75
done

# Random ones: the same seed, the same numbers; another seed, others. A mean time of each is that of all, times how many.
delays 0 --grid 8x8x8 --rate 0.02% --noise 0.1 --runs 3 --json
cp said.txt first.txt
OMP_NUM_THREADS=1 delays 0 --grid 8x8x8 --rate 2e-4 --noise 0.1 --runs 3 --json
diff <(grep -v seconds first.txt) <(grep -v seconds said.txt) >diff.txt || complain "not the same again: $(cat diff.txt)"
delays 0 --grid 8x8x8 --rate 0.02% --noise 0.1 --runs 3 --seed 2 --json
! diff <(grep -v seconds first.txt) <(grep -v seconds said.txt) >/dev/null || complain "another seed changed nothing"
delays 0 --grid 8x8x8 --mtbf 10 --runs 3 --json
cp said.txt first.txt
delays 0 --grid 8x8x8 --mtbf-each 5120 --runs 3 --json
is 'd["rows"][0]["local"] == json.load(open("first.txt"))["rows"][0]["local"]' True

# The neighbourhood of a case: 8 blocks on 8 processes, 4 x 2, periodic in x: each has 5 neighbours there.
delays 0 good.yaml -n 8 --fail 1:0 --steps 2
said '8 processes, neighbours as in good.yaml (5.0 each)'
said 'as listed'

if "$gabion" info | grep -q png; then
  delays 0 --grid 32 --steps 50 --fail 10:5 --fail 20:20 --picture local.png --csv times.csv
  head -c 8 local.png | tail -c 7 | grep -q PNG || complain "local.png is no picture"
  [ "$(wc -l <times.csv)" = 33 ] || complain "times.csv: $(cat times.csv)"
  grep -qx '5,50,54,58' times.csv || complain "process 5 in times.csv: $(cat times.csv)"
  delays 0 --grid 32 --steps 50 --fail 10:5 --fail 20:20 --picture again.png
  cmp local.png again.png || complain "the same picture has other bytes"
  delays 0 --grid 32 --steps 50 --fail 10:5 --fail 20:20 --picture global.png --recovery global
  ! cmp -s local.png global.png || complain "local and global recovery look the same"
  delays 1 --grid 32 --fail 10:5 --picture missing/local.png
fi

delays 2
said 'no failures'
delays 2 --grid 8x8 --neighbours 6 --rate 1e-3
said '6 neighbours in 2D'
delays 2 --grid 8x0 --rate 1e-3
said '--grid 8x0'
delays 2 --grid 8 --fail 101:3
said 'there are 100 steps of 8 processes'
delays 2 --grid 8 --fail 0:3
said 'a step from 1'
delays 2 --rate 2
said 'numbers from 0 to 1'
delays 2 --rate 1e-5 --t2 0.5
said 'takes less than one without'
delays 2 --rates 1e-5
said "did you mean '--rate'"
delays 2 --rate
said 'needs a value'
delays 2 good.yaml --grid 8 --rate 1e-3
said 'a case defines its neighbours'
delays 2 --at 3 --rate 1e-3
said '--at is of --reach'
delays 2 --reach 9 --grid 8
said 'there are 8 processes'
delays 2 --rate 1e-3,1e-4 --csv times.csv
said '--csv is of one row'
delays 2 missing.yaml --rate 1e-3
delays 0 --help
said '--ghost-depth N'
finish
