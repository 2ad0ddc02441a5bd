/* SPDX-License-Identifier: Apache-2.0 */
#include "blockforest/pictures/png_slice.h"
#include "blockforest/output/output_files_impl.h"
#include "blockforest/pictures/png_figure_impl.h"
#include "core/messages/collective.h"

#include <math.h>
#include <string.h>

#define LONG_SIDE     1600 /* samples and pixels of the longer side at most */
#define USUAL_SIDE    1200 /* what enlarging aims at */
#define LEAST_SIDE    800
#define OUTLINE_LEAST 9 /* pixels; the frames of smaller blocks would hide them */

/* The picture is made of *samples*. Their grid comes from the finest level in the slice: one per cell of that
 * level, or every `stride`-th in each direction if that were too many; a sample is drawn as `zoom` x `zoom`
 * pixels. All in integers, so that a sample has one value, whoever owns its block. */
typedef struct sampling {
  int finest;      /* level */
  int64_t fine[2]; /* cells of that level, horizontally and vertically */
  int64_t plane;   /* index of the slice along its normal, in cells of that level */
  int64_t stride;
  int32_t zoom;
  int32_t samples[2];
} sampling;

struct gab_slice {
  gab_forest *forest;
  char *folder, *name;
  gab_quantity quantity;
  gab_component component;
  int axis, across, up; /* normal; horizontal and vertical axis of the picture */
  double position;
  bool fixed_range, outlines;
  const gab_particles *particles;
  gab_outline outlined;
  double range[2];
  gab_slice_layout layout;
};

bool gab_slice_is_built(void) { return gab_canvas_can_save(); }

static double domain_upper(const gab_forest_options *domain, int d)
{
  return domain->origin[d] + (double)((int64_t)domain->grid.roots[d] * domain->cells[d]) * domain->dx;
}

static gab_status check_options(const gab_forest_options *domain, const gab_slice_options *options)
{
  if (!gab_slice_is_built()) {
    GAB_FAIL(GAB_ERR_INPUT, "PNG pictures are asked for, but this Gabion was built without libpng");
  }
  GAB_TRY(gab_quantity_check(options->quantity));
  if (!options->folder) GAB_FAIL(GAB_ERR_ARGUMENT, "a slice needs a folder");
  if (options->axis < 0 || options->axis > 2 || (domain->grid.dimension == 2 && options->axis != 2)) {
    GAB_FAIL(GAB_ERR_INPUT, "slice of %s: axis %d cannot be%s", options->quantity->name, options->axis,
             domain->grid.dimension == 2 ? " in 2D, where it is 2 (z)" : ", only 0 (x), 1 (y), 2 (z)");
  }
  if (options->fixed_range && !(options->range[0] < options->range[1])) {
    GAB_FAIL(GAB_ERR_INPUT, "slice of %s: the range [%g, %g] is empty", options->quantity->name,
             options->range[0], options->range[1]);
  }
  double lower = domain->origin[options->axis], upper = domain_upper(domain, options->axis);
  if (domain->grid.dimension == 3 && !(options->position >= lower && options->position <= upper)) {
    GAB_FAIL(GAB_ERR_INPUT, "slice of %s: %c = %g is outside the domain, which is [%g, %g]",
             options->quantity->name, "xyz"[options->axis], options -> position, lower, upper);
  }
  return GAB_OK;
}

