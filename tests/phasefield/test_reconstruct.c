/* SPDX-License-Identifier: Apache-2.0 */
/* gabion-test: timeout=60 labels=quick */
/* Lost data of blocks is rebuilt close to the original: concentrations from phases, phases and chemical potentials
 * from the faces; by metadata images of the forest, too; and growth continues nearly unchanged. Called with the word
 * `table' it prints the errors. */
#include "blockforest/migration/reconstruct.h"
#include "phase_common.h"
#include "table.h"

static gab_world *world;

enum { WIDTH = 36, HEIGHT = 48, EDGE = 12, SOLID = 16, FRONT = 1 };

static void lamellae_state(void *user, const int64_t cell[3], double *phi, double *mu)
{
  (void)user, (void)mu;
  phi[cell[1] < SOLID ? cell[0] / 12 : 3] = 1;
}

static phase_run grown_run(void)
{
  phase_case given = {.dimension = 2, .cells = {WIDTH, HEIGHT, 1}, .block = {EDGE, EDGE, 1}, .dx = 3};
  given.options.thermo = symmetric_eutectic();
  given.options.epsilon = 8;
  equal_interfaces(&given.options, 1, 0.3713);
  given.options.triple = 10;
  given.options.dt = 0.4;
  given.options.interpolation = GAB_INTERPOLATION_CUBIC;
  given.options.temperature = (gab_phasefield_temperature){0.975, 1e-4, 0.01};
  given.options.mu[0] = given.options.mu[1] = 1;
  all_sides(&given.options, GAB_PHASEFIELD_CLOSED);
  given.options.sides[0].kind = given.options.sides[1].kind = GAB_PHASEFIELD_PERIODIC;
  given.options.sides[3] = (gab_phasefield_side){.kind = GAB_PHASEFIELD_RESERVOIR, .mu = {1, 1}};
  given.options.initial = lamellae_state;
  phase_run it = phase_open(world, &given);
  phase_steps(&it, 1500);
  return it;
}

/* Stored data of a block is overwritten, then rebuilt from the known neighbours. */
static void lose(phase_run *it, const gab_block *block, unsigned known)
{
  const gab_phasefield_view view = gab_phasefield_look(it->model, block);
  for (int32_t y = 0; y < EDGE; y++)
    for (int32_t x = 0; x < EDGE; x++) {
      for (int i = 0; i < 2; i++) gab_field_set((gab_field *)(uintptr_t)view.c, x, y, 0, i, NAN);
      for (int a = 0; a < 4 && !(known & GAB_PHASEFIELD_KNOWS_PHI); a++)
        gab_field_set((gab_field *)(uintptr_t)view.phi, x, y, 0, a, NAN);
    }
  REQUIRE_OK(gab_phasefield_reconstruct(it->model, it->forest, block,
                                        gab_block_data(block, gab_phasefield_data(it->model)), known));
}

typedef struct cutting {
  const gab_buffer *image, *metadata_image;
  gab_buffer kept, lost;
  gab_block_id which;
} cutting;

static size_t bare_bytes(const gab_block *block) { return 16 + 13 * gab_block_neighbour_count(block); }

/* Appends the record of a block to one of two: headers of an image and a metadata image have the same length. */
static gab_status cut_record(void *user, gab_block_id id, size_t offset, size_t bytes)
{
  cutting *cut = user;
  return id == cut->which ? GAB_OK : gab_put_bytes(&cut->kept, cut->image->data + offset, bytes);
}

static void begin_part(gab_buffer *part, const gab_buffer *whole, size_t header, uint64_t blocks)
{
  gab_buffer_init(part, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_put_bytes(part, whole->data, header - 8));
  REQUIRE_OK(gab_put_u64(part, blocks));
}

/* One block of the forest is there by its metadata image alone, and is approximated with all that the framework knows. */
static void lose_by_metadata(phase_run *it, gab_block_id which)
{
  gab_buffer image, metadata_image;
  gab_reconstruction report;
  const size_t blocks = gab_forest_block_count(it->forest);
  size_t bare = 0, at = 0, mine = 0;
  gab_buffer_init(&image, GAB_MEMORY_OTHER);
  gab_buffer_init(&metadata_image, GAB_MEMORY_OTHER);
  REQUIRE_OK(gab_forest_pack(it->forest, &image));
  REQUIRE_OK(gab_forest_pack_metadata(it->forest, &metadata_image));
  for (size_t i = 0; i < blocks; i++) {
    const gab_block *block = gab_forest_block(it->forest, i);
    if (gab_block_get_id(block) == which) at = bare, mine = bare_bytes(block);
    bare += bare_bytes(block);
  }
  const size_t header = metadata_image.size - bare;
  cutting cut = {.image = &image, .metadata_image = &metadata_image, .which = which};
  begin_part(&cut.kept, &image, header, blocks - 1);
  begin_part(&cut.lost, &metadata_image, header, 1);
  REQUIRE_OK(gab_forest_visit_image(it->forest, gab_reader_of_buffer(&image), cut_record, &cut));
  REQUIRE_OK(gab_put_bytes(&cut.lost, metadata_image.data + header + at, mine));
  gab_reader kept = gab_reader_of_buffer(&cut.kept), lost = gab_reader_of_buffer(&cut.lost);
  const gab_forest_parts parts = {&kept, &lost, 1, 1};
  REQUIRE_OK(gab_forest_restore_parts(it->forest, &parts, NULL, NULL));
  REQUIRE_OK(gab_forest_reconstruct(it->forest, &report));
  REQUIRE(report.blocks == 1 && report.rounds == 1 && report.blind == 0);
  gab_buffer *all[] = {&image, &metadata_image, &cut.kept, &cut.lost};
  for (int i = 0; i < 4; i++) gab_buffer_release(all[i]);
}

