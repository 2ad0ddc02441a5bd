# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100 labels=quick
# A checkpoint of the previous format is resumed on any number of processes with the same bits, and can be listed,
# verified and extracted. An unsupported format is refused with a message that names it. Checkpoints have one number
# in all parts.
#
# The folder format_1 has a checkpoint of step 20 by Gabion 0.1.0 on two processes. A change that raises
# GAB_CHECKPOINT_FORMAT adds a folder of the former format (doc/checkpoint-format.md).
. "$GABION_SOURCE/tests/apps/common.sh"
command -v python3 >/dev/null || { echo 'no python3 to change a manifest with'; exit 77; }

now=$(sed -n 's/^ *GAB_CHECKPOINT_FORMAT = \([0-9]*\),.*/\1/p' "$GABION_SOURCE/core/base/checkpoint_format.h")
[ "${now:-0}" -ge 2 ] || complain "GAB_CHECKPOINT_FORMAT is '$now'"
before=$((now - 1)) after=$((now + 1))
data=$GABION_SOURCE/tests/apps/restart/format_$before
[ -d "$data" ] || { complain "no checkpoint of format $before is a test: add $data"; finish; }
step=step_000000000020 end_checksum=0491cfe4cd4b0372 # at step 40, from Gabion 0.1.0

fresh() { rm -rf out && mkdir -p out/checkpoints && cp -r "$data/$step" out/checkpoints; }
list() { "$gabion" checkpoint "$@" >said.txt 2>&1; }
# again CODE PROCESSES: the same command in the folder that is there, to step 40.
again() {
  local expected=$1 code start=()
  [ "$2" = 1 ] || start=("$GABION_LAUNCH" -n "$2" --)
  timeout 60 "${start[@]}" "$gabion" run "$data/case.yaml" --set run.steps=40 --set resilience.disk.every=20 \
    --set resilience.disk.keep=2 --out out >said.txt 2>&1
  code=$?
  [ $code = "$expected" ] || complain "again on $2 processes: exit code $code, expected $expected; it said: $(cat said.txt)"
}
# number FILE: the format in the head of an image or of replicated entities
number() { od -An -tu4 -j 12 -N 4 "$1" | tr -d ' '; }

# ---- the format before
fresh
list list out || complain "list: $(cat said.txt)"
grep -qE "^ +20 +$before .* yes$" said.txt || complain "list: $(cat said.txt)"
list verify out || complain "verify: $(cat said.txt)"
said "format $before, whole: 4 blocks of 2 processes in 1 files"
list extract out --out parts || complain "extract: $(cat said.txt)"
[ "$(ls parts/block_* | wc -l)" = 4 ] || complain "extract: $(ls parts)"
[ "$before" != 1 ] || [ "$(number parts/replicated.bin)" = 4 ] || complain "replicated.bin has number $(number parts/replicated.bin)"
for processes in 1 3; do
  fresh
  again 0 $processes
  said 'resuming from step 20, a checkpoint on disk of 2 processes'
  [ "$(checksum)" = $end_checksum ] || complain "on $processes processes: checksum $(checksum), expected $end_checksum"
done

# ---- new checkpoints have the present format in all their parts; both are in one folder
list verify out || complain "verify: $(cat said.txt)"
said "format $before, whole: 4 blocks of 2 processes in 1 files"
said "format $now, whole: 4 blocks of 3 processes in 1 files"
new=out/checkpoints/step_000000000040
for member in "\"format\": $now," '"ranks": 3,' '"failed": \[\]'; do
  grep -q "^ *$member" $new/manifest.json || complain "no $member in: $(head -n 20 $new/manifest.json)"
done
names=$(grep -aoE '\b([s]lots?|ranks?|what|format|version|replicated)\b' $new/group_000000.h5 | sort -u | paste -sd' ')
[ "$names" = 'format rank ranks replicated what' ] || complain "the group file has the names $names"
python3 - $new/group_000000.h5 "$now" <<'PY' || complain "an image of a forest has another number"
import struct, sys
data, mark = open(sys.argv[1], "rb").read(), struct.pack("<Q", 0x74736572664261ff)
found = [struct.unpack_from("<I", data, at + 8)[0] for at in range(len(data)) if data.startswith(mark, at)]
sys.exit(not found or any(number != int(sys.argv[2]) for number in found))
PY
list extract $new --out new || complain "extract: $(cat said.txt)"
[ "$(number new/replicated.bin)" = "$now" ] || complain "replicated.bin has number $(number new/replicated.bin)"

