# SPDX-License-Identifier: Apache-2.0
# Shared by tests of quantities that a flow carries or collects; to be sourced behind common.sh.

# A channel with a rod; the list of bodies comes last.
street() {
  cat <<'END'
run: {steps: 60, check_every: 20}
domain: {cells: [32, 16], block: [8, 8], dx: 0.125}
fluid: {viscosity: 0.02, velocity: 0.4, length: 0.6}
units: {lattice_velocity: 0.05}
boundaries:
  x_min: {type: velocity, velocity: [0.4, 0]}
  x_max: {type: outflow}
  y_min: {type: wall}
  y_max: {type: free_slip}
bodies:
  - {name: rod, type: cylinder, centre: [1.6, 0.95], radius: 0.3}
END
}
adapts='refinement: {levels: 1, every: 10, criteria: [{type: bodies, distance: 0.1}, {type: vorticity, above: 1.5, below: 1}]}'

# keep FILE...: these files and the checksum of the last run are expected of others.
keep() {
  expected=$(checksum)
  rm -rf kept && mkdir kept && cp "$@" kept
}
same() {
  [ "$(checksum)" = "$expected" ] || complain "$1: another checksum"
  for file in kept/*; do cmp -s "$file" "out/${file#kept/}" || complain "$1: ${file#kept/} differs"; done
}
# same_anyhow CASE: after deaths (of rank 0 under local, too) and a restart at step 25, on other numbers of processes.
same_anyhow() {
  run 0 3 "$1" --inject rank=1,step=23,phase=exchange --inject rank=2,step=30,phase=output
  said 'rank 1 died'
  same 'after deaths'
  rm -rf out
  timeout 100 "$GABION_LAUNCH" -n 3 --spares 1 -- "$gabion" run "$1" --set 'resilience.strategies=[local, shrink]' \
    --set resilience.local.verify=true --inject rank=0,step=23,phase=exchange --out out >said.txt 2>&1 || complain "local: $(cat said.txt)"
  said 'rank 0 died'
  same 'under local'
  run 0 2 "$1" --set run.steps=25 --set resilience.disk.every=25
  "$gabion" run "$1" --set resilience.disk.every=25 --out out >said.txt 2>&1 || complain "not resumed: $(cat said.txt)"
  same 'after a restart'
}
