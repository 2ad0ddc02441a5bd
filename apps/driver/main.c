/* gabion: runs simulations from parameter files. */
#include "apps/driver/physics.h"

int main(int argc, char **argv)
{
  static const gab_physics *const physics[] = {&gab_physics_solidification, &gab_physics_flow};
  return gab_app_main(argc, argv, physics, sizeof physics / sizeof physics[0]);
}
