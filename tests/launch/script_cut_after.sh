# SPDX-License-Identifier: Apache-2.0
# Limit of silence that counts as a cut: 60 s on several nodes, or --dead-after, never on one machine; and the limits
# passed to processes.
# gabion-test: timeout=60 needs=ulfm
. "$GABION_SOURCE/tests/launch/common.sh"

cat >mpirun <<SH
#!/bin/bash
# Records the limits of silence that it receives.
{ echo "\${GABION_CUT_AFTER:-never} \${GABION_DEAD_AFTER:-never}" && grep -oE '(mpi_ft|oob)_[a-z_]* [0-9.]*' <<<"\$*"; } >"$dir/told"
exit 1
SH
chmod +x mpirun
# means CUT DEAD OPTION...: limits passed to processes with these options
means() {
  local wanted="$1 $2"
  shift 2
  launch 1 --mpirun "$dir/mpirun" --start-retries 0 "$@" true
  [ "$(head -1 told)" = "$wanted" ] || complain "$*: '$(head -1 told)' and not '$wanted'"
}
tells_rest() { grep -qx 'mpi_ft_propagator_with_rbcast 1' told; }
GABION_CUT_AFTER=7 means never never
tells_rest && complain "another propagator on one machine"
means 60 never --hosts a:2,b:2
tells_rest || complain "who notices a cut tells nobody"
grep -qx 'oob_tcp_keepalive_time 0' told || complain "mpirun ends the job for a node that is cut off"
grep -q mpi_ft_detector told && complain "processes that do not speak count as dead, and nobody asked for that"
means 60 never --mpi-args "--host a:2,b:2"
means 20 20 --hosts a:2,b:2 --dead-after 20
tells_rest || complain "who notices a death tells nobody"
grep -qx 'mpi_ft_detector_timeout 20' told || complain "processes that do not speak do not count as dead"
means 30 never --hosts a:2,b:2 --cut-after 30
means 20 20 --hosts a:2,b:2 --cut-after 30 --dead-after 20
means 4 2 --hosts a:2,b:2 --dead-after 2
means never never --hosts a:2,b:2 --cut-after 0
means never 20 --hosts a:2,b:2 --cut-after 0 --dead-after 20
means 30 never --cut-after 30
launch 2 --cut-after 1 true
said 'no more than a busy network'
finish
