# SPDX-License-Identifier: Apache-2.0
# gabion-test: timeout=120 labels=quick
# scripts/measure/spectrum.py: each wave is in its shell with its energy, the shells together hold the kinetic energy of the field, whatever the
# edges of the box are; of a field that a run has written, in blocks, by two processes, too. Skipped without numpy and h5py.
. "$GABION_SOURCE/tests/physics/common.sh"
export PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$GABION_SOURCE/scripts/measure
python=
for candidate in python3 /usr/bin/python3; do
  if "$candidate" -c 'import numpy, h5py' 2>/dev/null; then python=$candidate; break; fi
done
[ -n "$python" ] || { echo "no Python with numpy and h5py here"; exit 77; }

"$python" - <<'END' || failed=1
import numpy
from spectrum import spectrum

failed = 0


def check(what, found, expected, tolerance=1e-12):
    global failed
    if not abs(found - expected) <= tolerance:
        print(f"{what}: {found}, expected {expected}")
        failed = 1


def grid(cells, lengths):  # x, y, z of the centres of cells, as arrays [z, y, x]
    z, y, x = numpy.meshgrid(*[(numpy.arange(n) + 0.5) * length / n for n, length in zip(cells[::-1], lengths[::-1])], indexing="ij")
    return x, y, z


def one_wave(name, cells, lengths, wave, amplitude, component, shell):
    x, y, z = grid(cells, lengths)
    u = numpy.zeros((*x.shape, 3))
    u[..., component] = amplitude * numpy.sin(wave[0] * x + wave[1] * y + wave[2] * z + 0.3)
    k, e, squares = spectrum(u, numpy.array(lengths))
    check(f"{name}: k^2 of the wave itself", squares, sum(n**2 for n in wave) * amplitude**2 / 4, 1e-9)
    width = 2 * numpy.pi / max(lengths)
    check(f"{name}: width of shells", k[1] - k[0], width)
    check(f"{name}: energy of its shell", e[shell] * width, amplitude**2 / 4)
    check(f"{name}: energy of all others", numpy.delete(e, shell).sum() * width, 0)


box = 2 * numpy.pi
one_wave("(3, 4, 0)", (16, 16, 16), (box, box, box), (3, 4, 0), 2, 0, 5)
one_wave("(1, 2, 2)", (16, 16, 16), (box, box, box), (1, 2, 2), 0.5, 2, 3)
one_wave("(0, 0, 6) in a flat box", (8, 16, 32), (box / 4, box / 2, box), (0, 0, 6), 1, 1, 6)
one_wave("(4, 0, 0) in a flat box", (8, 16, 32), (box / 4, box / 2, box), (4, 0, 0), 1, 1, 4)
one_wave("(6, 8, 0) of a large box", (32, 32, 32), (10, 10, 10), (0.6 * box, 0.8 * box, 0), 1, 1, 10)
one_wave("in the plane", (16, 24, 1), (2 * box, 3 * box, 0.1), (1, 0, 0), 1, 1, 3)

u = numpy.random.default_rng(5).normal(size=(12, 10, 14, 3))
k, e, _ = spectrum(u, numpy.array([7.0, 5.0, 6.0]))
check("noise: sum over all shells", e.sum() * k[1], 0.5 * (u**2).sum(axis=3).mean())
raise SystemExit(failed)
END

# sin(x) cos(y) cos(z) and its partner: 1/8 in waves with k = 3^(1/2), which is nearest to 2; of float numbers.
run_case vortex 2 "$flow/taylor_green_3d.yaml" --set 'domain.cells=[32, 32, 32]' --set 'domain.block=[16, 8, 16]' --set run.steps=2 \
    --set 'output.slices=[]' --set 'output.fields={every: 2, quantities: [velocity]}'
[ "$(ls "$work"/vortex/fields/fields_0000000000.s*.h5 | wc -l)" = 2 ] || { echo "not written by two processes"; failed=1; }
"$python" "$GABION_SOURCE/scripts/measure/spectrum.py" "$work/vortex" --time 0 --csv "$work/spectrum.csv" --viscosity 0.01 \
    2>"$work/said" || { cat "$work/said"; exit 1; }
read -r rows inside outside < <(awk -F, 'NR > 1 { rows++; if ($3 == 2) inside += $4; else outside += $4 }
    END { print rows + 0, inside + 0, outside + 0 }' "$work/spectrum.csv")
within "vortex: shells, up to the corner" "$rows" 29 29
within "vortex: energy of k = 2" "$inside" 0.1249999 0.1250001
within "vortex: energy of all others" "$outside" 0 1e-12
# 2 nu k^2 E with the k of the waves, 3^(1/2), not of their shell
within "vortex: dissipation" "$(sed -n 's/.*dissipation of what is resolved //p' "$work/said")" 0.007499 0.007501

# What is no field in a box is refused, in words.
refused() { # WORDS OPTIONS
  local words=$1
  shift
  if "$python" "$GABION_SOURCE/scripts/measure/spectrum.py" "$@" >"$work/said" 2>&1; then echo "accepted: $words"; failed=1; fi
  grep -q "$words" "$work/said" || { echo "'$words' not said:"; cat "$work/said"; failed=1; }
}
refused 'has no fields' "$work"
run_case hole 1 "$flow/cylinder_3d_coarse.yaml" --set run.steps=1 --set 'output.slices=[]' \
    --set 'output.fields={every: 1, quantities: [velocity]}'
refused 'cells without a velocity' "$work/hole"
run_case lid 1 "$flow/cavity.yaml" --set run.steps=1 --set 'output={fields: {every: 1, quantities: [velocity]}}'
refused 'is of type wall, a spectrum needs a periodic box' "$work/lid"
run_case levels 1 "$flow/taylor_green_3d.yaml" --set run.steps=1 --set 'output.slices=[]' \
    --set 'output.fields={every: 1, quantities: [velocity]}' \
    --set 'refinement={levels: 1, criteria: [{type: box, lo: [0, 0, 0], hi: [1, 1, 1]}]}'
refused 'blocks of several levels' "$work/levels"
rm "$work/vortex/fields/fields_0000000002.s0001.h5"
refused 'fields_0000000002.s0001.h5 is missing' "$work/vortex"
refused '1 labels for 2' "$work/vortex" "$work/vortex" --label one
exit $failed
