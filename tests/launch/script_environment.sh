# SPDX-License-Identifier: Apache-2.0
# The launcher sets the variables without which Open MPI does not start: HOME, and a TMPDIR that exists. A program
# started without the launcher sets HOME itself.
# gabion-test: timeout=120 labels=quick
. "$GABION_SOURCE/tests/launch/common.sh"
gabion=$GABION_BUILD/bin/gabion
cat >case.yaml <<YAML
run: {steps: 2}
domain: {cells: [16, 16], block: [8, 8]}
fluid: {omega: 1.5}
boundaries: {y_max: {type: velocity, velocity: [0.05, 0]}, y_min: {type: wall}}
YAML
home='[ -n "$HOME" ] && [ -d "$HOME" ] && echo "exit 0" >"$GABION_COMPLETION"'

unset HOME
launch 0 -n 2 "$dir/ranks" code 0
launch 0 -n 1 sh -c "$home"
launch 0 -n 2 -t 1 "$gabion" run case.yaml --out launched
"$gabion" run case.yaml --out alone >alone.txt 2>&1 || complain "HOME unset, without the launcher: exit code $?; it said: $(cat alone.txt)"

export HOME=$dir
launch 0 -n 1 sh -c "[ \"\$HOME\" = '$dir' ] && $home"

export TMPDIR=$dir/not-there
launch 0 -n 2 "$dir/ranks" code 0
said "TMPDIR=$dir/not-there: No such file or directory; using /tmp instead"

# With nothing at all in the environment.
env -i "$GABION_LAUNCH" -n 2 "$dir/ranks" code 3 >"$dir/out" 2>&1
[ $? = 3 ] || complain "with an empty environment: it said: $(cat "$dir/out")"
finish
