# SPDX-License-Identifier: Apache-2.0
# The subfolders of the driver that all solvers share know none: they neither include headers of lbm/, phasefield/ and the driver's own
# solvers, nor name what these define. Only main() says which solvers `gabion` has.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
cd "$GABION_SOURCE/apps/driver" || exit 1
folders="case commands delays plan run stencil"
files=$(find $folders . -maxdepth 1 -name '*.[ch]' ! -name main.c | sort -u)
for file in ./driver.h ./solver.c run/run.c plan/plan_model.c commands/command_info.c; do
  case $files in *"$file"*) ;; *) echo "there is no $file any more: what is looked at?"; exit 1 ;; esac
done

# Allowed, as FILE:TEXT of lines: the tables that solver.h declares for programs which want them.
allowed="./solver.h:extern const gab_solver gab_solver_flow, gab_solver_solidification;"

found=$(grep -nE '^ *# *include *"(lbm|phasefield|apps/driver/(flow|solidification))/|\bgab_(lbm|phasefield)_?[a-z_]*\b|\bgab_(app_)?(flow|simulation|solidification)_[a-z_]*\b|\bgab_app_(run_flow|plan_add_flow)\b|\bgab_(links|sparse|level_interface|refinement|collision)_[a-z_]*\b|\bgab_solver_(flow|solidification)\b' \
  $files | grep -vE '^[^:]*:[0-9]*: *(\*( |$)|/\*)' | sed 's/:[0-9]*:/:/' | grep -vxF "$allowed")
[ -z "$found" ] || { printf 'the driver names a solver:\n%s\n' "$found"; exit 1; }
