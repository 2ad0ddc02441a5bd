#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random cases, each computed by one process, and by several with deaths; scripts/random-cases.sh calls it.

A case is drawn from the parameters of flows and phase fields: geometry, lattice, collision, sides, bodies, scalars, levels of
refinement, tables and pictures; or of tutorials: implicit fields, also on adaptive levels, two layers of ghosts, stages,
staggered fields, sides. It is first computed by one process with one thread, a separate field for each block, undisturbed. Then
it is computed by several, with random processes, threads, kernel of a flow, balancing, fused blocks, strategies, schemes,
checkpoints, and injections that kill by SIGKILL. Some runs stop after fewer steps, and another number of processes resumes them
from disk. Both must end with the same checksum, and with the same tables and pictures, byte for byte. A run may end with 3 after
two or more deaths, with 1 if all were killed, with 76 after a death before the first checkpoint: it is then started again without
injections. A hang that the launcher rescued is a failure. A case that `gabion check` refuses is drawn again. A case that diverges
(4) must do so in both.
"""
import argparse
import collections
import filecmp
import glob
import json
import os
import random
import re
import shutil
import subprocess
import sys

from fault_matrix import find


def pick(rng, *values):
    return rng.choice(values)


def draw_blocks(rng, dims, is_refined):
    """Cells of a block, and of the domain."""
    sizes = (4, 6, 8, 10, 12, 16) if is_refined else (3, 4, 5, 6, 8, 9, 12, 16)
    while True:
        block = [rng.choice(sizes) for _ in range(dims)]
        if rng.random() < 0.6:
            block = [block[0]] * dims
        roots = [rng.randint(1, 6 if dims == 2 else 4) for _ in range(dims)]
        cells = [b * r for b, r in zip(block, roots)]
        total, count = 1, 1
        for c, r in zip(cells, roots):
            total, count = total * c, count * r
        if total <= (3000 if dims == 2 else 16000) and count >= 4:
            return cells, block


OUTLETS = ("pressure", "outflow", "characteristic", "convective")


def draw_outlet(rng, speed, *kinds):
    side = {"type": pick(rng, *kinds)}
    if side["type"] == "convective":
        side["advection_velocity"] = round(speed * rng.uniform(0.3, 1.5), 4)
    return side


def draw_side_pair(rng, dims, axis, speed):
    """Both sides of an axis."""
    along = [0.0] * dims
    along[axis] = speed
    across = [0.0] * dims
    across[(axis + 1) % dims] = speed
    inlet = {"type": "velocity", "velocity": along}
    if rng.random() < 0.5:
        inlet["ramp_time"] = rng.randint(1, 30)
    if rng.random() < 0.3:
        inlet["profile"] = "parabolic"
    closed = ({"type": "wall"}, {"type": "free_slip"}, {"type": "velocity", "velocity": across})
    kind = rng.random()
    if kind < 0.35:
        return None
    if kind < 0.7:
        return [dict(rng.choice(closed)), dict(rng.choice(closed))]
    if kind < 0.85:
        return [inlet, draw_outlet(rng, speed, "outflow", "pressure", "characteristic", "convective")]
    return [{"type": "pressure", "pressure": 1e-3}, {"type": "pressure"}]


def draw_bodies(rng, cells, dims, speed):
    bodies = []
    for number in range(rng.choice((0, 0, 1, 1, 2, 3))):
        centre = [round(rng.uniform(0.1, 0.9) * c, 2) for c in cells]
        kind = pick(rng, "box", "sphere", "cylinder")
        body = {"name": "body%d" % number, "type": kind, "wall": pick(rng, "interpolated", "staircase")}
        smallest = min(cells)
        radius = round(rng.uniform(1.2, max(1.5, smallest / 4)), 2)
        if kind == "box":
            body["lo"] = [c - radius for c in centre]
            body["hi"] = [c + radius for c in centre]
        else:
            body["centre"], body["radius"] = centre, radius
            if kind == "cylinder" and dims == 3:
                body["axis"] = pick(rng, "x", "y", "z")
                if rng.random() < 0.5:
                    body["length"] = 2 * radius
        if rng.random() < 0.2:
            body["velocity"] = [round(rng.uniform(-speed, speed), 4) for _ in range(dims)]
        bodies.append(body)
    return bodies


def draw_shape(rng, dims, cells, name):
    """A body of any shape, perhaps rotated, repeated or spinning."""
    near = [round(rng.uniform(0.2, 0.8) * c, 2) for c in cells]
    size = round(rng.uniform(1.5, max(1.8, min(cells) / 4)), 2)
    kind = pick(rng, "ellipsoid", "cone", "half_space", "polygon", "formula", "box", "cylinder", "torus" if dims == 3 else "ellipsoid")
    body = {"name": name, "type": kind}
    if kind == "half_space":
        axis = rng.randrange(dims)
        near[axis] = round(0.15 * cells[axis], 2)
        body.update(point=near, normal=[1.0 if k == axis else 0.2 for k in range(dims)])
    elif kind == "cone":
        to = [c + size * d for c, d in zip(near, (0.8, 1, -0.6))]
        body.update({"from": near, "to": to, "radii": [size, size / 2]})
    elif kind == "polygon":
        x, y = near[:2]
        body["points"] = [x, y, x + 2 * size, y, x + 2 * size, y + size, x + size, y + size, x + size, y + 2 * size, x, y + 2 * size]
        if dims == 3:
            body["range"] = [near[2] - size, near[2] + size]
    elif kind == "formula":
        terms = " + ".join("(%s - %g)^2" % ("xyz"[k], near[k]) for k in range(dims))
        body["distance"] = "sqrt(%s) - %g" % (terms, size)
        body.update(lo=[c - 2 * size for c in near], hi=[c + 2 * size for c in near])
    elif kind == "box":
        body.update(lo=[c - size for c in near], hi=[c + size / 2 for c in near])
    elif kind == "torus":
        body.update(centre=near, axis=pick(rng, "x", "y", "z"), radius=size, tube=round(0.6 * size, 2))
    elif kind == "ellipsoid":
        body.update(centre=near, radii=[round(size * f, 2) for f in (1, 0.6, 1.3)[:dims]])
    else:
        body.update(centre=near, radius=size)
        if dims == 3:
            body["length"] = 2 * size
    if kind != "half_space" and rng.random() < 0.4:
        body["rotation"] = [rng.randint(-90, 90)] if dims == 2 else [rng.randint(-90, 90) for _ in range(3)]
    return body


def draw_shapes(rng, dims, cells, speed):
    """Bodies of many shapes, and sets of them."""
    bodies = []
    for number in range(rng.randint(1, 3)):
        if rng.random() < 0.35:
            parts = [draw_shape(rng, dims, cells, "part%d%d" % (number, k)) for k in range(2)]
            bodies += parts
            body = {"name": "body%d" % number, "type": pick(rng, "union", "difference", "union"), "of": [p["name"] for p in parts]}
        else:
            body = draw_shape(rng, dims, cells, "body%d" % number)
            if body["type"] != "half_space" and rng.random() < 0.3:
                body.update(copies=[2] + [1] * (dims - 1), copy_offset=[round(cells[0] * 0.4, 2)] + [1] * (dims - 1))
        body["wall"] = pick(rng, "interpolated", "interpolated", "staircase")
        if body["type"] in ("cylinder", "ellipsoid", "torus") and "copies" not in body and rng.random() < 0.6:
            body["spin"] = [round(rng.uniform(-speed, speed) / 8, 5) for _ in range(1 if dims == 2 else 3)]
        bodies.append(body)
    return bodies


def draw_patch(rng, dims, cells, axis, speed, name):
    """A part of a side normal to an axis, with a condition of any type."""
    near = [round(rng.uniform(0.15, 0.85) * c, 2) for c in cells]
    size = round(rng.uniform(1, max(1.5, min(cells) / 3)), 2)
    patch = {"name": name, "region": pick(rng, "box", "disc", "polygon" if dims == 3 else "disc")}
    if patch["region"] == "box":
        patch.update(lo=[c - size for c in near], hi=[c + 1.5 * size for c in near])
    elif patch["region"] == "disc":
        patch.update(centre=near, radius=size)
    else:
        x, y = [c for k, c in enumerate(near) if k != axis]
        patch["points"] = [x - size, y - size, x + 2 * size, y - size, x, y + 2 * size]
    kind = pick(rng, "wall", "free_slip", "pressure", "pressure", "outflow", "characteristic", "convective", "velocity", "flow_rate", "flow_rate")
    patch["type"] = "velocity" if kind == "flow_rate" else kind
    if kind == "velocity":
        patch["velocity"] = [round(rng.uniform(-speed, speed), 4) for _ in range(dims)]
    elif kind == "flow_rate":
        patch["flow_rate"] = round(rng.uniform(-1, 1) * speed * size ** (dims - 1), 4)
        patch["profile"] = pick(rng, "constant", "parabolic")
    elif kind == "pressure":
        patch["pressure"] = pick(rng, 1e-3, 2e-3)
    elif kind == "convective":
        patch.update(draw_outlet(rng, speed, kind))
    if kind in ("flow_rate", "pressure") and rng.random() < 0.4:
        patch.update(pick(rng, {"ramp_time": rng.randint(1, 30)}, {"factor": "1 + 0.3 * cos(0.2 * t)"}))
    return patch


def draw_body_patches(rng, case, dims, cells, speed):
    """Patches of a body outside of sets. With flow through them only without scalars, and if a pressure determines the mass."""
    bodies = [b["name"] for b in case["bodies"] if not b["name"].startswith("part")]
    if not bodies or rng.random() < 0.4:
        return
    is_open = any(p["type"] in OUTLETS for p in case.get("boundaries", {}).values())
    patches = []
    for number in range(rng.randint(1, 3)):
        patch = {"name": "part_of_body%d" % number, "body": rng.choice(bodies)}
        if rng.random() < 0.5:
            patch.update(region="box", lo=[-9] * dims, hi=[round(rng.uniform(0.3, 1) * c, 2) for c in cells])
        else:
            patch.update(region="disc", centre=[round(rng.uniform(0, 1) * c, 2) for c in cells], radius=round(0.7 * max(cells), 2))
        kind = "wall" if "scalars" in case or not is_open else pick(rng, "wall", "velocity", "pressure")
        patch["type"] = kind
        if kind == "wall" and rng.random() < 0.5:
            patch["velocity"] = [round(0.3 * speed, 4)] * dims
        if kind == "velocity":
            patch["velocity"] = [round(0.2 * speed, 4)] * dims
            patch["factor"] = "1 + 0.4 * sin(0.3 * t)"
        patches.append(patch)
    case["body_patches"] = patches


def draw_geometry(rng):
    """A flow with shapes, sets and spinning walls, inlets that vary in time, flow rates, patches, and a controlled mean velocity."""
    case = draw_flow(rng)
    cells, speed = case["domain"]["cells"], case["fluid"]["velocity"]
    dims = len(cells)
    case["bodies"] = draw_shapes(rng, dims, cells, speed)
    if "scalars" in case:
        draw_scalars(rng, case)
    boundaries = case.get("boundaries", {})
    for name, side in boundaries.items():
        if side["type"] == "velocity" and rng.random() < 0.5:
            side["factor"] = "1 + 0.4 * sin(%g * t)" % rng.choice((0.05, 0.3, 1))
        if side["type"] == "pressure" and rng.random() < 0.5:
            side.update(pressure=1e-3, factor="cos(0.1 * t)")
            if rng.random() < 0.5:
                side.update(factor="max(-1, min(1, cos(0.1 * t) + previous / 4 - flow_rate(%s) + mean_velocity_x))" % name, factor_limit=1)
                case["statistics"] = {"every": rng.randint(1, 9)}
        if side["type"] == "wall" and rng.random() < 0.3:
            side["slip_length"] = pick(rng, 0.3, 2)
        elif side["type"] == "wall" and rng.random() < 0.3:
            side["roughness_length"] = pick(rng, 0.02, 0.5)
            if case.get("lbm", {}).get("collision", "trt") in ("trt", "rr") and case["fluid"]["viscosity"] < 0.1:
                side["eddy_height"] = rng.randint(2, 12)
                if "model" in case["fluid"]:
                    del side["eddy_height"]
        if side["type"] in ("velocity",) + OUTLETS and rng.random() < 0.4:
            side.update(sponge_thickness=rng.randint(8, 20), sponge_damping=pick(rng, 0.5, 1), sponge_viscosity=pick(rng, 1, 5))
            if "model" in case["fluid"]:
                side["sponge_viscosity"] = 1
        if side["type"] == "velocity" and side.get("profile") == "parabolic" and rng.random() < 0.6:
            area = 1
            for c in cells[1:] if side is boundaries.get("x_min") else ():
                area *= c
            if area > 1:
                del side["velocity"]
                side["flow_rate"] = round(0.5 * speed * area, 4)
    for name, side in boundaries.items():
        across = [c for k, c in enumerate(cells) if k != "xyz".index(name[0])]
        if side["type"] == "velocity" and "sponge_thickness" not in side and min(across) >= 6 and rng.random() < 0.5:
            side.update(turbulence_intensity=pick(rng, 0.05, 0.2), turbulence_length=min(across) / 3, turbulence_seed=rng.randint(0, 99))
            if rng.random() < 0.4:
                del side["turbulence_intensity"]
                unit = (0.1 * speed) ** 2
                side["turbulence_stresses"] = [4 * unit, unit, unit / 2, -unit, 0, 0.1 * unit] if dims == 3 else [4 * unit, unit, -unit]
    for number, side in enumerate(rng.sample(sorted(boundaries), min(len(boundaries), rng.randint(0, 2)))):
        axis = "xyz".index(side[0])
        boundaries[side] = dict(boundaries[side], patches=[draw_patch(rng, dims, cells, axis, speed, "patch%d%d" % (number, k))
                                                           for k in range(rng.randint(1, 3))])
    free = [axis for axis in range(dims) if "xyz"[axis] + "_min" not in boundaries]
    if free and rng.random() < 0.5:
        case["fluid"]["mean_velocity"] = [speed / 2 if axis == free[0] else 0 for axis in range(dims)]
    draw_body_patches(rng, case, dims, cells, speed)
    case["output"]["forces"] = {"every": rng.randint(1, 6), "area": 2, "parts": rng.random() < 0.5}
    if boundaries:
        case["output"]["sides"] = {"every": rng.randint(1, 9), "forces": True}
    for body in case["bodies"]:
        if not body["name"].startswith("part") and rng.random() < 0.3:
            body["torque_point"] = [round(rng.uniform(-0.5, 1.5) * c, 2) for c in cells]
    return case


def draw_refinement(rng, cells, bodies):
    criteria = []
    while not criteria:
        if bodies and rng.random() < 0.6:
            criteria.append({"type": "bodies", "distance": pick(rng, 0, 1, 2)})
        if bodies and rng.random() < 0.3:
            criteria.append({"type": "curvature", "angle": pick(rng, 8, 20, 45), "distance": pick(rng, 0, 1)})
        if rng.random() < 0.4:
            lo = [round(rng.uniform(0, 0.6) * c, 1) for c in cells]
            criteria.append({"type": "box", "lo": lo, "hi": [a + 0.3 * c for a, c in zip(lo, cells)]})
        if rng.random() < 0.6:
            above = rng.choice((0.003, 0.01, 0.03))
            criteria.append({"type": pick(rng, "vorticity", "gradient"), "above": above, "below": above * 0.7})
    for criterion in criteria:
        if rng.random() < 0.3:
            criterion["level"] = 1
    return {"levels": pick(rng, 1, 1, 2), "every": pick(rng, 0, 1, 3, 5, 8), "criteria": criteria}


def draw_output(rng, cells, quantities, parts):
    output = {"slices": []}
    for number in range(rng.randint(1, 3)):
        output["slices"].append({"name": "slice%d" % number, "quantity": rng.choice(parts), "every": rng.randint(7, 40),
                                 "axis": "z" if len(cells) == 2 else pick(rng, "x", "y", "z"), "start": pick(rng, 0, 0, 13)})
    if rng.random() < 0.7:
        output["probes"] = {"every": rng.randint(1, 9), "quantities": rng.sample(quantities, 2)}
        output["points"] = [{"name": "p%d" % i, "at": [round(rng.uniform(0.02, 0.98) * c, 2) for c in cells]} for i in range(rng.randint(1, 3))]
        if rng.random() < 0.5:
            output["lines"] = [{"name": "line", "from": [0.5] * len(cells), "to": [c - 0.6 for c in cells], "count": rng.randint(2, 20)}]
    if rng.random() < 0.3:
        output["fields"] = {"every": rng.randint(11, 40), "quantities": rng.sample(quantities, 2)}
    return output


def draw_tracers(rng, case):
    """Tracers of a flow, in files, tables and pictures."""
    cells, every = case["domain"]["cells"], pick(rng, 1, 1, 2, 5)
    seeds = [{"type": "random", "lo": [0] * len(cells), "hi": cells, "count": rng.randint(50, 300), "seed": rng.randint(1, 99),
              "every": every * pick(rng, 0, 3, 8)}]
    if rng.random() < 0.5:
        seeds.append({"type": "line", "from": [0.1] * len(cells), "to": [round(0.97 * c, 2) for c in cells], "count": rng.randint(2, 40),
                      "start": every * rng.randint(0, 5), "every": every * rng.randint(0, 4)})
    case["tracers"] = {"every": every, "seeds": seeds}
    if rng.random() < 0.5:
        case["tracers"]["lifetime"] = rng.randint(5, 40)
    case["output"]["tracers"] = {"every": rng.randint(3, 20)}
    for item in case["output"]["slices"]:
        item["tracers"] = rng.random() < 0.7


def draw_scalars(rng, case):
    """Heat and species carried by the flow, with conditions at sides and bodies; they may drive it."""
    dims = len(case["domain"]["cells"])
    names = ["heat", "salt"][:pick(rng, 1, 1, 2)]
    case["scalars"], case["scalar_boundaries"] = [], []
    bodies = [body["name"] for body in case.get("bodies", []) if not body["name"].startswith("part")]
    at_rest = [body["name"] for body in case.get("bodies", []) if body["name"] in bodies and "velocity" not in body and "spin" not in body]
    for name in names:
        scalar = {"name": name, "diffusivity": pick(rng, 0.02, 0.06, 0.12, 0.4),
                  "initial": pick(rng, 0, 2.5, "1 + 0.3 * sin(x / 3) * cos(y / 4)")}
        if isinstance(scalar["initial"], str):
            scalar["reference"] = 1
        if rng.random() < 0.5 and case["lbm"]["kernel"] != "sparse":
            scalar.update(expansion=pick(rng, 1e-3, 3e-3), gravity=[0] * (dims - 1) + [pick(rng, -0.01, 0.01)], reference=1)
        if rng.random() < 0.4:
            scalar["source"] = pick(rng, 1e-3, "1e-3 * x", "2e-3 * cos(0.2 * t) * y")
        if rng.random() < 0.3:
            scalar["difference"] = 1
        scalar["bounded"] = rng.random() < 0.4
        if case["lbm"].get("collision") == "smagorinsky" and rng.random() < 0.6:
            scalar["turbulent_prandtl"] = pick(rng, 0.5, 0.9)
        case["scalars"].append(scalar)
        for where, side in list(case.get("boundaries", {}).items()) + [(body, {"type": "body"}) for body in bodies]:
            kind = "value" if side["type"] == "velocity" else pick(rng, None, "value", "value", "flux", "transfer", "adiabatic")
            if where in at_rest and rng.random() < 0.4:
                kind = "conducting"
            keys = {"conducting": {"conductivity": scalar["diffusivity"] * pick(rng, 0.3, 1, 3), "capacity": pick(rng, 0.6, 1, 2),
                                   "source": pick(rng, 0, 1e-3)},
                    "value": {"value": pick(rng, 0, 1, 2)}, "flux": {"flux": pick(rng, -0.01, 0.02)},
                    "transfer": {"coefficient": pick(rng, 0.01, 0.3), "outside": 2}, "adiabatic": {}}
            if kind:
                case["scalar_boundaries"].append(dict(keys[kind], type=kind, at=[where], scalar=name))
    case["output"]["scalars"] = {"every": rng.randint(1, 9)}
    case["output"]["slices"] = [item for item in case["output"]["slices"] if item.get("name") != "scalar"]  # of an earlier draw
    case["output"]["slices"].append({"name": "scalar", "quantity": rng.choice(names), "every": rng.randint(7, 40)})
    if "probes" in case["output"]:
        listed = [name for name in case["output"]["probes"]["quantities"] if name not in ("heat", "salt")]
        case["output"]["probes"]["quantities"] = listed + [rng.choice(names)]
    if not case["scalar_boundaries"]:
        del case["scalar_boundaries"]


def draw_means(rng, case):
    """Time means, in tables and pictures, and an end when the flow is steady."""
    names = rng.sample(["density", "pressure", "velocity", "speed"] + [scalar["name"] for scalar in case.get("scalars", [])], 2)
    means = {"quantities": names, "rms": rng.random() < 0.5, "stresses": "velocity" in names and rng.random() < 0.7,
             "every": pick(rng, 1, 1, 2, 7), "start": pick(rng, 0, 0, 11)}
    case["output"]["means"] = means
    case["output"]["slices"].append({"name": "mean", "quantity": "mean_" + names[0], "every": rng.randint(7, 40)})
    if "probes" in case["output"]:
        case["output"]["probes"]["quantities"] += ["mean_" + names[1]] + (["reynolds_stress_xy"] if means["stresses"] else [])
    if rng.random() < 0.5:
        case["run"]["until"] = {"steady": pick(rng, 1e-9, 1e-3, 1e-2), "every": rng.randint(3, 20)}
    if "forces" in case["output"] and rng.random() < 0.5:
        case["output"]["forces"]["every"] = 1
        case["run"].setdefault("until", {})["converged"] = {"of": case["bodies"][0]["name"] + ".fx", "within": pick(rng, 0.05, 0.5, 1)}


def is_plane(path):
    return re.search(r"/plane[0-9]\.h5$", path) is not None


def draw_planes(rng, case):
    """Planes, whose files must have the same bytes."""
    cells = case["domain"]["cells"]
    case["output"]["planes"] = []
    for i in range(rng.randint(1, 2)):
        axis = rng.randrange(len(cells))
        plane = {"name": "plane%d" % i, "axis": "xyz"[axis], "position": round(rng.uniform(0, cells[axis]), 2), "every": rng.randint(2, 20),
                 "quantities": rng.sample(["density", "pressure", "velocity", "vorticity"], 2)}
        if rng.random() < 0.5:
            plane["spacing"] = pick(rng, 0.7, 1, 1.5)
        case["output"]["planes"].append(plane)


def draw_initial(rng, cells, dims, speed, is_periodic):
    """A velocity by name, and equations for it, or a uniform one."""
    kind = pick(rng, "uniform", "uniform", "shear_layer", "vortices", "formula") if not is_periodic else \
        pick(rng, "taylor_green", "taylor_green", "turbulence", "turbulence", "shear_layer", "vortices", "formula")
    low, high = sorted(round(rng.uniform(0.1, 0.9) * cells[1], 2) for _ in range(2))
    solved = {"consistent_pressure": rng.random() < 0.7, "project": rng.random() < 0.5}
    if kind == "taylor_green":
        return {"type": kind, "velocity": speed}
    if kind == "turbulence":
        return {"type": kind, "spectrum": pick(rng, "von_karman", "passot_pouquet"), "rms": round(speed / 2, 4),
                "length": max(4, max(cells) // rng.randint(1, 3)), "seed": rng.randint(0, 9), "consistent_pressure": solved["consistent_pressure"]}
    if kind == "shear_layer":
        return dict(solved, type=kind, speed=speed, thickness=2.5, at=[low, high + 0.1], waves=rng.randint(1, 2))
    if kind == "vortices":
        return dict(solved, type=kind, vortices=[
            {"profile": pick(rng, "taylor", "lamb_oseen"), "centre": [round(rng.uniform(0, cells[0]), 2), round(rng.uniform(0, cells[1]), 2)],
             "radius": 3, "speed": round(rng.uniform(-speed, speed), 4)} for _ in range(rng.randint(1, 3))])
    if kind == "formula":
        return dict(solved, type=kind, velocity_x="%g * sin(2 * pi * y / %d)" % (speed, cells[1]))
    return {"velocity": [round(rng.uniform(-speed, speed), 4) for _ in range(dims)]}


def draw_fluid(case):
    """Gives some flows with TRT a viscosity that depends on the shear rate, drawn from the case itself: other draws stay."""
    rng = random.Random(json.dumps(case, sort_keys=True))
    if case["lbm"]["collision"] != "trt" or case["lbm"]["kernel"] == "vector" or rng.random() < 0.5:
        return
    fluid, rate = case["fluid"], case["fluid"]["velocity"] / case["fluid"]["length"]
    model = pick(rng, "power_law", "carreau", "herschel_bulkley")
    fluid.update(model=model, exponent=pick(rng, 0.5, 0.8, 1.3), least_viscosity=0.3 * fluid["viscosity"])
    if model == "carreau":
        fluid["relaxation_time"] = round(pick(rng, 0.5, 3) / rate, 3)
    if model == "herschel_bulkley":
        fluid["yield_stress"] = pick(rng, 0.2, 1) * fluid["viscosity"] * rate


def draw_porous(case):
    """Gives some flows porous regions, drawn from the case itself: other draws stay."""
    rng = random.Random("porous" + json.dumps(case, sort_keys=True))
    if "model" in case["fluid"] or rng.random() < 0.6:
        return
    text = json.dumps(case)
    if any(word in text for word in ("smagorinsky", "eddy_height", "outflow", "characteristic", "convective")):
        return  # refused: the first two with any region, the others with one at their side
    cells, viscosity, speed = case["domain"]["cells"], case["fluid"]["viscosity"], case["fluid"]["velocity"]
    dims, regions = len(cells), []
    for number in range(rng.randint(1, 2)):
        region = draw_shape(rng, dims, cells, "porous%d" % number)
        drags = [pick(rng, 1e-3, 0.03, 0.3, 1.2) for _ in range(pick(rng, 1, dims))]
        region["permeability"] = [viscosity / drag for drag in drags]
        if rng.random() < 0.5:
            region["forchheimer"] = [(1.8 - max(drags)) / (2 * speed) * pick(rng, 0.1, 0.8) for _ in range(pick(rng, 1, dims))]
        regions.append(region)
    case["porous"] = regions
    case["output"]["porous"] = {"every": rng.randint(1, 6)}


def draw_flow(rng):
    dims = pick(rng, 2, 3)
    is_refined = rng.random() < 0.5
    cells, block = draw_blocks(rng, dims, is_refined)
    speed = round(rng.uniform(0.01, 0.08), 3)
    case = {"run": {"steps": rng.randint(30, 90), "check_every": pick(rng, 0, 1, 7, 20)},
            "domain": {"cells": cells, "block": block},
            "lbm": {"collision": pick(rng, "trt", "trt", "srt", "mrt", "rr", "smagorinsky"),
                    "precision": pick(rng, "double", "double", "float", "mixed"),
                    "kernel": pick(rng, "auto", "auto", "auto", "in_place", "sparse", "vector", "reference")},
            "fluid": {"viscosity": pick(rng, 0.01, 0.03, 0.1, 0.3), "velocity": speed, "length": 5},
            "units": {"dt": 1}}
    if dims == 3 and case["lbm"]["collision"] != "mrt" and rng.random() < 0.4:
        case["lbm"]["lattice"] = "d3q27"
    draw_fluid(case)
    boundaries = {}
    for axis in range(dims):
        pair = draw_side_pair(rng, dims, axis, speed)
        if pair:
            boundaries["xyz"[axis] + "_min"], boundaries["xyz"[axis] + "_max"] = pair
    if boundaries:
        case["boundaries"] = boundaries
        if rng.random() < 0.3:
            case["fluid"]["acceleration"] = [round(rng.uniform(-1e-5, 1e-5), 8) for _ in range(dims)]
    bodies = draw_bodies(rng, cells, dims, speed)
    if bodies:
        case["bodies"] = bodies
    case["initial"] = draw_initial(rng, cells, dims, speed, len(boundaries) == 0)
    if is_refined:
        case["refinement"] = draw_refinement(rng, cells, bodies)
    case["output"] = draw_output(rng, cells, ["density", "pressure", "velocity", "speed", "vorticity", "q_criterion", "wall_shear_stress", "level"],
                                 ["density", "pressure", "velocity", "speed", "velocity.y", "vorticity", "q_criterion",
                                  "wall_shear_stress", "wall_shear_stress.x", "level"])
    if bodies and rng.random() < 0.8:
        case["output"]["forces"] = {"every": rng.randint(1, 6), "area": 2}
    if rng.random() < 0.6:
        case["output"]["integrals"] = {"every": rng.randint(1, 9), "strain": rng.random() < 0.5}
    if rng.random() < 0.5:
        draw_tracers(rng, case)
    if rng.random() < 0.5:
        draw_scalars(rng, case)
    if rng.random() < 0.4:
        draw_means(rng, case)
    if rng.random() < 0.5:
        draw_planes(rng, case)
    draw_porous(case)
    return case


def draw_heat(rng):
    """A flow with scalars, with bodies of many shapes or of few."""
    case = draw_geometry(rng) if rng.random() < 0.4 else draw_flow(rng)
    if "scalars" not in case:
        draw_scalars(rng, case)
    return case


def draw_phase_field(rng):
    dims = pick(rng, 2, 2, 3)
    is_refined = rng.random() < 0.4
    if is_refined:
        block, roots = [pick(rng, 8, 12) if dims == 2 else 8] * dims, [2] * (dims - 1) + [pick(rng, 4, 6)]
    elif dims == 2:
        block = [pick(rng, 5, 8, 9, 12, 16, 20), pick(rng, 6, 8, 12, 17)]
        roots = [rng.randint(2, 4), rng.randint(3, 6)]
    else:
        block, roots = [pick(rng, 6, 8, 11), pick(rng, 5, 8), pick(rng, 6, 8)], [2, 2, pick(rng, 3, 4)]
    cells = [b * r for b, r in zip(block, roots)]
    solids = [{"name": "alpha", "composition": [0.70691, 0.146545], "slopes": [0.45, 0]},
              {"name": "beta", "composition": [0.146545, 0.70691], "slopes": [0, 0.45]},
              {"name": "gamma", "composition": [0.146545, 0.146545], "slopes": [-0.45, -0.45]}][:pick(rng, 1, 2, 3, 3)]
    case = {"run": {"steps": rng.randint(40, 140), "check_every": pick(rng, 0, 1, 7, 20)},
            "domain": {"cells": cells, "block": block, "dx": 3},
            "phasefield": {"epsilon": 8, "dt": 0.5 if dims == 2 else 0.3, "interpolation": pick(rng, "cubic", "moelans"),
                           "anti_trapping": rng.random() < 0.6,
                           "components": ["A", "B", "C"], "eutectic_temperature": 1, "gamma": 1, "series_every": rng.randint(3, 30),
                           "kernel": pick(rng, "auto", "fast", "reference"),
                           "phases": solids + [{"name": "melt", "composition": [0.333333333333333, 0.333333333333333],
                                                "curvature": [1, 0.5, 0.5, 1], "diffusivity": 1}],
                           "temperature": {"value": 0.8, "gradient": 1e-4, "velocity": 0.1}}}
    height = cells[-1] // 4
    field = case["phasefield"]
    field["initial"] = rng.choice(({"type": "voronoi", "height": height, "seeds": 6, "shares": [1 / len(solids)] * len(solids)},
                                   {"type": "lamellae", "height": height, "period": cells[0] / 2},
                                   {"type": "sphere", "centre": [c / 2 for c in cells], "radius": min(cells) / 4, "solids": [rng.choice(solids)["name"]]}))
    if rng.random() < 0.3:
        field["noise"] = {"amplitude": 0.01, "seed": rng.randint(1, 99)}
    if rng.random() < 0.3:
        field["anisotropy"] = 0.03
    if rng.random() < 0.5:
        field["boundaries"] = {"lateral": pick(rng, "periodic", "closed"), "bottom": pick(rng, "closed", "reservoir"), "top": pick(rng, "closed", "reservoir")}
    case["output"] = draw_output(rng, [3 * c for c in cells], ["phase", "solid", "phi_alpha", "mu_1", "c_2", "temperature", "interface"],
                                 ["phase", "solid", "phi_beta", "mu_2", "c_1", "temperature", "interface"])
    if field["initial"]["type"] != "sphere" and rng.random() < 0.6:
        field["window"] = {"row": height, "every": pick(rng, 3, 10), "rows": 1}
        if not is_refined and rng.random() < 0.5:
            case["output"]["slabs"] = {"quantities": ["phase", "c_1"]}
            field["window"]["rows"] = 2
    if is_refined:
        field["refinement"] = {"levels": 1, "every": pick(rng, 5, 10)}
    if rng.random() < 0.5:
        case["output"]["profile"] = {"every": rng.randint(5, 40)}
    return case


def draw_stencil_sides(rng, dims, fields):
    """Sides of a stencil along each axis: periodic ones are omitted."""
    sides = {}
    for axis in "xyz"[:dims]:
        if rng.random() < 0.4:
            continue
        for end in ("_min", "_max"):
            kind = pick(rng, "value", "gradient", "mirrored")
            side = {"type": kind}
            if kind == "mirrored" and rng.random() < 0.5:
                side["odd"] = [rng.choice(fields)]
            if kind != "mirrored":
                side[rng.choice(fields)] = round(rng.uniform(-0.02, 0.02), 4)
            sides[axis + end] = side
    return sides


def draw_waves(rng):
    """A case of the tutorial `waves`: Runge-Kutta stages, steps by a bound, user-defined sides."""
    cells, block = draw_blocks(rng, 2, False)
    case = {"waves": {"every": rng.randint(1, 9), "integrator": pick(rng, "rk2", "rk3", "rk3", "rk4")}, "boundaries": {}}
    if rng.random() < 0.7:
        case["boundaries"].update(x_min={"type": "own"}, x_max={"type": "own"})
    else:
        case["initial"] = {"pressure": "sin(2 * pi * x / %d)" % cells[0]}
    if rng.random() < 0.6:
        case["boundaries"].update({side: {"type": "mirrored", "odd": ["velocity_y"]} for side in ("y_min", "y_max")})
    return case, cells, block, ["pressure", "velocity_x", "velocity_y"]


def draw_maxwell(rng):
    """A case of the tutorial `maxwell`: fields on edges and faces, three stages."""
    cells, block = draw_blocks(rng, 3, False)
    case = {"maxwell": {"every": rng.randint(1, 9)}, "boundaries": {}}
    case["domain"] = {"length": 1}  # the initial state has that length
    odd = {"x": ["ey", "ez", "hx"], "y": ["ex", "ez", "hy"], "z": ["ex", "ey", "hz"]}
    for axis in "xyz":
        for end in ("_min", "_max") if rng.random() < 0.7 else ():
            case["boundaries"][axis + end] = pick(rng, {"type": "value"}, {"type": "mirrored", "odd": odd[axis]})
    return case, cells, block, ["ex", "ey", "ez", "hx", "hy", "hz"]


def draw_wave_equation(rng):
    """Waves of sound or light, with steps as a share of the bound of the program."""
    name = pick(rng, "waves", "maxwell")
    case, cells, block, fields = draw_waves(rng) if name == "waves" else draw_maxwell(rng)
    case["run"] = {"steps": rng.randint(20, 60), "check_every": pick(rng, 0, 1, 7, 20)}
    case["domain"] = dict(case.get("domain", {}), cells=cells, block=block)
    if rng.random() < 0.7:
        case[name]["cfl"] = pick(rng, 0.3, 0.7, 0.9)
    if not case["boundaries"]:
        del case["boundaries"]
    case["output"] = {"slices": [{"name": "slice%d" % number, "quantity": rng.choice(fields), "every": rng.randint(7, 40),
                                  "axis": "z" if len(cells) == 2 else pick(rng, "x", "y", "z"), "start": pick(rng, 0, 0, 13)}
                                 for number in range(rng.randint(1, 3))]}
    if rng.random() < 0.3:
        case["output"]["fields"] = {"every": rng.randint(11, 40), "quantities": rng.sample(fields, 2)}
    return case


def draw_stencil(rng):
    """A case of a tutorial; its name is a key of the case."""
    if rng.random() < 0.3:
        return draw_wave_equation(rng)
    name = pick(rng, "heat_implicit", "heat_implicit", "heat", "cahn_hilliard", "projection")
    levels = pick(rng, 0, 1, 2) if name == "heat_implicit" else 0
    block = pick(rng, *((8, 12, 16) if levels else (4, 5, 8, 12, 16)))
    roots = [rng.randint(2, 5 if levels else 8) << levels for _ in range(2)]
    while roots[0] * roots[1] * block * block > 20000:
        roots[pick(rng, 0, 1)] = 2 << levels
    cells = [block * r for r in roots]
    case = {"run": {"steps": rng.randint(20, 60), "check_every": pick(rng, 0, 1, 7, 20)}, "domain": {"cells": cells, "block": [block, block]},
            name: {"every": rng.randint(1, 9)}}
    fields = {"heat_implicit": ["temperature"], "heat": ["temperature"], "cahn_hilliard": ["c"], "projection": ["u", "v", "pressure"]}[name]
    if name == "projection":
        case["domain"]["length"] = 1
        case[name].update({"viscosity": 0.05, "cfl": 0.5})
        wall = {"type": "mirrored", "odd": ["u", "v"]}
        sides = {axis + end: wall for axis in pick(rng, "xy", "y") for end in ("_min", "_max")}
    else:
        sides = draw_stencil_sides(rng, 2, fields)
    if name == "heat_implicit":
        case[name]["dt"] = pick(rng, 1, 5, 20, 100)
    if levels:
        case[name]["refinement"] = {"levels": levels, "every": pick(rng, 1, 3, 5),
                                    "criteria": [{"type": "gradient", "field": "temperature", "above": pick(rng, 0.1, 0.5)}]}
    if sides:
        case["boundaries"] = sides
    case["output"] = {"slices": [{"quantity": rng.choice(fields), "every": rng.randint(7, 40), "start": pick(rng, 0, 0, 13)}]}
    return case


def program_of(case):
    """Each tutorial is a program."""
    return next((name for name in ("heat_implicit", "heat", "cahn_hilliard", "projection", "waves", "maxwell") if name in case), "gabion")


def levels_of(case):
    """Coarser levels than that of domain.cells, perhaps all blocks at first."""
    return case.get("phasefield", case.get("heat_implicit", {})).get("refinement", {}).get("levels", 0)


def draw_way(rng, case):
    """The second computation: processes, threads, spares, settings, injections."""
    blocks = 1  # at first; each process needs one
    for cells, block in zip(case["domain"]["cells"], case["domain"]["block"]):
        blocks *= cells // block
    coarsest = blocks >> (len(case["domain"]["cells"]) * levels_of(case))
    np = min(rng.choice((2, 2, 3, 3, 4, 5)), max(2, coarsest))
    way = {"stop": None, "np": np, "np_before": np, "threads": rng.choice((1, 1, 2)), "spares": rng.choice((0, 0, 1, 2)), "set": [], "injections": []}
    settings = way["set"]
    disk = rng.random() < 0.3
    strategies = []
    if way["spares"]:
        strategies += rng.choice((["spare"], ["local", "spare"], ["local", "spare"]))
        settings.append("resilience.spares={count: %d, per: run}" % way["spares"])
        if "local" in strategies and rng.random() < 0.4:
            settings.append("resilience.local.clusters=" + pick(rng, "rank", "node", "2"))
    strategies += ["shrink"] + (["disk"] if disk else [])
    if way["spares"] or disk:
        settings.append("resilience.strategies=[%s]" % ", ".join(strategies))
    every = rng.randint(2, 25)
    settings.append("resilience.memory.every=%d" % every)
    if disk:
        settings.append("resilience.disk.every=%d" % (every * rng.randint(1, 3)))
    if "local" not in strategies:
        scheme = rng.choice(("pairwise", "pairwise", "ring", "parity", "reed-solomon") if np > 3 else ("pairwise", "ring"))
        settings.append("resilience.scheme=" + scheme)
        if scheme == "ring":
            settings.append("resilience.copies=%d" % rng.randint(1, min(2, np - 1)))
        if scheme in ("pairwise", "ring"):
            if rng.random() < 0.3:
                settings.append("resilience.memory.overlap=true")
            if rng.random() < 0.3:
                settings.append("resilience.memory.compression=" + pick(rng, "auto", "lz4", "zstd"))
        if rng.random() < 0.2:
            settings.append("resilience.scrub=%d" % rng.randint(3, 20))
        if rng.random() < 0.4 and "lbm" in case:
            settings.append("resilience.monitors=[%s]" % pick(rng, "mass", "bounds, mass", "recompute", "mass, recompute"))
    if rng.random() < 0.3:
        way["stop"] = rng.randint(1, case["run"]["steps"] - 1)
        if not disk:  # the last state is written, and earlier output
            settings.append("resilience.disk.every=%d" % rng.randint(5, 200))
    settings.append("balance.strategy=" + pick(rng, "morton", "hilbert", "diffusion", "graph"))
    if rng.random() < 0.2:
        settings += ["balance.work=measured", "balance.every=%d" % rng.randint(5, 20)]
    if rng.random() < 0.3:
        settings.append("balance.weights=total")
    if "lbm" in case:
        settings.append("lbm.fused_blocks=%d" % rng.choice((0, 0, 2, 3, 4, 8)))
        if rng.random() < 0.5:
            is_driven = any("expansion" in scalar for scalar in case.get("scalars", []))
            settings.append("lbm.kernel=" + pick(rng, "in_place", "vector" if is_driven else "sparse", "vector", "reference"))
    solves = "heat_implicit" in case or "projection" in case  # the solver has exchanges and reductions in each step
    for _ in range(rng.choice((0, 1, 1, 1, 2))):
        ranks = rng.sample(range(np), 1 if rng.random() < 0.8 else min(2, np - 1))
        phase = pick(rng, "compute", "compute", "exchange", "exchange", "reduction", "snapshot", "commit", "output", "migration", "adapt-mark",
                     "adapt-migrate", "adapt-rebuild", "recovery")
        way["injections"].append("rank=%s,step=%d,phase=%s,visit=%d" % ("+".join(map(str, ranks)), rng.randint(0, case["run"]["steps"]), phase,
                                                                            rng.randint(1, 60 if solves and phase in ("exchange", "reduction") else 3)))
    if way["stop"]:
        way["np_before"] = max(np, min(np + rng.randint(0, 2), coarsest))
    if rng.random() < 0.5:
        settings.append("resilience.memory.within_node=" + ("send" if "local" in strategies else pick(rng, "share", "share", "send")))
    return way


DRAWS = {"flow": draw_flow, "phase": draw_phase_field, "stencil": draw_stencil, "waves": draw_wave_equation,
         "geometry": draw_geometry, "scalars": draw_heat}


class Campaign:
    def __init__(self, options):
        self.options = options
        self.launch = os.path.join(options.build, "bin", "gabion-launch")
        self.program = None  # of the case
        self.counts = collections.Counter()

    def call(self, command, log):
        with open(log, "ab") as file:
            file.write((" ".join(command) + "\n").encode())
            file.flush()
            try:
                return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=file, stderr=subprocess.STDOUT,
                                      timeout=self.options.deadline, check=False).returncode
            except subprocess.TimeoutExpired:
                return None

    def compute(self, path, folder, way):
        command = [self.launch, "-n", str(way["np"]), "--spares", str(way["spares"]), "-t", str(way["threads"]), "--pin", "never", "--stall", str(self.options.stall), "--traces", self.options.out,
                   "--start-retries", "0", "--", self.program, "run", path, "--out", folder]
        for setting in way["set"]:
            command += ["--set", setting]
        injections = []
        for injection in way["injections"]:
            injections += ["--inject", injection]
        log = folder + ".log"
        code = self.call(command + injections, log)
        may_lose = any("+" in d for d in way["injections"]) or len(way["injections"]) > 1
        victims = {rank for injection in way["injections"] for rank in injection[len("rank="):injection.index(",")].split("+")}
        if code == 76 or (code == 3 and may_lose) or (code == 1 and len(victims) == way["np"]):  # 1: no process was left
            self.counts["ended with %d, started again" % code] += 1
            code = self.call(command, log)
        return code

    def continue_from(self, path, folder, way):
        """Fewer steps, then a resumed run, perhaps by fewer processes."""
        early = dict(way, set=way["set"] + ["run.steps=%d" % way["stop"]], np=way["np_before"])
        code = self.compute(path, folder, early)
        if code != 0:
            return code
        self.counts["stopped, and continued"] += 1
        self.counts["of these by fewer processes"] += way["np"] < way["np_before"]
        return self.compute(path, folder, way)

    def start_from_run(self, rng, case, path, work):
        """Lets a flow start from the end of the same one, perhaps with another precision or collision; not if that diverges."""
        steps, source = rng.randint(5, 20), os.path.join(work, "source")
        command = [self.program, "run", path, "--set", "run.steps=%d" % steps, "--set", "resilience.disk.every=%d" % steps, "--out", source]
        if self.call(command, source + ".log") != 0:
            return
        case["initial"] = {"type": "run", "from": source}
        case["lbm"]["precision"] = pick(rng, "double", "double", "float")
        if rng.random() < 0.3:
            case["lbm"]["collision"] = "trt"
            for scalar in case.get("scalars", []):
                scalar.pop("turbulent_prandtl", None)
        if rng.random() < 0.3 and "bodies" in case:
            del case["bodies"], case["output"]
            case.pop("refinement", None)
            case.pop("body_patches", None)
            case["run"].get("until", {}).pop("converged", None)
            if not case["run"].get("until", True):
                del case["run"]["until"]
            case["scalar_boundaries"] = [item for item in case.get("scalar_boundaries", []) if "_" in item["at"][0]]
            if not case["scalar_boundaries"]:
                del case["scalar_boundaries"]
        with open(path, "w") as file:
            json.dump(case, file, indent=1)
        if self.call([self.program, "check", path], os.path.join(work, "check.log")) == 0:
            self.counts["starts from a run"] += 1
        else:  # bodies and kernels may not be compatible: the case as drawn
            self.counts["starts refused"] += 1
            case["initial"] = {"type": "uniform"}
            with open(path, "w") as file:
                json.dump(case, file, indent=1)

    def play_plane(self, rng, case, path, work):
        """Lets an inlet have the velocity of a plane in front of it in a run of the same case."""
        inlets = [name for name, side in case.get("boundaries", {}).items() if side["type"] == "velocity" and "patches" not in side]
        if not inlets:
            return
        name, kept = rng.choice(inlets), json.dumps(case)
        at = round(rng.uniform(0.1, 0.9) * case["domain"]["cells"]["xyz".index(name[0])], 2)
        case["output"]["planes"] = [{"name": "source", "axis": name[0], "position": at, "every": rng.randint(1, 9), "spacing": pick(rng, 0.5, 1)}]
        with open(path, "w") as file:
            json.dump(case, file, indent=1)
        source = os.path.join(work, "played")
        played = self.call([self.program, "run", path, "--set", "run.steps=%d" % rng.randint(9, 30), "--out", source], source + ".log") == 0
        case.update(json.loads(kept))
        case["boundaries"][name] = {"type": "velocity", "from": "played/source.h5", "from_repeats": True, "from_time": rng.uniform(0, 5),
                                    "from_scale": pick(rng, 1, 1, 0.8)}
        with open(path, "w") as file:
            json.dump(case, file, indent=1)
        if played and self.call([self.program, "check", path], os.path.join(work, "check.log")) == 0:
            self.counts["inlets from planes"] += 1
            return
        self.counts["inlets from planes refused"] += 1
        case.update(json.loads(kept))
        with open(path, "w") as file:
            json.dump(case, file, indent=1)

    @staticmethod
    def is_too_fast(log):
        with open(log, errors="replace") as file:
            return "initial: the Mach number" in file.read()

    def one(self, seed):
        rng = random.Random(seed)
        work = os.path.join(self.options.out, "case-%d" % seed)
        shutil.rmtree(work, ignore_errors=True)
        os.makedirs(work)
        path = os.path.join(work, "case.yaml")
        for _ in range(50):
            share = rng.random()
            kind = self.options.only or ("flow" if share < 0.55 else "phase" if share < 0.8 else "stencil")
            case = DRAWS[kind](rng)
            self.program = os.path.join(self.options.build, "bin", program_of(case))
            with open(path, "w") as file:
                json.dump(case, file, indent=1)
            if self.call([self.program, "check", path], os.path.join(work, "check.log")) == 0:
                break
            self.counts["drawn, but refused"] += 1
        else:
            return "nothing drawn that `gabion check` takes"
        if "lbm" in case and rng.random() < 0.25:
            self.start_from_run(rng, case, path, work)
        elif "lbm" in case and rng.random() < 0.4:
            self.play_plane(rng, case, path, work)
        alone = {"np": 1, "threads": 1, "spares": 0, "set": ["lbm.fused_blocks=1"] if "lbm" in case else [], "injections": [], "stop": None}
        if "lbm" in case and case["lbm"].get("kernel") not in ("vector", "reference"): # these kernels use two fields: no temporal blocking
            alone["set"].append("lbm.temporal_blocking=4")
        first, second = os.path.join(work, "alone"), os.path.join(work, "several")
        code = self.compute(path, first, alone)
        if code == 2 and self.is_too_fast(first + ".log"):  # known only after the equations are solved
            self.counts["starts refused"] += 1
            case["initial"] = {"type": "uniform"}
            with open(path, "w") as file:
                json.dump(case, file, indent=1)
            code = self.compute(path, first, alone)
        if code not in (0, 4):
            return "alone: ended with %s" % code
        for _ in range(20):  # a draw may be invalid for every case
            way = draw_way(rng, case)
            check = [self.program, "check", path]
            for setting in way["set"]:
                check += ["--set", setting]
            if self.call(check, os.path.join(work, "check.log")) == 0:
                break
        other = self.continue_from(path, second, way) if way["stop"] else self.compute(path, second, way)
        if code == 4:
            self.counts["diverged"] += 1
            return None if other == 4 else "diverges alone, ends with %s otherwise" % other
        if other != 0:
            return "ended with %s" % other
        with open(second + ".log", errors="replace") as file:
            if "no progress for" in file.read():
                return "stood still, and was started again"
        self.counts["cases of " + program_of(case)] += 1
        self.counts["cases under local recovery"] += any("[local" in setting for setting in way["set"])
        with open(os.path.join(second, "events.jsonl")) as file:
            self.counts["deaths"] += sum('"fault injection"' in line for line in file)
        return self.compare(first, second, way["stop"])

    def compare(self, first, second, stop):
        sums = []
        for folder in (first, second):
            with open(os.path.join(folder, "summary.json")) as file:
                sums.append(find(json.load(file), "checksum"))
        if not sums[0] or sums[0] != sums[1]:
            return "checksum %s alone, %s otherwise" % tuple(sums)
        files = 0
        for name in sorted(glob.glob(os.path.join(first, "**", "*"), recursive=True)):
            if not name.endswith((".csv", ".png")) and not is_plane(name) and "/fields/tracers_" not in name:
                continue
            other = os.path.join(second, os.path.relpath(name, first))
            if not os.path.exists(other):
                return "no " + os.path.relpath(name, first)
            if not filecmp.cmp(name, other, shallow=False):
                return "another " + os.path.relpath(name, first)
            files += 1
        for name in glob.glob(os.path.join(second, "**", "*"), recursive=True):
            if stop and re.search(r"_%010d\.(png|h5|xdmf)$" % stop, name):  # last state of the stopped run
                continue
            if (name.endswith((".csv", ".png")) or is_plane(name) or "/fields/tracers_" in name) and not os.path.exists(os.path.join(first, os.path.relpath(name, second))):
                return "only of several: " + os.path.relpath(name, second)
        self.counts["tables and pictures compared"] += files
        return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--runs", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--deadline", type=float, default=300)
    parser.add_argument("--stall", type=int, default=60)
    parser.add_argument("--only", choices=DRAWS, help="cases of one kind")
    options = parser.parse_args()
    os.makedirs(options.out, exist_ok=True)
    campaign, bad = Campaign(options), 0
    for seed in range(options.seed, options.seed + options.runs):
        complaint = campaign.one(seed)
        if complaint:
            bad += 1
            print("seed %d: %s (%s)" % (seed, complaint, os.path.join(options.out, "case-%d" % seed)), flush=True)
        else:
            shutil.rmtree(os.path.join(options.out, "case-%d" % seed), ignore_errors=True)
    print("%d cases, %d complaints" % (options.runs, bad))
    for name, count in sorted(campaign.counts.items()):
        print("  %s: %d" % (name, count))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
