# SPDX-License-Identifier: Apache-2.0
"""Pictures of fields by matplotlib."""
import numpy


def draw(field, path, axis, at, component, level, options):
    import matplotlib

    if path:
        matplotlib.use("Agg", force=False)
    from matplotlib import pyplot

    state = field.state
    if state.dimension == 2:
        values, across = field.on_grid(level), 2
    else:
        across = "xyz".index(axis)
        middle = 0.5 * (state.lower[across] + state.upper[across])
        values = field.slice(axis, middle if at is None else at, level)
    what = field.name
    if values.ndim == 3:
        what += f".{'xyz'[component]}" if component is not None else " (length)"
        values = numpy.sqrt((values**2).sum(axis=2)) if component is None else values[..., component]
    first, second = (i for i in range(3) if i != across)
    extent = (state.lower[first], state.upper[first], state.lower[second], state.upper[second])
    ratio = (extent[3] - extent[2]) / (extent[1] - extent[0])
    size = (8, 8 * ratio + 1.8) if ratio < 0.6 else (6 / max(ratio, 1) + 2, 6 * min(ratio, 1) + 0.8)
    figure, axes = pyplot.subplots(layout="constrained", figsize=size)
    axes.set_facecolor("0.7")  # where there is no fluid
    image = axes.imshow(values, origin="lower", extent=extent, **{"interpolation": "nearest", **options})
    figure.colorbar(image, ax=axes, label=f"{what}{' in ' + field.unit if field.unit else ''}",
                    location="bottom" if ratio < 0.6 else "right")
    axes.set(xlabel="xyz"[first], ylabel="xyz"[second], title=f"step {state.step}, time {state.time:.6g}")
    if path:
        figure.savefig(path, dpi=150)
        pyplot.close(figure)
    return axes
