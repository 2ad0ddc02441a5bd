# SPDX-License-Identifier: Apache-2.0
# The exit code is the one of the completion marker, and without a marker never 0.
# gabion-test: timeout=240 waits=1
. "$GABION_SOURCE/tests/launch/common.sh"

for code in 0 2 3 75; do launch $code -n 2 "$dir/ranks" code $code; done
launch 1 -n 1 "$dir/ranks" code nonsense
said 'makes no sense'
launch 1 -n 2 "$dir/ranks" forget
said "ended without completing (mpirun's exit code was 0; last progress: none)"
launch 1 -n 2 "$dir/ranks" vanish
said 'ended without completing'
launch 4 -n 2 --grace 1 "$dir/ranks" linger
said 'the run ended with exit code 4, but mpirun did not end within 1 s: ended after finalise hung'
# A process that was stopped for good does not hold up the end.
launch 0 -n 2 --grace 600 "$dir/ranks" stopped
said 'the run completed; of its processes only 1 that is stopped by a signal is left: ended'
# Nor does an mpirun that does not end although all its processes have.
launch 4 -n 2 --grace 600 "$dir/ranks" deserted 'exit 4'
said 'the run ended with exit code 4 and its processes have ended, but mpirun does not end: ended'
launch 1 -n 2 --stall 600 --start-within 600 "$dir/ranks" deserted
said 'all processes of the run have ended, but mpirun does not end: ended'
said 'ended without completing'
finish
