# gabion-test: timeout=3000 labels=long
# Lid-driven cavity at Re 1000 on 256^2 cells: centre lines within 1 % of the lid speed of Ghia et al. 1982.
# A single point may differ by 1.5 %: the smallest v of their table, -0.5155, differs by 1.15 % of the lid speed
# from the spectral solution of Botella & Peyret 1998, -0.5271.
. "$GABION_SOURCE/tests/physics/common.sh"

run_case cavity 4 "$flow/cavity_re1000.yaml"
awk -v n=256 -v re=1000 -f "$GABION_SOURCE/tests/physics/ghia.awk" "$work/cavity/probes.csv" >"$work/table"
grep -v '^rms\|^most' "$work/table"
within "root mean square difference" "$(awk '/^rms/ { print $2 }' "$work/table")" 0 0.01
within "greatest difference" "$(awk '/^most/ { print $2 }' "$work/table")" 0 0.015
exit $failed
