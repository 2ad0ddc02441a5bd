/* SPDX-License-Identifier: Apache-2.0 */
/** @file program_main.h
 *  @brief The main function of a program with its own time loop.
 *
 *  @code
 *    static gab_status run(gab_world *world, int argc, char **argv) { ... return gab_timeloop_run(loop); }
 *    int main(int argc, char **argv) { return gab_program_main(argc, argv, run); }
 *  @endcode
 *
 *  Stability: stable.
 */
#ifndef GABION_RESILIENCE_PROGRAM_MAIN_H
#define GABION_RESILIENCE_PROGRAM_MAIN_H

#include "core/base/version.h"
#include "core/world/world.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Work of a program in its world. Collective. @param[in] world  borrowed; objects created in it are destroyed before
 *  the return, or live until the process ends @param[in] argc,argv  of main, without the arguments of MPI
 *  @return the final status of the program: GAB_OK, or that of the failed call */
typedef gab_status (*gab_program)(gab_world *world, int argc, char **argv);

/** Creates a world, calls `program` in it, logs the message of a failure, reports the end to the launcher
 *  (gab_report_completion()) and destroys the world. Collective over all processes.
 *  @return the exit code, to be returned by main: gab_status_exit_code() of the program's status, or that of a failure of another process; 1
 *  without a world */
int gab_program_main(int argc, char **argv, gab_program program);
#define gab_program_main(...) GAB_WITH_VERSION(gab_program_main(__VA_ARGS__))

#ifdef __cplusplus
}
#endif
#endif
