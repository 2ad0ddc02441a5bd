# SPDX-License-Identifier: Apache-2.0
# No source decides by the kind of a side: the descriptors answer (lbm/sides/side_impl.h). A comparison would treat a further
# open side as a closed one, without a word.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
cd "$GABION_SOURCE" || exit 1
files=$(find lbm apps/driver -name '*.[ch]' -o -name '*.inc')
case $files in *lbm/sides/open_sides.c*) ;; *) echo "there is no lbm/sides/open_sides.c: what is searched?"; exit 1 ;; esac
kinds=$(sed -n 's/^ *KIND(\([A-Z_]*\), .*/\1/p' lbm/sides/boundary.h | tr '\n' '|')
case $kinds in *OUTFLOW*) ;; *) echo "GAB_SIDE_KINDS of lbm/sides/boundary.h is not understood"; exit 1 ;; esac
found=$(grep -nE "(kind *(==|!=)|case) *GAB_SIDE_(${kinds%|})\b" $files)
[ -z "$found" ] || { printf 'ask the descriptor of the side (lbm/sides/side_impl.h):\n%s\n' "$found"; exit 1; }