static gab_status fill_in(gab_slice *slice, const gab_slice_options *options)
{
  char label[GAB_OUTPUT_LABEL_CAPACITY], name[2 * GAB_OUTPUT_LABEL_CAPACITY];
  gab_output_scalar_label(options->quantity, options->component, label);
  int dimension = gab_forest_get_options(slice->forest)->grid.dimension;
  if (dimension == 2) snprintf(name, sizeof name, "%s", label);
  else snprintf(name, sizeof name, "%s-%c%g", label, "xyz"[options->axis], options -> position);
  if (options->name) GAB_TRY(gab_output_name_check(options->name));
  GAB_TRY(gab_output_copy_string(options->name ? options->name : name, &slice->name));
  GAB_TRY(gab_output_copy_string(options->folder, &slice->folder));
  slice->quantity = *options->quantity;
  slice->component = options->component;
  slice->axis = options->axis;
  slice->across = options->axis == 0 ? 1 : 0;
  slice->up = options->axis == 2 ? 1 : 2;
  slice->position = options->position;
  slice->fixed_range = options->fixed_range;
  slice->outlines = options->outlines;
  slice->outlined = options->outlined;
  slice->particles = options->particles;
  memcpy(slice->range, options->range, sizeof slice->range);
  return GAB_OK;
}

gab_status gab_slice_create(gab_forest *forest, const gab_slice_options *options, gab_slice **slice)
{
  *slice = NULL;
  GAB_TRY(check_options(gab_forest_get_options(forest), options));
  gab_slice *made;
  GAB_TRY(GAB_NEW(&made, GAB_MEMORY_OTHER));
  made->forest = forest;
  gab_status status = fill_in(made, options);
  if (status != GAB_OK) {
    gab_slice_destroy(&made);
    return status;
  }
  *slice = made;
  return GAB_OK;
}

const char *gab_slice_name(const gab_slice *slice) { return slice->name; }

void gab_slice_destroy(gab_slice **slice)
{
  gab_slice *old = *slice;
  *slice = NULL;
  if (!old) return;
  gab_free(&old->folder);
  gab_free(&old->name);
  gab_free(&old);
}

gab_slice_layout gab_slice_get_layout(const gab_slice *slice) { return slice->layout; }

/* ---------------------------------------------------------------------------------------- samples */

/* Collective: the finest level counts. */
static gab_status plan_samples(const gab_slice *slice, sampling *plan)
{
  const gab_forest_options *domain = gab_forest_get_options(slice->forest);
  uint64_t finest = 0;
  for (size_t i = 0; i < gab_forest_block_count(slice->forest); i++) {
    int level = gab_block_level(slice->forest, gab_forest_block(slice->forest, i));
    if ((uint64_t)level > finest) finest = (uint64_t)level;
  }
  GAB_TRY(gab_world_max_u64(gab_forest_world(slice->forest), &finest, 1));
  plan->finest = (int)finest;
  const int axes[3] = {slice->across, slice->up, slice->axis};
  int64_t all[3];
  for (int i = 0; i < 3; i++) {
    bool flat = domain->grid.dimension == 2 && axes[i] == 2;
    all[i] = ((int64_t)domain->grid.roots[axes[i]] * domain->cells[axes[i]]) << (flat ? 0 : finest);
  }
  double width = gab_forest_dx(slice->forest, plan->finest);
  plan->plane = (int64_t)floor((slice->position - domain->origin[slice->axis]) / width);
  if (plan->plane >= all[2]) plan->plane = all[2] - 1;
  if (domain->grid.dimension == 2) plan->plane = 0;

  int64_t side = all[0] > all[1] ? all[0] : all[1];
  plan->stride = (side + LONG_SIDE - 1) / LONG_SIDE;
  for (int i = 0; i < 2; i++) {
    plan->fine[i] = all[i];
    plan->samples[i] = (int32_t)((all[i] - plan->stride / 2 + plan->stride - 1) / plan->stride);
    if (plan->samples[i] < 1) plan->samples[i] = 1;
  }
  side = (side + plan->stride - 1) / plan->stride;
  plan->zoom = side < USUAL_SIDE ? (int32_t)(USUAL_SIDE / side) : 1;
  if (side * plan->zoom < LEAST_SIDE) plan->zoom++;
  return GAB_OK;
}

/* First sample whose cell (index * stride + stride / 2) is not before `cell` of the finest level. */
static int32_t sample_from(const sampling *plan, int64_t cell)
{
  int64_t from = cell - plan->stride / 2;
  return from <= 0 ? 0 : (int32_t)((from + plan->stride - 1) / plan->stride);
}

