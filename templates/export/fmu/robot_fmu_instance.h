/* Part of robot_fmui2.c and robot_fmui3.c: memory of instances, and the states that a host keeps. */
#ifndef ROBOT_FMU_INSTANCE_H
#define ROBOT_FMU_INSTANCE_H

#include "robot_fmu.h"

#include <stdlib.h>
#include <string.h>

typedef void (*robot_fmu_logger_t)(void); /* the host's, of the type that its version has */

typedef struct {
    robot_fmu_t fmu;
    robot_fmu_logger_t log;
    void *environment;
    char *name;
} robot_fmu_instance_t;

static void robot_fmu_free(robot_fmu_instance_t *instance)
{
    if (instance != NULL) {
        free(instance->name);
        free(instance);
    }
}

static robot_fmu_instance_t *robot_fmu_allocate(const char *name, robot_fmu_logger_t log, void *environment)
{
    robot_fmu_instance_t *instance = calloc(1u, sizeof *instance);
    char *const own = (instance != NULL) ? malloc(strlen(name) + 1u) : NULL;
    if (own != NULL) {
        instance->name = strcpy(own, name);
        instance->log = log;
        instance->environment = environment;
        robot_fmu_reset(&instance->fmu);
    } else {
        free(instance);
        instance = NULL;
    }
    return instance;
}

/* Before initialization: tolerance and start time [s]. */
static void robot_fmu_start(robot_fmu_instance_t *own, int has_tolerance, double tolerance, double start)
{
    if (has_tolerance && (tolerance > 0.0)) {
        own->fmu.state.tolerance = tolerance;
    }
    robot_fmu_set_time(&own->fmu, start);
}

static int robot_fmu_set_states(robot_fmu_instance_t *own, const double *x, size_t count)
{
    const int status = (count == ROBOT_FMU_STATES) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
    own->fmu.problem = "another number of states was set";
    if (status == ROBOT_FMU_OK) {
        memcpy(&own->fmu.state.v[ROBOT_FMU_Q], x, count * sizeof *x);
        own->fmu.state.stale = 1;
    }
    return status;
}

/* The states, or their derivatives: as many variables from the first on. */
static int robot_fmu_get_states(robot_fmu_instance_t *own, unsigned int first, double *values, size_t count)
{
    int status = (count == ROBOT_FMU_STATES) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
    own->fmu.problem = "another number of states was asked for";
    for (unsigned int i = 0u; (i < count) && (status == ROBOT_FMU_OK); ++i) {
        const unsigned int reference = first + i;
        status = robot_fmu_get(&own->fmu, &reference, 1u, &values[i]);
    }
    return status;
}

/* Bytes into *kept, which is made where there is none. */
static int robot_fmu_copy(robot_fmu_instance_t *own, const void *bytes, void **kept)
{
    *kept = (*kept != NULL) ? *kept : malloc(sizeof(robot_fmu_state_t));
    own->fmu.problem = "no memory for a state";
    if (*kept != NULL) {
        memcpy(*kept, bytes, sizeof(robot_fmu_state_t));
    }
    return (*kept != NULL) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
}

static int robot_fmu_keep(robot_fmu_instance_t *own, void **kept)
{
    return robot_fmu_copy(own, &own->fmu.state, kept);
}

/* Put a kept state back; parameters follow it. */
static int robot_fmu_restore(robot_fmu_instance_t *own, const void *kept)
{
    memcpy(&own->fmu.state, kept, sizeof own->fmu.state);
    return robot_fmu_set(&own->fmu, NULL, 0u, NULL);
}

static int robot_fmu_serialize(robot_fmu_instance_t *own, const void *kept, void *bytes, size_t size)
{
    const int status = (size == sizeof(robot_fmu_state_t)) ? ROBOT_FMU_OK : ROBOT_FMU_FAILED;
    own->fmu.problem = "a state was serialized into memory of another size";
    if (status == ROBOT_FMU_OK) {
        memcpy(bytes, kept, size);
    }
    return status;
}

static int robot_fmu_deserialize(robot_fmu_instance_t *own, const void *bytes, size_t size, void **kept)
{
    const size_t named = sizeof own->fmu.state.unit;
    if ((size != sizeof(robot_fmu_state_t)) || (memcmp(bytes, own->fmu.state.unit, named) != 0)) {
        own->fmu.problem = "these bytes are no state of this unit";
        return ROBOT_FMU_FAILED;
    }
    return robot_fmu_copy(own, bytes, kept);
}

#endif /* ROBOT_FMU_INSTANCE_H */
