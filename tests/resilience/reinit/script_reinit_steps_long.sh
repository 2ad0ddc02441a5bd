# gabion-test: timeout=1800 labels=long needs=ulfm
# The same for the root and another survivor, and for the root that starts a process.
exec bash "$GABION_SOURCE/tests/resilience/reinit/script_reinit_steps.sh" '3 0' '3 4' '0 0'