# ---- damage of the new one: the old one is used again
truncate -s 5000 $new/group_000000.h5
again 0 1
said 'the checkpoint of step 40 cannot be used'
said 'resuming from step 20'
[ "$(checksum)" = $end_checksum ] || complain "after damage: checksum $(checksum), expected $end_checksum"

# ---- a format of the future, in a manifest that is whole
cat >change.py <<'PY'
import re, sys
def xxh64(data, seed=0):  # xxHash, doc/xxhash_spec.md
    mask = (1 << 64) - 1
    p1, p2, p3, p4, p5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261
    rotate = lambda x, r: (x << r | x >> 64 - r) & mask
    turn = lambda sum, lane: rotate((sum + lane * p2) & mask, 31) * p1 & mask
    word = lambda at, count: int.from_bytes(data[at : at + count], "little")
    at = 0
    sums = [(seed + p1 + p2) & mask, (seed + p2) & mask, seed, (seed - p1) & mask]
    while at + 32 <= len(data):
        sums = [turn(s, word(at + 8 * i, 8)) for i, s in enumerate(sums)]
        at += 32
    if len(data) >= 32:
        hash = sum(rotate(s, r) for s, r in zip(sums, (1, 7, 12, 18))) & mask
        for s in sums:
            hash = ((hash ^ turn(0, s)) * p1 + p4) & mask
    else:
        hash = (seed + p5) & mask
    hash = (hash + len(data)) & mask
    while at + 8 <= len(data):
        hash, at = (rotate(hash ^ turn(0, word(at, 8)), 27) * p1 + p4) & mask, at + 8
    if at + 4 <= len(data):
        hash, at = (rotate(hash ^ word(at, 4) * p1 & mask, 23) * p2 + p3) & mask, at + 4
    for byte in data[at:]:
        hash = rotate(hash ^ byte * p5 & mask, 11) * p1 & mask
    for shift, prime in ((33, p2), (29, p3)):
        hash = (hash ^ hash >> shift) * prime & mask
    return hash ^ hash >> 32
path, format = sys.argv[1:]
text = open(path, "rb").read()
body, mark, tail = text.rpartition(b',\n  "hash": "')
if tail != b'%016x"\n}\n' % xxh64(body):
    sys.exit("%s: its hash is not %016x" % (path, xxh64(body)))
wanted = b'"format": ' + format.encode() if format else b'"formal": 1'
body, count = re.subn(rb'"format": \d+', wanted, body)
if count != 1:
    sys.exit("%s: %d times a format" % (path, count))
open(path, "wb").write(body + mark + b'%016x"\n}\n' % xxh64(body))
PY
for format in $after 0; do
  fresh
  python3 change.py out/checkpoints/$step/manifest.json $format >said.txt 2>&1 || complain "$(cat said.txt)"
  refusal="manifest.json has checkpoint format $format, written by Gabion 0.1.0; this program, Gabion $("$gabion" --version | cut -d' ' -f2), reads formats $before and $now: continue with "
  if list verify out; then complain "format $format passes verify"; fi
  said "$refusal"
  list list out
  [ "$format" = 0 ] || grep -qE "^ +20 +$format .* no: " said.txt || complain "list: $(cat said.txt)"
  if list extract out --out future; then complain "format $format is extracted"; fi
  said "$refusal"
done
# No number is damage, not a format.
for format in '"70000x"' '"format"' ''; do
  fresh
  python3 change.py out/checkpoints/$step/manifest.json "$format" >said.txt 2>&1 || complain "$(cat said.txt)"
  list verify out
  code=$?
  [ $code = 1 ] || complain "format '$format': verify ends with $code"
  said "manifest.json: \`format' is missing or wrong"
done
fresh
python3 change.py out/checkpoints/$step/manifest.json "$after" >said.txt 2>&1 || complain "$(cat said.txt)"
again 1 3
said_once 'none of them can be used'
said "has checkpoint format $after"
said "reads formats $before and $now: continue with the version that wrote it or a newer one"
[ -e out/checkpoints/$step/manifest.json ] || complain "the refused checkpoint is gone: $(ls out/checkpoints)"
[ "$(ls out)" = checkpoints ] || complain "the refused start left: $(ls out)"
finish