/* The samples of one block, if the slice cuts it. */
typedef struct patch {
  int32_t from[2], size[2]; /* horizontally, vertically (upwards) */
  int32_t level;
} patch;

static bool cut_block(const gab_slice *slice, const sampling *plan, const gab_block *block, patch *cut)
{
  cut->level = gab_block_level(slice->forest, block);
  int shift = plan->finest - cut->level;
  gab_box box = gab_block_cells(slice->forest, block);
  bool flat = gab_forest_get_options(slice->forest)->grid.dimension == 2;
  if (!flat &&
      ((plan->plane >> shift) < box.lo[slice->axis] || (plan->plane >> shift) >= box.hi[slice->axis])) {
    return false;
  }
  const int axes[2] = {slice->across, slice->up};
  for (int i = 0; i < 2; i++) {
    cut->from[i] = sample_from(plan, box.lo[axes[i]] << shift);
    int32_t to = sample_from(plan, box.hi[axes[i]] << shift);
    if (to > plan->samples[i]) to = plan->samples[i];
    cut->size[i] = to - cut->from[i];
    if (cut->size[i] <= 0) return false;
  }
  return true;
}

static void widen(double range[2], double value)
{
  if (value < range[0]) range[0] = value;
  if (value > range[1]) range[1] = value;
}

/* Appends the header and samples of a block, row by row upwards, as float. @param[in] memory  for the values of a block */
static gab_status put_patch(const gab_slice *slice, const sampling *plan, const gab_block *block,
                            const patch *cut, double *memory, gab_buffer *out, double range[2])
{
  const int32_t *cells = gab_forest_get_options(slice->forest)->cells;
  int shift = plan->finest - gab_block_level(slice->forest, block);
  gab_box box = gab_block_cells(slice->forest, block);
  void *place = NULL;
  GAB_TRY(slice->quantity.evaluate(slice->quantity.user, slice->forest, block, memory));
  GAB_TRY(gab_put_bytes(out, cut, sizeof *cut));
  GAB_TRY(gab_buffer_extend(out, (size_t)cut->size[0] * (size_t)cut->size[1] * sizeof(float), &place));
  int64_t at[3];
  at[slice->axis] = gab_forest_get_options(slice->forest)->grid.dimension == 2
                        ? 0
                        : (plan->plane >> shift) - box.lo[slice->axis];
  unsigned char *next = place;
  for (int32_t j = 0; j < cut->size[1]; j++) {
    at[slice->up] = (((cut->from[1] + j) * plan->stride + plan->stride / 2) >> shift) - box.lo[slice->up];
    for (int32_t i = 0; i < cut->size[0]; i++) {
      at[slice->across] =
          (((cut->from[0] + i) * plan->stride + plan->stride / 2) >> shift) - box.lo[slice->across];
      size_t cell = (size_t)((at[2] * cells[1] + at[1]) * cells[0] + at[0]);
      const double *values = memory + cell * (size_t)slice->quantity.components;
      float value = (float)gab_quantity_scalar(&slice->quantity, slice->component, values);
      widen(range, value);
      memcpy(next, &value, sizeof value);
      next += sizeof value;
    }
  }
  return GAB_OK;
}

/* What stands instead of a level in the header of a particle: a pair of doubles follows, samples from the lower left. */
enum { DOTS = -1 };

