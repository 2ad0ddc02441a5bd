# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200
# Slabs that left the window and the window itself form the whole solid: a plane front gives every cell of a
# sufficiently long fixed domain, to the last bit, above the front too. Behind lamellae, whose borders still move in
# the fixed domain, all is solid as well.
. "$GABION_SOURCE/tests/apps/common.sh"
. "$GABION_SOURCE/tests/apps/phase/phase_common.sh"
rows=$GABION_BUILD/tests/apps/helper_rows

echo 'output: {slabs: {quantities: [phase, phi_alpha, c_1, c_2, solid], precision: double}}' >>grow.yaml
# solid NAME [options]: runs and assembles.
solid() {
  local name=$1
  shift
  run 0 2 "$@"
  "$gabion" assemble out >said.txt 2>&1 || complain "gabion assemble: $(cat said.txt)"
  said 'to be opened with ParaView'
  grep -q 'solid.h5:/fields/phase/whole' out/solid.xdmf || complain "solid.xdmf: $(cat out/solid.xdmf)"
  rm -rf "$name"
  mv out "$name"
}
# same QUANTITY ROWS: the first rows of both.
same() {
  local got
  got=$("$rows" window/solid.h5 fixed/solid.h5 "$1" 0 "$2")
  case $got in *' 0 0') ;; *) complain "$1 of $2 rows, cells, differing, by: $got" ;; esac
}
sed '/window:/d' grow.yaml >fixed.yaml

plane=(--set 'phasefield.initial={type: plane, height: 14, solids: [alpha]}' --set run.steps=1200 --set phasefield.kernel=fast)
solid window grow.yaml "${plane[@]}" --set 'domain.cells=[8, 120]' --set 'domain.block=[4, 12]'
[ "$(value window/front.csv shift)" -ge 30 ] || complain "the window moved too little: $(tail -1 window/front.csv)"
solid fixed fixed.yaml "${plane[@]}" --set 'domain.cells=[8, 180]' --set 'domain.block=[4, 12]'
for quantity in phase phi_alpha c_1 c_2; do same $quantity 100; done

lamellae=(--set 'phasefield.initial={type: lamellae, height: 14, period: 24}' --set run.steps=1200)
solid window grow.yaml "${lamellae[@]}" --set 'domain.cells=[24, 72]' --set 'domain.block=[12, 12]'
solid fixed fixed.yaml "${lamellae[@]}" --set 'domain.cells=[24, 108]' --set 'domain.block=[12, 12]'
same solid 40
"$rows" window/solid.h5 fixed/solid.h5 phase 0 40 | awk '{ exit !($2 < 0.2 * $1) }' || complain "the lamellae are elsewhere"

"$gabion" assemble fixed --linked >said.txt 2>&1 || complain "gabion assemble --linked: $(cat said.txt)"
grep -q 'slabs/last_0000000000-00000.h5:/fields/phase/part' fixed/solid.xdmf || complain "it does not point to the parts"
rm window/slabs/slab_0000000002-00012.h5
"$gabion" assemble window >said.txt 2>&1
[ $? = 2 ] || complain "gabion assemble took a folder that lacks a part"
said 'are missing'
"$gabion" assemble nowhere >said.txt 2>&1
[ $? = 2 ] || complain "gabion assemble took no folder"
finish
