# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=400 budget=60 labels=quick
# The cases of Gabion, and variants of them, keep their results: any change is detected.
. "$GABION_SOURCE/tests/apps/common.sh"
[ "$(uname -m)" = x86_64 ] || { echo "the list is of x86-64"; exit 77; }
compare() { "$GABION_SOURCE/scripts/checksums.sh" --bin "$GABION_BUILD/bin" "$@" >said.txt 2>&1; }
list=$GABION_SOURCE/tests/apps/checksums.txt

compare || complain "$(grep -v '^[0-9a-f]* [-~] ' said.txt)"
same=1
! grep -q 'another C library' said.txt || same=
[ "$(grep -c '^[0-9a-f]* - ' said.txt)" -ge 25 ] || complain "hardly any case was compared: $(cat said.txt)"

# Distinguishes another value, a case that does not run, and one with another library.
grep channel.yaml "$list" | sed 's/^...../00000/' >other.txt
! compare --list other.txt || complain "another value is not seen"
said 'not 00000'
grep channel.yaml "$list" | sed 's/channel/no_channel/' >none.txt
! compare --list none.txt || complain "a case that does not run counts"
said 'code 2'
grep taylor_green_2d "$list" | sed 's/taylor_green_2d/no_case/' >none.txt
! compare --list none.txt || complain "a case that does not run counts where the C library is another"
grep taylor_green_2d "$list" | sed 's/^...../00000/' >library.txt
compare --list library.txt || complain "values of another C library count"
said 'another C library than for 00000'
if [ -n "$same" ]; then
  (grep '^# library' "$list"; cat library.txt) >same.txt
  ! compare --list same.txt || complain "another value with the same C library is not seen"
fi
finish
