# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=300
# The Taylor-Green vortex at Re 1600 on 32^3 cells, a quarter of what resolves it: two relaxation times and a single one
# diverge; recursive regularisation and Smagorinsky's turbulent viscosity let it decay, with the largest rate of strain
# about when the resolved flow dissipates most (t = 9, DeBonis 2013; earlier on coarse cells).
. "$GABION_SOURCE/tests/physics/common.sh"

coarse() { # NAME
  echo "$flow/taylor_green_3d.yaml" --set fluid.reynolds=1600 --set 'domain.cells=[32,32,32]' --set run.time=20 \
      --set "lbm.collision=$1" --set 'output.slices=[]' --set output.integrals.interval=1
}

for collision in trt srt; do
  status=0
  # shellcheck disable=SC2046
  "$GABION_LAUNCH" -n 1 -- "$GABION_BUILD/bin/gabion" run $(coarse $collision) --out "$work/$collision" \
      >"$work/$collision.log" 2>&1 || status=$?
  within "$collision: exit code of a run that diverges" $status 4 4
done

for collision in rr smagorinsky; do
  # shellcheck disable=SC2046
  run_case $collision 2 $(coarse $collision)
  read -r grown peak left < <(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
      { energy = $column["kinetic_energy"]; strain = $column["strain"]
        if (NR == 2) first = energy; else if (energy > last) grown++
        if (strain > most) { most = strain; peak = $column["time"] }
        last = energy }
      END { print grown + 0, peak, last / first }' "$work/$collision/integrals.csv")
  within "$collision: intervals in which energy grew" "$grown" 0 0
  within "$collision: time of the largest strain" "$peak" 6 10
  within "$collision: energy left at t = 19" "$left" 0.02 0.35
done
exit $failed
