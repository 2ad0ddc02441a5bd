/* gabion: runs simulations from parameter files. */
#include "apps/driver/flow/flow.h"
#include "apps/driver/solidification/solidification.h"

int main(int argc, char **argv)
{
  static const gab_physics *const physics[] = {&solidification_physics, &flow_physics};
  return driver_main(argc, argv, physics, sizeof physics / sizeof physics[0]);
}