/* Appends the particles of a block that the slice cuts. */
static gab_status put_dots(const gab_slice *slice, const sampling *plan, const gab_block *block,
                           gab_buffer *out)
{
  const gab_forest_options *domain = gab_forest_get_options(slice->forest);
  const double width = gab_forest_dx(slice->forest, plan->finest);
  const int axes[2] = {slice->across, slice->up};
  const size_t stride = slice->particles ? gab_particles_record_bytes(slice->particles) : 0;
  const int level = gab_block_level(slice->forest, block), shift = plan->finest - level;
  size_t count = 0;
  const char *records = slice->particles ? gab_particles_of(slice->particles, block, &count) : NULL;
  for (size_t i = 0; i < count; i++) {
    const gab_particle *one = (const void *)(records + i * stride);
    const patch dot = {.level = DOTS};
    const double along = (one->at[slice->axis] - domain->origin[slice->axis]) / width;
    if (domain->grid.dimension == 3 && (int64_t)floor(along) >> shift != plan->plane >> shift) continue;
    GAB_TRY(gab_put_bytes(out, &dot, sizeof dot));
    for (int k = 0; k < 2; k++)
      GAB_TRY(gab_put_f64(out, (one->at[axes[k]] - domain->origin[axes[k]]) / width / (double)plan->stride));
  }
  return GAB_OK;
}

static gab_status collect_own(const gab_slice *slice, const sampling *plan, gab_buffer *out, double range[2])
{
  double *values;
  gab_status status =
      GAB_NEW_ARRAY(&values, gab_quantity_block_values(slice->forest, &slice->quantity), GAB_MEMORY_OTHER);
  for (size_t i = 0; i < gab_forest_block_count(slice->forest) && status == GAB_OK; i++) {
    const gab_block *block = gab_forest_block(slice->forest, i);
    patch cut;
    if (!cut_block(slice, plan, block, &cut)) continue;
    status = put_patch(slice, plan, block, &cut, values, out, range);
    if (status == GAB_OK) status = put_dots(slice, plan, block, out);
  }
  gab_free(&values);
  return status;
}

/* ---------------------------------------------------------------------------------------- drawing, on the
 * root */

typedef struct painter {
  const gab_slice *slice;
  const sampling *plan;
  gab_figure figure;
  int32_t seen[GAB_LEGEND_ENTRIES]; /* ranks or levels whose blocks are outlined; ascending */
  size_t seen_count;
  bool more;
  gab_buffer dots; /* of all particles: pixels from the left and from the top, i32 */
} painter;

static void note_outline(painter *painter, int32_t what)
{
  size_t place = 0;
  while (place < painter->seen_count && painter->seen[place] < what) place++;
  if (place < painter->seen_count && painter->seen[place] == what) return;
  painter->more = painter->more || painter->seen_count == GAB_LEGEND_ENTRIES;
  if (place == GAB_LEGEND_ENTRIES) return;
  if (painter->seen_count < GAB_LEGEND_ENTRIES) painter->seen_count++;
  for (size_t i = painter->seen_count - 1; i > place; i--) painter->seen[i] = painter->seen[i - 1];
  painter->seen[place] = what;
}

static gab_status paint_patch(painter *painter, gab_rank from, const patch *cut, gab_reader *samples)
{
  const int32_t zoom = painter->plan->zoom;
  gab_figure *figure = &painter->figure;
  int32_t left = figure->left + cut->from[0] * zoom,
          bottom = figure->top + figure->height - cut->from[1] * zoom;
  for (int32_t j = 0; j < cut->size[1]; j++) {
    for (int32_t i = 0; i < cut->size[0]; i++) {
      float value;
      GAB_TRY(gab_get_bytes(samples, &value, sizeof value));
      gab_canvas_fill(&figure->canvas, left + i * zoom, bottom - (j + 1) * zoom, zoom, zoom,
                      gab_figure_colour(figure, value));
    }
  }
  int32_t width = cut->size[0] * zoom, height = cut->size[1] * zoom;
  int32_t what = painter->slice->outlined == GAB_OUTLINE_LEVEL ? cut->level : from;
  note_outline(painter, what);
  if (painter->slice->outlines && width >= OUTLINE_LEAST && height >= OUTLINE_LEAST) {
    gab_canvas_frame(&figure->canvas, left, bottom - height, width, height, width > 60 && height > 60 ? 2 : 1,
                     gab_colour_of_number(what));
  }
  return GAB_OK;
}

