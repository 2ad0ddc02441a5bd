#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=200 needs=ulfm
# Failure domains come from a file or from the environment; copies that cannot be separated are reported; the loss of
# a whole node changes no result.
. "$GABION_SOURCE/tests/apps/common.sh"
node='--set resilience.separate=node'

run 0 4 good.yaml --set resilience.scheme=parity --set resilience.group=4
expected=$(checksum)
said 'redundancy: parity: groups of about 4, 1 parity each, 1/3 of an image in addition to the own one; any 1 rank of each group can be lost'
not_said warning
run 0 4 good.yaml $node
said_once 'all processes are in one node, so images and their redundancy lie in it together'
[ "$(checksum)" = "$expected" ] || complain "another checksum where nothing can be kept apart"

# Two nodes: ranks next to one another lie together, and are lost together.
printf 'a: 0-1 # one\nb: [2, 3]\n' >nodes.yaml
for scheme in pairwise parity reed-solomon; do
  run 0 4 good.yaml $node --set resilience.domains=nodes.yaml --set resilience.scheme=$scheme \
    --inject rank=2+3,step=15,phase=exchange
  said 'and any one node as a whole can be lost'
  said 'ranks 2, 3 died'
  [ "$(checksum)" = "$expected" ] || complain "$scheme, a node lost: another checksum"
done
printf 'i/c/a 0 2\ni/c/b 1 3\n' >dealt.yaml
run 0 4 good.yaml $node --set resilience.domains=dealt.yaml --inject rank=1+3,step=15,phase=compute
[ "$(checksum)" = "$expected" ] || complain "a node of every second rank lost: another checksum"
run 3 4 good.yaml $node --set resilience.domains=dealt.yaml --inject rank=0+2+3,step=15,phase=compute
said 'died and so did all holders of their images'

printf 'a: 0-1\nb: 1-3\n' >twice.yaml
run 2 4 good.yaml $node --set resilience.domains=twice.yaml
said_once 'twice.yaml:2: rank 1 was placed in a before'
run 2 4 good.yaml $node --set resilience.domains=nowhere.yaml
said "nowhere.yaml: cannot be opened"
check 2 good.yaml --set resilience.scheme=reed-solomon --set resilience.group=2
said 'groups of 2 members, which are to survive 2 losses'
check 2 good.yaml --set resilience.scrub=auto
finish
