# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=3000 labels=long needs=ulfm
# The same before each call; and for the root and another survivor, and for the root that starts a process.
exec bash "$GABION_SOURCE/tests/resilience/reinit/script_reinit_steps.sh" '3 5' '0 4' '3 0' '3 4' '0 0'