/* The block with the front of the second lamella. */
static const gab_block *front_block(const phase_run *it)
{
  for (size_t i = 0; i < gab_forest_block_count(it->forest); i++) {
    const gab_box place = gab_block_cells(it->forest, gab_forest_block(it->forest, i));
    if (place.lo[0] == EDGE && place.lo[1] == EDGE * FRONT) return gab_forest_block(it->forest, i);
  }
  return NULL;
}

/* Rows of solid in that block, so that there is something to lose. */
static void require_front(phase_run *it)
{
  int64_t front;
  REQUIRE_OK(gab_phasefield_front(it->model, &front));
  if (table_wanted)
    printf("front at row %d of %d to %d\n", (int)front, FRONT * EDGE, FRONT * EDGE + EDGE - 1);
  REQUIRE(front >= FRONT * EDGE + 2 && front < FRONT * EDGE + EDGE - 2);
}

static double solid_of(phase_run *it)
{
  const gab_phasefield_integrals sums = phase_sums(it);
  return sums.cells - sums.fraction[3];
}

/* Mean of |c - c of the other run| in all cells of the block, and the share of cells of another phase. */
static void compare(const phase_run *it, const phase_run *other, double *c, double *phases)
{
  const gab_box place = gab_block_cells(it->forest, front_block(it));
  *c = *phases = 0;
  for (int64_t y = place.lo[1]; y < place.hi[1]; y++)
    for (int64_t x = place.lo[0]; x < place.hi[0]; x++) {
      for (int i = 0; i < 2; i++)
        *c +=
            fabs(phase_value(it, 'c', x, y, 0, i) - phase_value(other, 'c', x, y, 0, i)) / (2 * EDGE * EDGE);
      for (int a = 0; a < 4; a++)
        *phases += 0.5 * fabs(phase_value(it, 'p', x, y, 0, a) - phase_value(other, 'p', x, y, 0, a)) /
                   (EDGE * EDGE);
    }
}

int main(int argc, char **argv)
{
  if (gab_world_create(NULL, NULL, &world) != GAB_OK) return 1;
  table_begin(argc, argv);
  enum { WAYS = 4, BY_METADATA = 3 };
  static const char *const what[] = {"concentrations lost", "phases and concentrations lost",
                                     "all lost, neighbours too", "block lost but for its metadata image"};
  const unsigned known[] = {GAB_PHASEFIELD_KNOWS_PHI, 15U * GAB_PHASEFIELD_KNOWS_FACE_0, 0};
  const double c_tolerance[] = {0.02, 0.04, 0.04, 0.03}; /* of compositions that differ by 0.37 */
  const double phase_tolerance[] = {0, 0.1, 0.15, 0.1};
  phase_run whole = grown_run();
  phase_run runs[WAYS];
  require_front(&whole);
  for (int k = 0; k < WAYS; k++) {
    double c, phases;
    char text[100];
    runs[k] = grown_run();
    if (k == BY_METADATA) lose_by_metadata(&runs[k], gab_block_get_id(front_block(&runs[k])));
    else lose(&runs[k], front_block(&runs[k]), known[k]);
    REQUIRE_OK(gab_phasefield_check_finite(runs[k].model));
    compare(&runs[k], &whole, &c, &phases);
    snprintf(text, sizeof text, "%s: mean error of c in the block", what[k]);
    table_row(text, c, 0, c_tolerance[k]);
    table_row("  share of cells of another phase", phases, 0, phase_tolerance[k]);
  }
  phase_steps(&whole, 1500);
  for (int k = 0; k < WAYS; k++) {
    phase_steps(&runs[k], 1500);
    REQUIRE_OK(gab_phasefield_check_finite(runs[k].model));
    char text[100];
    snprintf(text, sizeof text, "%s: solid after 1500 steps / undisturbed", what[k]);
    table_row(text, solid_of(&runs[k]) / solid_of(&whole), 1, 0.025);
    phase_close(&runs[k]);
  }
  phase_close(&whole);
  gab_world_destroy(&world);
  return table_failures > 0;
}
