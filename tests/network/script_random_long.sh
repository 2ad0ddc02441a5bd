# Cables are pulled at random: which, when, in which phase of which slot, and after how long they are put back. Exactly one part
# goes on, with the result of the undisturbed run, or data is lost and the run says so once. NETWORK_RUNS=N, NETWORK_SEED=N.
# gabion-test: timeout=7200 labels=long,network waits=1 needs=ulfm
. "$GABION_SOURCE/tests/network/nodes.sh"
. "$GABION_SOURCE/tests/network/cut.sh"

runs=${NETWORK_RUNS:-60} seed=${NETWORK_SEED:-$RANDOM} lost=0
RANDOM=$seed
echo "seed $seed"
draw() { local all=("$@"); drawn=${all[RANDOM % $#]}; } # sets $drawn: one of its arguments

nodes_up 4
second_hub 3 4
make_reference nod1:1,nod2:1,nod3:1,nod4:1 4
dead_after=6
for run in $(seq "$runs"); do
  draw exchange compute snapshot commit swap disk-write disk-commit reduction output recovery; phase=$drawn
  draw "1" "2" "3" "4" "1 2" "2 3" "hub" "hub 1" "hub 4" "1 3"; cables=$drawn
  # Not just when the silence begins to count: some have noticed it then and some have not (doc/resilience.md).
  draw never never 2 10 20; back=$drawn
  draw 0 1 2 3; slot=$drawn
  draw "1 1 1 1" "2 2 1 1"; read -r a b c d <<<"$drawn"
  draw "" "--set resilience.disk.every=100"; disk=$drawn
  step=$((RANDOM % 600)) case_args=$disk codes="0 3"
  case $phase in
    disk-*) disk="--set resilience.disk.every=100" case_args=$disk ;;
    recovery) draw 0 1 2 3; case_args="$disk --inject slot=$drawn,step=$((step > 2 ? step / 2 : 1))"
      [ $drawn = $slot ] && slot=$(((slot + 1) % 4)) step=$((step / 4)) ;;
  esac
  [ -n "$disk" ] && [ $step -gt 250 ] && codes=0 # one is on disk by then, also when a death was injected half the way
  what="run $run: $phase of slot $slot at step $step, cables $cables, back after $back, $((a + b + c + d)) processes, $case_args"
  run_args="--inject slot=$slot,step=$step,phase=$phase,stopped=1.5 $case_args" launch out nod1:$a,nod2:$b,nod3:$c,nod4:$d $((a + b + c + d))
  before=$failures
  # A phase that does not come any more is no fault of the run.
  for _ in $(seq 600); do
    [ "$(grep -c '"stopped"' out/events.jsonl 2>/dev/null)" = 1 ] && break
    kill -0 $job 2>/dev/null || break
    sleep 0.05
  done
  pull $cables
  if [ "$back" != never ]; then
    sleep "$back"
    plug $cables
  fi
  judge out $codes
  plug $cables
  [ $code = 3 ] && lost=$((lost + 1))
  echo "$what: $code$([ $failures -gt $before ] && echo ' WRONG')"
  if [ $failures -gt $before ] && [ -n "${NETWORK_KEEP:-}" ]; then mkdir -p "$NETWORK_KEEP/$seed.$run" && cp -r out out.txt "$NETWORK_KEEP/$seed.$run"; fi
  rm -rf out out.txt
done
echo "$runs runs, $lost of them lost data, $failures complaints"
finish