/* Drawn when all blocks are, or those of later ranks would hide some. */
static gab_status take_dot(painter *painter, gab_reader *in)
{
  const int32_t zoom = painter->plan->zoom;
  const gab_figure *figure = &painter->figure;
  double place[2];
  GAB_TRY(gab_get_f64s(in, place, 2));
  const int32_t left = figure->left + (int32_t)floor(place[0] * zoom);
  const int32_t top = figure->top + figure->height - 1 - (int32_t)floor(place[1] * zoom);
  GAB_TRY(gab_put_i32(&painter->dots, left));
  return gab_put_i32(&painter->dots, top);
}

/* White on black: visible on all colours. */
static void paint_dots(painter *painter)
{
  const gab_rgb colours[2] = {{0, 0, 0}, {255, 255, 255}};
  for (int pass = 0; pass < 2; pass++) {
    gab_reader in = gab_reader_of_buffer(&painter->dots);
    int32_t left, top;
    while (gab_get_i32(&in, &left) == GAB_OK && gab_get_i32(&in, &top) == GAB_OK)
      gab_canvas_fill(&painter->figure.canvas, left - 2 + pass, top - 2 + pass, 5 - 2 * pass, 5 - 2 * pass,
                      colours[pass]);
  }
}

static gab_status paint_part(void *user, gab_rank from, gab_reader bytes)
{
  painter *painter = user;
  if (!painter->figure.canvas.pixels || gab_reader_left(&bytes) == 0) return GAB_OK;
  while (gab_reader_left(&bytes)) {
    patch cut;
    GAB_TRY(gab_get_bytes(&bytes, &cut, sizeof cut));
    GAB_TRY(cut.level == DOTS ? take_dot(painter, &bytes) : paint_patch(painter, from, &cut, &bytes));
  }
  return GAB_OK;
}

/* The range to draw from the one that was found. */
static void choose_range(const gab_slice *slice, const double found[2], double range[2])
{
  range[0] = slice->fixed_range ? slice->range[0] : found[0];
  range[1] = slice->fixed_range ? slice->range[1] : found[1];
  if (slice->fixed_range) return;
  if (!(range[0] <= range[1]) || isinf(range[0]) ||
      isinf(range[1])) { /* nothing but solid cells, or diverged */
    range[0] = 0;
    range[1] = 1;
  }
  if (slice->quantity.diverging && slice->component != GAB_COMPONENT_MAGNITUDE) {
    range[1] = fmax(fabs(range[0]), fabs(range[1]));
    range[0] = -range[1];
  }
  if (range[1] - range[0] <= 1e-6 * fmax(fabs(range[0]), fabs(range[1])) || range[0] == range[1]) {
    double half = range[1] != 0 ? 0.05 * fmax(fabs(range[0]), fabs(range[1])) : 1;
    double middle = 0.5 * (range[0] + range[1]);
    range[0] = middle - half;
    range[1] = middle + half;
  }
}

static void write_subtitle(const gab_slice *slice, gab_step step, double time, const double found[2],
                           char text[256])
{
  int used = snprintf(text, 256, "step %" GAB_PRI_STEP "    t = %.6g", step, time);
  if (gab_forest_get_options(slice->forest)->grid.dimension == 3) {
    used += snprintf(text + used, 256 - (size_t)used, "    %c = %.6g", "xyz"[slice->axis], slice -> position);
  }
  if (found[0] <= found[1]) {
    snprintf(text + used, 256 - (size_t)used, "    min %.4g    max %.4g", found[0], found[1]);
  }
}

