/* SPDX-License-Identifier: Apache-2.0 */
/* Fuzz target: meshes. The first byte of the input chooses the format; the others are the file, which is read, checked, repaired
 * and asked.
 * fuzz-sources: core/base/status.c core/base/buffer.c core/base/hash.c core/base/log.c core/base/timer.c core/base/text/[a-z]*.c
 * fuzz-sources: core/memory/[a-z]*.c core/system/[a-z]*.c lbm/boundaries/mesh/[a-z]*.c
 */
#include "tests/fuzz/fuzz_main.h"

#include "core/memory/memory.h"
#include "lbm/boundaries/mesh/mesh.h"

#include <math.h>
#include <string.h>

#ifndef GAB_LIBFUZZER
#define HEAD           "solid, but binary; as long as a head is: 80 bytes .............................."
#define O              "\0\0\0\0"
#define I              "\0\0\x80\x3f"
#define FACET(a, b, c) O O O a b c "\0\0"
static const fuzz_seed fuzz_seeds[] = {
    FUZZ_SEED("b" HEAD "\4\0\0\0" FACET(O O O, O I O, I O O) FACET(O O O, I O O, O O I)
                  FACET(O O O, O O I, O I O) FACET(I O O, O I O, O O I)),
    FUZZ_SEED(
        "asolid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 0 1 0\nvertex 1 0 0\nendloop\nendfacet\n"
        "facet\nvertex 0 0 0\nvertex 1 0 0\nvertex 0.5 1e-1 1\nendfacet\nendsolid\n"),
    FUZZ_SEED(
        "ov 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\nf -4 -2 -1\nf 1/1 4//2 2/3/4\nf 3 2 4\nf 1 2 3 4\n"),
    FUZZ_SEED(
        "ov 0 0 0\nv 0 1 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\no a\ng b c \nf 1 3 4\nusemtl d\nf 1 4 2\ng\nf 3 2 4\n"),
};
#endif

static void ask(const gab_mesh *mesh)
{
  const double middle[3] = {0.5 * (mesh->lo[0] + mesh->hi[0]), 0.5 * (mesh->lo[1] + mesh->hi[1]),
                            0.5 * (mesh->lo[2] + mesh->hi[2])};
  const double far[3] = {mesh->hi[0] + 1, mesh->hi[1] + 1, mesh->hi[2] + 1};
  double nearest[3], t;
  size_t triangle;
  FUZZ_EXPECT(!(gab_mesh_distance(mesh, middle, nearest, &triangle) < 0));
  FUZZ_EXPECT(triangle < mesh->triangle_count);
  bool on_surface;
  const double beside[3] = {mesh->lo[0] - 1 - fabs(mesh->lo[0]), middle[1], middle[2]};
  FUZZ_EXPECT(gab_mesh_winding(mesh, beside, &on_surface) == 0); /* of a closed surface */
  double lo[3], hi[3], area = 0;
  for (size_t i = 0; i < mesh->groups.name_count; i++) {
    FUZZ_EXPECT(memchr(mesh->groups.name[i], 0, GAB_MESH_NAME) != NULL);
    area += gab_mesh_group_area(mesh, mesh->groups.name[i], lo, hi);
    (void)gab_mesh_is_in_group(mesh, triangle, mesh->groups.name[i]);
  }
  FUZZ_EXPECT(!(area < 0) && gab_mesh_group_area(mesh, "", lo, hi) == 0);
  if (gab_mesh_crossing(mesh, middle, far, &t)) FUZZ_EXPECT(t >= 0 && t <= 1);
  if (gab_mesh_has(mesh, middle)) FUZZ_EXPECT(gab_mesh_state_of(mesh, middle, middle) != GAB_MESH_OUTSIDE);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
  if (size == 0) return 0;
  const gab_mesh_placement plain = {.scale = 1};
  gab_mesh_report report;
  gab_mesh mesh;
  gab_status status = gab_mesh_parse(data + 1, size - 1, data[0] == 'o' ? "m.obj" : "m.stl", &mesh);
  FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_INPUT);
  if (status == GAB_OK) status = gab_mesh_place(&mesh, &plain, "m");
  FUZZ_EXPECT(status == GAB_OK || status == GAB_ERR_INPUT);
  if (status == GAB_OK) {
    FUZZ_EXPECT(gab_mesh_check(&mesh, &report) == GAB_OK);
    FUZZ_EXPECT(gab_mesh_repair(&mesh) == GAB_OK);
    FUZZ_EXPECT(gab_mesh_index(&mesh) == GAB_OK);
    FUZZ_EXPECT(gab_mesh_check_index(&mesh, &report) == GAB_OK);
    ask(&mesh);
  }
  gab_mesh_release(&mesh);
  FUZZ_EXPECT(gab_memory_now(GAB_MEMORY_USE_COUNT) == 0);
  return 0;
}

FUZZ_MAIN
