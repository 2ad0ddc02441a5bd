# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=100
# In an output folder of another user, links to files and folders of this user are not followed: the run is refused,
# or writes its own file in their place. A link of this user, e.g. to another disk, is followed.
. "$GABION_SOURCE/tests/apps/common.sh"
[ "$(id -u)" = 0 ] || exit 77 # somebody else can only be played by root
command -v setpriv >/dev/null || exit 77
chmod 755 "$work"
mkdir mine
somebody() { setpriv --reuid 65534 --regid 65534 --clear-groups "$@"; }
# plant NAME TARGET: an output folder of somebody else with a link in it
plant() {
  rm -rf out
  mkdir out && chown 65534:65534 out
  printf 'precious\n' >mine/file
  somebody ln -s "$2" "out/$1" || complain "cannot plant $1"
}
go() { # go [options]: computes into the existing folder
  timeout 100 "$gabion" run good.yaml --out out "$@" >said.txt 2>&1
  code=$?
}
untouched() { [ "$(cat mine/file)" = precious ] && [ "$(ls mine)" = file ] || complain "$1: planted, and followed: $(head mine/*)"; }

for name in events.jsonl integrals.csv; do
  plant $name "$work/mine/file"
  go
  [ $code != 0 ] || complain "$name: a planted link was accepted"
  said "out/$name is a link of user 65534: remove it, or choose another output folder"
  untouched $name
done
for name in fields checkpoints; do
  plant $name "$work/mine"
  go --set resilience.disk.every=10
  [ $code != 0 ] || complain "$name: a planted link was accepted"
  said "out/$name is a link of user 65534"
  untouched $name
done
# Under these names the run makes its own files: log.txt if none is continued, and temporary names of the others.
for name in case.yaml log.txt summary.json progress.json files.txt.new progress.json.new case.yaml.tmp summary.json.tmp; do
  plant $name "$work/mine/file"
  go
  [ $code = 0 ] || complain "$name: exit code $code; it said: $(cat said.txt)"
  untouched $name
  [ ! -L "out/$name" ] || complain "$name is still a link"
done
# A log that is continued is there already.
plant log.txt "$work/mine/file"
GABION_ATTEMPT=1 go
said 'out/log.txt is a link of user 65534'
untouched 'log.txt, continued'

# Links of this user.
rm -rf out
mkdir -p out elsewhere/fields
ln -s ../elsewhere/fields out/fields
ln -s ../elsewhere/series out/integrals.csv
go
[ $code = 0 ] || complain "own links: exit code $code; it said: $(cat said.txt)"
[ -s elsewhere/series ] && [ -n "$(ls elsewhere/fields)" ] || complain "own links were not followed: $(ls -l out elsewhere)"
finish
