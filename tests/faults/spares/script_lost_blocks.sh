# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=60 labels=quick needs=ulfm
# A run that has lost both images of two ranks reports the number of lost blocks. Blocks of a third rank, run by a
# spare and with a living copy, do not count.
. "$GABION_SOURCE/tests/apps/common.sh"
timeout 50 "$GABION_LAUNCH" -n 4 --spares 2 -t 1 --retries 0 -- "$gabion" run good.yaml --out out \
  --set 'resilience.strategies=[spare, shrink]' --set resilience.scheme=pairwise --inject rank=0+1+2,step=12 >said.txt 2>&1
code=$?
[ $code = 3 ] || complain "exit code $code: $(cat said.txt)"
said 'ranks 0, 2 died and so did all holders of their images'
said ': 4 of 8 blocks are lost'
finish
