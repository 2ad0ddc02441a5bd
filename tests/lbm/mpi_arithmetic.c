/* A state is taken up only by a flow of the same arithmetic, whatever its kernel.
 * gabion-test: np=1 timeout=30 labels=quick uses=lbm */
#include "lbm_common.h"

static flow_case flow_of(gab_precision precision, bool mixed, const gab_collision *collision,
                         const char *kernel)
{
  return (flow_case){
      .dimension = 2,
      .cells = {8, 8, 1},
      .block = {8, 8, 1},
      .options = {
          .precision = precision, .mixed = mixed, .collision = collision, .kernel = kernel, .omega = 1.5}};
}

static gab_status take_up(gab_world *world, const flow_case *from, const flow_case *to)
{
  gab_buffer record;
  gab_buffer_init(&record, GAB_MEMORY_OTHER);
  flow source = flow_open(world, from);
  REQUIRE_OK(gab_lbm_put_arithmetic(source.lbm, &record));
  flow_close(&source);
  flow target = flow_open(world, to);
  gab_reader in = gab_reader_of_buffer(&record);
  gab_status status = gab_lbm_check_arithmetic(target.lbm, &in);
  REQUIRE(gab_reader_left(&in) == 0);
  flow_close(&target);
  gab_buffer_release(&record);
  return status;
}

int main(int argc, char **argv)
{
  gab_world *world;
  REQUIRE_OK(gab_world_create(&argc, &argv, &world));
  const flow_case cases[] = {flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_FLOAT, false, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_FLOAT, true, &gab_collision_trt, NULL),
                             flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_srt, NULL),
                             flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_mrt, NULL)};
  enum { CASES = sizeof cases / sizeof cases[0] };
  for (int i = 0; i < CASES; ++i)
    for (int k = 0; k < CASES; ++k)
      REQUIRE(take_up(world, &cases[i], &cases[k]) == (i == k ? GAB_OK : GAB_ERR_INPUT));
  REQUIRE(take_up(world, &cases[2], &cases[4]) == GAB_ERR_INPUT);
  REQUIRE(strstr(gab_error_message(), "D2Q9/mixed/TRT") && strstr(gab_error_message(), "D2Q9/double/MRT"));
  const flow_case other = flow_of(GAB_PRECISION_DOUBLE, false, &gab_collision_trt, "reference");
  REQUIRE_OK(take_up(world, &cases[0], &other));
  return test_end(&world);
}