static gab_status start_figure(painter *painter, gab_step step, double time, const double found[2])
{
  const gab_slice *slice = painter->slice;
  const gab_forest_options *domain = gab_forest_get_options(slice->forest);
  gab_figure *figure = &painter->figure;
  char label[GAB_OUTPUT_LABEL_CAPACITY], title[2 * GAB_OUTPUT_LABEL_CAPACITY + 24], subtitle[256];
  gab_output_scalar_label(&slice->quantity, slice->component, label);
  bool has_unit = slice->quantity.unit && slice->quantity.unit[0];
  bool is_norm = slice->quantity.components == 3 && slice->component == GAB_COMPONENT_MAGNITUDE;
  snprintf(title, sizeof title, "%s%s%s%.*s%s", label, is_norm ? " magnitude" : "", has_unit ? " [" : "",
           GAB_OUTPUT_LABEL_CAPACITY, has_unit ? slice->quantity.unit : "", has_unit ? "]" : "");
  write_subtitle(slice, step, time, found, subtitle);
  figure->width = painter->plan->samples[0] * painter->plan->zoom;
  figure->height = painter->plan->samples[1] * painter->plan->zoom;
  const int axes[2] = {slice->across, slice->up};
  for (int i = 0; i < 2; i++) {
    figure->axis[i] = "xyz"[axes[i]];
    figure->lower[i] = domain->origin[axes[i]];
    figure->upper[i] = domain_upper(domain, axes[i]);
  }
  choose_range(slice, found, figure->range);
  figure->diverging = slice->quantity.diverging && slice->component != GAB_COMPONENT_MAGNITUDE;
  figure->title = title;
  figure->subtitle = subtitle;
  gab_status status = gab_figure_create(figure);
  figure->title = figure->subtitle = NULL; /* drawn; the texts end here */
  return status;
}

/* Gathers and draws; the picture is on the root. Collective. */
static gab_status draw(gab_slice *slice, const sampling *plan, const gab_buffer *own, const double found[2],
                       gab_step step, double time)
{
  gab_world *world = gab_forest_world(slice->forest);
  painter painter = {.slice = slice, .plan = plan};
  if (!gab_world_is_root(world)) return gab_world_gather(world, own, paint_part, &painter);

  char path[GAB_OUTPUT_PATH_CAPACITY];
  gab_status status = start_figure(&painter, step, time, found);
  gab_status gathered = gab_world_gather(world, own, paint_part, &painter);
  if (status == GAB_OK) status = gathered;
  if (status == GAB_OK) paint_dots(&painter);
  gab_buffer_release(&painter.dots);
  if (status == GAB_OK && slice->outlines) {
    gab_figure_legend(&painter.figure,
                      slice->outlined == GAB_OUTLINE_LEVEL ? "blocks of level" : "blocks of rank",
                      painter.seen, painter.seen_count, painter.more);
  }
  if (status == GAB_OK) {
    status = gab_output_path(path, "%s/%s_%010" GAB_PRI_STEP ".png", slice->folder, slice->name, step);
  }
  if (status == GAB_OK) status = gab_canvas_save(&painter.figure.canvas, path);
  slice->layout = (gab_slice_layout){painter.figure.left,
                                     painter.figure.top,
                                     painter.figure.width,
                                     painter.figure.height,
                                     (double)plan->zoom * (1 << plan->finest) / (double)plan->stride,
                                     {painter.figure.range[0], painter.figure.range[1]}};
  gab_canvas_release(&painter.figure.canvas);
  return gathered == GAB_ERR_FAULT ? gathered : status;
}

gab_status gab_slice_write(gab_slice *slice, gab_step step, double time)
{
  gab_world *world = gab_forest_world(slice->forest);
  sampling plan;
  double found[2] = {INFINITY, -INFINITY};
  gab_buffer own;
  GAB_TRY(gab_world_check(world));
  GAB_TRY(plan_samples(slice, &plan));
  gab_buffer_init(&own, GAB_MEMORY_MESSAGE);
  gab_status status = gab_world_reduce_status(world, collect_own(slice, &plan, &own, found));
  if (status == GAB_OK) status = gab_world_min_f64(world, &found[0], 1);
  if (status == GAB_OK) status = gab_world_max_f64(world, &found[1], 1);
  for (int i = 0; i < 2; i++) found[i] += 0.0; /* which of 0 and -0 is found depends on the processes */
  if (status == GAB_OK) status = gab_world_reduce_status(world, draw(slice, &plan, &own, found, step, time));
  gab_buffer_release(&own);
  return status;
}
