# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm,png
# The tutorial with its own time loop keeps its heat balance, to the last bit, after deaths.
. "$GABION_SOURCE/tests/apps/common.sh"

heat() { # heat PROCESSES [arguments]
  local processes=$1
  shift
  timeout 150 "$GABION_LAUNCH" -n "$processes" -- "$GABION_BUILD/bin/heat_loop" "$@" >said.txt 2>&1 ||
    complain "heat $* on $processes processes failed: $(cat said.txt)"
  grep -h '^heat released' said.txt
}
printf 'heat: {steps: 600, blocks: 4}\nresilience: {memory: {every: 50}}\n' >small.yaml
expected=$(heat 1 small.yaml)
case $expected in *checksum*) ;; *) complain "no account: $expected" ;; esac
[ "$(heat 4 small.yaml)" = "$expected" ] || complain "4 processes: $(cat said.txt)"
[ "$(heat 4 small.yaml rank=2,step=275,phase=exchange)" = "$expected" ] || complain "one death: $(cat said.txt)"
said 'rank 2 died'
[ "$(heat 4 small.yaml rank=0,step=333,phase=snapshot rank=3,step=420,phase=compute)" = "$expected" ] ||
  complain "two deaths, the first root among them: $(cat said.txt)"
[ -s out/heat_loop/temperature_0000000600.png ] || complain "no picture"
# The case as shipped, with its fault injection, against the same without.
expected=$(heat 1)
case $expected in *checksum*) ;; *) complain "no account: $expected" ;; esac
[ "$(heat 3 "$GABION_SOURCE/apps/tutorial/heat_loop.yaml")" = "$expected" ] || complain "heat_loop.yaml: $(cat said.txt)"
said 'rank 2 died'
finish
