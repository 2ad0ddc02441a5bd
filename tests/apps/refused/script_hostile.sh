# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=150 labels=quick
# Files and settings that nobody writes by intention: each is refused with a place and a reason, or read right.
. "$GABION_SOURCE/tests/apps/common.sh"
head=$'run: {steps: 20}\ndomain: {cells: [32, 16], block: [8, 8]}\nfluid: {omega: 1.5}\n'
# file WORDS TEXT: a file of that text (of printf) is refused with these words; "fine": it is not.
file() {
  printf -- "$2" >bad.yaml
  if [ "$1" = fine ]; then check 0 bad.yaml; else check 2 bad.yaml; fi
  said "$1"
}
file 'bad.yaml:4:7: YAML anchors' "${head}a: &a [x, x]\nb: &b [*a, *a]\n"
file "bad.yaml:4:1: unknown key 'x'" "${head}x: {<<: {steps: 3}}\n"
file "bad.yaml:4:2: duplicate key 'run', first in line 1" "${head}'run': {steps: 3}\n"
file 'bad.yaml:1:33: nested more than 32 deep' "$(printf '[%.0s' $(seq 20000))"
file fine "\xef\xbb\xbf$head"
file fine "${head//$'\n'/\\r\\n}"
file fine "${head%?}"
file 'bad.yaml:4:5: a control character (0x00)' "${head}x: a\\0b\n"
file 'bad.yaml:1:1: not UTF-8' '\xff\xfer\0u\0n\0'
file "omega should be a real number, 0 < value < 2, not '1e400'" "${head/1.5/1e400}"
file "steps should be an integer, value >= 0, not '99999999999999999999'" "${head/20/99999999999999999999}"
file 'cells = -32 is out of range' "${head/32/-32}"
file 'cells should have 2 to 3 values, not 0' "${head/\[32, 16\]/[]}"
file 'at most 8388608 are possible' "${head/\[32, 16], block: \[8, 8]/[2147483647, 16], block: [1, 1]}"
file 'a second YAML document' "$head---\n$head"
file 'a key must be a word' "${head}? [a]\n: 3\n"
file 'a control character in a text (0x1b)' "${head/steps/title: \"\\\\x1b[31mred\", steps}"
file 'bad.yaml:2:46: dx = 1e-320 is out of range' "${head/8]/8], dx: 1e-320}"
file 'bad.yaml:2:46: dx = 1e308 is out of range' "${head/8]/8], dx: 1e308}"
file 'cannot be told apart along x, from 1e+20 to 1e+20' "${head/8]/8], origin: [1.0e20, 0]}"
file 'run.time: is less than half a step of 1' "${head/steps: 20/time: 0.3}"
file 'are not usable' "${head/omega: 1.5/omega: 1.9999999999999998, viscosity: 1.0e-300}"
{ printf '%s' "$head"; head -c 8000000 /dev/zero | tr '\0' a; printf ': 1\n'; } >bad.yaml
check 2 bad.yaml
said "bad.yaml:4:1: unknown key 'aaaa"
{ printf '%s' "$head"; head -c 17000000 /dev/zero | tr '\0' '#'; } >bad.yaml
check 2 bad.yaml
said 'more than 16777216 bytes'

setting() { # setting WORDS SETTING
  check 2 good.yaml --set "$2"
  said "--set $2: $1"
}
setting 'the form is section.key=value' run.steps
setting 'the form is section.key=value' .steps=3
setting 'the form is section.key=value' run..steps=3
setting 'the form is section.key=value' run.steps.=3
setting "'run.st eps' is not the name of a parameter" 'run.st eps=3'
check 2 good.yaml --set $'run.\x01steps=3'
said 'is not the name of a parameter'
setting "steps should be an integer, value >= 0, not '3=4'" run.steps=3=4
setting 'steps should be an integer, value >= 0, but there is no value' run.steps=
setting 'YAML anchors' 'run.steps=&a 3'
setting 'item 5 does not exist; the list has 2' domain.cells.5=64
setting 'run should be a section' run=3
setting "unknown key 'RUN'" RUN.steps=3
check 2 good.yaml --inject rank=1+1,step=3
said 'rank 1 is there twice'
check 0 good.yaml --set 'run.steps= 3 # three'
said '3 steps of dt 1'
finish
