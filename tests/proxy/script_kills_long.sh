# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=1800 labels=long needs=ulfm
# The same on 2, 8 and 16 processes.
exec bash "$GABION_SOURCE/tests/proxy/script_kills.sh" 2 8 16
