# The rooms of the driver that all physics share know none: they neither include headers of lbm/, phasefield/ and the driver's own
# physics, nor name what these define. Only main() says which physics `gabion` has.
# gabion-test: timeout=60 labels=quick
set -u
: "${GABION_SOURCE:?}"
cd "$GABION_SOURCE/apps/driver" || exit 1
rooms="case commands delays plan run stencil"
files=$(find $rooms . -maxdepth 1 -name '*.[ch]' ! -name main.c | sort -u)
for file in ./driver.h ./physics.c run/run.c plan/plan_model.c commands/command_info.c; do
  case $files in *"$file"*) ;; *) echo "there is no $file any more: what is looked at?"; exit 1 ;; esac
done

# Allowed, as FILE:TEXT of lines: the tables that physics.h declares for programs which want them.
allowed="./physics.h:extern const gab_physics gab_physics_flow, gab_physics_solidification;"

found=$(grep -nE '^ *# *include *"(lbm|phasefield|apps/driver/(flow|solidification))/|\bgab_(lbm|phasefield)_?[a-z_]*\b|\bgab_(app_)?(flow|simulation|solidification)_[a-z_]*\b|\bgab_app_(run_flow|plan_add_flow)\b|\bgab_(links|sparse|level_interface|refinement|collision)_[a-z_]*\b|\bgab_physics_(flow|solidification)\b' \
  $files | grep -vE '^[^:]*:[0-9]*: *(\*( |$)|/\*)' | sed 's/:[0-9]*:/:/' | grep -vxF "$allowed")
[ -z "$found" ] || { printf 'the driver names a physics:\n%s\n' "$found"; exit 1; }
