# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=900 labels=long needs=ulfm
# Natural convection in a cavity heated from its side, in its steady state: the Nusselt numbers of de Vahl Davis
# (1983) within 1 %, at both sides and on average, at Rayleigh numbers of 1e4, 1e5 and 1e6 (figures of
# doc/tutorials.md).
. "$GABION_SOURCE/tests/apps/tutorials/tutorial_common.sh"
program convection
run_limit=600
nusselt() { # nusselt RAYLEIGH CELLS STEPS EXPECTED
  run 0 2 "$GABION_SOURCE/apps/tutorial/convection.yaml" --set convection.rayleigh="$1" --set "domain.cells=[$2, $2]" --set run.steps="$3" \
    --set 'output.slices=[]'
  tail -n 1 out/convection.csv | awk -F, -v expected="$4" -v what="$1" '
    function off(value) { return (value / expected - 1) ^ 2 > 1e-4 }
    { printf "%s: %s %s %s, expected %s\n", what, $3, $4, $5, expected; exit $7 != 1 || off($3) || off($4) || off($5) }' >found.txt ||
    complain "not the convection of this cavity: $(cat found.txt)"
  cat found.txt
}
nusselt 1e4 64 20000 2.243
nusselt 1e5 96 50000 4.519
nusselt 1e6 128 100000 8.800
finish
