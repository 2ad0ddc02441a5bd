# SPDX-License-Identifier: Apache-2.0
# On one machine the kernel chooses the ports of MPI's connections, unless the user names others; on several nodes MPI
# does.
# gabion-test: timeout=60 labels=quick needs=ulfm
. "$GABION_SOURCE/tests/launch/common.sh"

cat >mpirun <<SH
#!/bin/bash
echo "\$*" >"$dir/arguments"
exit 1
SH
echo '#!/bin/bash' >agent
chmod +x mpirun agent
kernel='--mca btl_tcp_port_min_v4 0 --mca btl_tcp_port_range_v4 1 '
# asks YES|NO [options of the launcher]: whether the kernel is asked for ports
asks() {
  local wanted=$1 found=NO; shift
  rm -f arguments
  launch 1 -n 1 --retries 0 --mpirun "$dir/mpirun" "$@" true
  if grep -qFe "$kernel" arguments; then found=YES; fi
  [ $found = "$wanted" ] || complain "$*: $found: $(cat arguments)"
}
asks YES
asks YES --mpi-args '--mca btl tcp,self'
asks NO --mpi-args '--mca btl_tcp_port_min_v4 10000'
asks NO --hosts localhost:1 --agent "$dir/agent"
export OMPI_MCA_btl_tcp_port_range_v4=100
asks NO
finish
