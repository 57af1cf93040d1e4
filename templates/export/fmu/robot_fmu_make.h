/* Part of robot_fmui2.c and robot_fmui3.c: instances, and calls that are refused. */
#ifndef ROBOT_FMU_MAKE_H
#define ROBOT_FMU_MAKE_H

#include "robot_fmu_instance.h"

static robot_fmu_status_t robot_fmu_refuse(void *instance, const char *problem)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = problem;
    return robot_fmu_answer(own, ROBOT_FMU_FAILED);
}

/* A new instance; NULL, and a message to the host, where its description belongs to another unit. */
static robot_fmu_instance_t *robot_fmu_make(
    const char *name, const char *token, robot_fmu_logger_t log, void *environment)
{
    robot_fmu_instance_t *instance = robot_fmu_allocate(name, log, environment);
    if ((instance != NULL) && (strcmp(token, ROBOT_FMU_UNIT) != 0)) {
        (void)robot_fmu_refuse(instance, "the model description belongs to another unit: expected " ROBOT_FMU_UNIT);
        robot_fmu_free(instance);
        instance = NULL;
    }
    return instance;
}

#endif /* ROBOT_FMU_MAKE_H */
