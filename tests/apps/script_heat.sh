# gabion-test: timeout=200 labels=quick needs=ulfm
# The tutorial keeps its account of heat, to the last bit, when processes die.
. "$GABION_SOURCE/tests/apps/common.sh"

heat() { # heat PROCESSES [arguments]
  local processes=$1
  shift
  timeout 150 "$GABION_LAUNCH" -n "$processes" -- "$GABION_BUILD/bin/heat" "$@" >said.txt 2>&1 ||
    complain "heat $* on $processes processes failed: $(cat said.txt)"
  grep -h '^heat released' said.txt
}
expected=$(heat 1)
case $expected in *checksum*) ;; *) complain "no account: $expected" ;; esac
[ "$(heat 4)" = "$expected" ] || complain "4 processes: $(cat said.txt)"
[ "$(heat 4 slot=2,step=700,phase=exchange)" = "$expected" ] || complain "one death: $(cat said.txt)"
said 'slot 2 died'
[ "$(heat 4 slot=0,step=333,phase=snapshot slot=3,step=1500,phase=compute)" = "$expected" ] ||
  complain "two deaths, the first root among them: $(cat said.txt)"
[ "$(heat 3 "$GABION_SOURCE/apps/tutorial/heat.yaml")" = "$expected" ] || complain "heat.yaml: $(cat said.txt)"
[ -s out/heat/temperature_0000002000.png ] || complain "no picture"
finish
