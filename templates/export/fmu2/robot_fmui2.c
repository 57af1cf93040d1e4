/**
 * @file  robot_fmui2.c
 * @brief The robot behind the Functional Mock-up Interface 2.0.
 */

#include "robot_fmui2.h"

#include "robot_fmu_instance.h"

typedef fmi2Status robot_fmu_status_t;
typedef void (*robot_fmu_own_logger_t)(fmi2ComponentEnvironment, fmi2String, fmi2Status, fmi2String, fmi2String, ...);

/* What the host gets, and hears where a call failed. */
static fmi2Status robot_fmu_answer(void *instance, int status)
{
    const robot_fmu_instance_t *const own = instance;
    if ((status != ROBOT_FMU_OK) && (own->log != NULL)) {
        ((robot_fmu_own_logger_t)own->log)(
            own->environment, own->name, fmi2Error, "logStatusError", "%s", own->fmu.problem);
    }
    return (status == ROBOT_FMU_OK) ? fmi2OK : fmi2Error;
}

#include "robot_fmu_make.h"

const char *ROBOT_FMU_NAME(fmi2GetTypesPlatform)(void)
{
    return "default";
}

const char *ROBOT_FMU_NAME(fmi2GetVersion)(void)
{
    return "2.0";
}

fmi2Status ROBOT_FMU_NAME(fmi2SetDebugLogging)(
    fmi2Component instance, fmi2Boolean unused1, size_t unused2, const fmi2String *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)instance;
    return fmi2OK;
}

fmi2Component ROBOT_FMU_NAME(fmi2Instantiate)(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)type;
    (void)resources;
    (void)visible;
    (void)logging;
    return robot_fmu_make(name, token, (robot_fmu_logger_t)functions->logger, functions->componentEnvironment);
}

void ROBOT_FMU_NAME(fmi2FreeInstance)(fmi2Component instance)
{
    robot_fmu_free(instance);
}

fmi2Status ROBOT_FMU_NAME(fmi2SetupExperiment)(fmi2Component instance, fmi2Boolean has_tolerance, fmi2Real tolerance,
    fmi2Real start, fmi2Boolean has_stop, fmi2Real stop)
{
    (void)has_stop;
    (void)stop;
    robot_fmu_start(instance, has_tolerance != 0, tolerance, start);
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2EnterInitializationMode)(fmi2Component instance)
{
    (void)instance;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2ExitInitializationMode)(fmi2Component instance)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(own, robot_fmu_begin(&own->fmu));
}

fmi2Status ROBOT_FMU_NAME(fmi2Terminate)(fmi2Component instance)
{
    (void)instance;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2Reset)(fmi2Component instance)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_reset(&own->fmu);
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2GetReal)(
    fmi2Component instance, const fmi2ValueReference *references, size_t count, fmi2Real *values)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(own, robot_fmu_get(&own->fmu, references, count, values));
}

fmi2Status ROBOT_FMU_NAME(fmi2SetReal)(
    fmi2Component instance, const fmi2ValueReference *references, size_t count, const fmi2Real *values)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(own, robot_fmu_set(&own->fmu, references, count, values));
}

fmi2Status ROBOT_FMU_NAME(fmi2GetFMUstate)(fmi2Component instance, fmi2FMUstate *kept)
{
    return robot_fmu_answer(instance, robot_fmu_keep(instance, kept));
}

fmi2Status ROBOT_FMU_NAME(fmi2SetFMUstate)(fmi2Component instance, fmi2FMUstate kept)
{
    return robot_fmu_answer(instance, robot_fmu_restore(instance, kept));
}

fmi2Status ROBOT_FMU_NAME(fmi2FreeFMUstate)(fmi2Component instance, fmi2FMUstate *kept)
{
    (void)instance;
    free(*kept);
    *kept = NULL;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2SerializedFMUstateSize)(fmi2Component instance, fmi2FMUstate kept, size_t *size)
{
    (void)instance;
    (void)kept;
    *size = sizeof(robot_fmu_state_t);
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2SerializeFMUstate)(
    fmi2Component instance, fmi2FMUstate kept, fmi2Byte *bytes, size_t size)
{
    return robot_fmu_answer(instance, robot_fmu_serialize(instance, kept, bytes, size));
}

fmi2Status ROBOT_FMU_NAME(fmi2DeSerializeFMUstate)(
    fmi2Component instance, const fmi2Byte *bytes, size_t size, fmi2FMUstate *kept)
{
    return robot_fmu_answer(instance, robot_fmu_deserialize(instance, bytes, size, kept));
}

fmi2Status ROBOT_FMU_NAME(fmi2GetDirectionalDerivative)(fmi2Component instance, const fmi2ValueReference *unknowns,
    size_t unknown_count, const fmi2ValueReference *knowns, size_t known_count, const fmi2Real *change,
    fmi2Real *answer)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(
        own, robot_fmu_directional(&own->fmu, unknowns, unknown_count, knowns, known_count, change, answer));
}

fmi2Status ROBOT_FMU_NAME(fmi2EnterEventMode)(fmi2Component instance)
{
    (void)instance;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2NewDiscreteStates)(fmi2Component instance, fmi2EventInfo *info)
{
    robot_fmu_instance_t *const own = instance;
    int changed = 0;
    const int status = robot_fmu_event(&own->fmu, &changed);
    info->newDiscreteStatesNeeded = 0;
    info->terminateSimulation = status != ROBOT_FMU_OK;
    info->nominalsOfContinuousStatesChanged = 0;
    info->valuesOfContinuousStatesChanged = changed;
    info->nextEventTimeDefined = 0;
    info->nextEventTime = 0.0;
    return robot_fmu_answer(own, status);
}

fmi2Status ROBOT_FMU_NAME(fmi2EnterContinuousTimeMode)(fmi2Component instance)
{
    (void)instance;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2CompletedIntegratorStep)(
    fmi2Component instance, fmi2Boolean keeps_nothing, fmi2Boolean *event, fmi2Boolean *terminate)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    *event = robot_fmu_wants_event(&own->fmu);
    *terminate = 0;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2SetTime)(fmi2Component instance, fmi2Real time)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_set_time(&own->fmu, time);
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2SetContinuousStates)(fmi2Component instance, const fmi2Real *x, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_set_states(instance, x, count));
}

fmi2Status ROBOT_FMU_NAME(fmi2GetDerivatives)(fmi2Component instance, fmi2Real *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_DERIVATIVES, values, count));
}

fmi2Status ROBOT_FMU_NAME(fmi2GetContinuousStates)(fmi2Component instance, fmi2Real *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_Q, values, count));
}

fmi2Status ROBOT_FMU_NAME(fmi2GetEventIndicators)(fmi2Component instance, fmi2Real *indicators, size_t count)
{
    const robot_fmu_instance_t *const own = instance;
    for (size_t i = 0u; i < count; ++i) {
        indicators[i] = robot_fmu_indicator(&own->fmu);
    }
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2GetNominalsOfContinuousStates)(fmi2Component instance, fmi2Real *nominals, size_t count)
{
    (void)instance;
    for (size_t i = 0u; i < count; ++i) {
        nominals[i] = 1.0;
    }
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2SetRealInputDerivatives)(fmi2Component instance, const fmi2ValueReference *unused1,
    size_t unused2, const fmi2Integer *unused3, const fmi2Real *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi2SetRealInputDerivatives: inputs are constant during a step");
}

fmi2Status ROBOT_FMU_NAME(fmi2GetRealOutputDerivatives)(fmi2Component instance, const fmi2ValueReference *unused1,
    size_t unused2, const fmi2Integer *unused3, fmi2Real *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi2GetRealOutputDerivatives: derivatives are variables: der(q), der(qd)");
}

fmi2Status ROBOT_FMU_NAME(fmi2DoStep)(fmi2Component instance, fmi2Real now, fmi2Real step, fmi2Boolean keeps_nothing)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    if (!(step > 0.0)) {
        return robot_fmu_refuse(own, "fmi2DoStep: the step is not positive");
    }
    return robot_fmu_answer(own, robot_fmu_advance(&own->fmu, now, now + step));
}

fmi2Status ROBOT_FMU_NAME(fmi2CancelStep)(fmi2Component instance)
{
    return robot_fmu_refuse(instance, "fmi2CancelStep: steps are never pending");
}

fmi2Status ROBOT_FMU_NAME(fmi2GetStatus)(fmi2Component instance, fmi2StatusKind unused1, fmi2Status *unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi2GetStatus: steps are never pending");
}

fmi2Status ROBOT_FMU_NAME(fmi2GetRealStatus)(fmi2Component instance, fmi2StatusKind kind, fmi2Real *value)
{
    const robot_fmu_instance_t *const own = instance;
    if (kind != fmi2LastSuccessfulTime) {
        return robot_fmu_refuse(instance, "fmi2GetRealStatus: only fmi2LastSuccessfulTime is a number");
    }
    *value = own->fmu.state.v[ROBOT_FMU_TIME];
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2GetIntegerStatus)(fmi2Component instance, fmi2StatusKind unused1, fmi2Integer *unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi2GetIntegerStatus: there is none");
}

fmi2Status ROBOT_FMU_NAME(fmi2GetBooleanStatus)(fmi2Component instance, fmi2StatusKind kind, fmi2Boolean *value)
{
    (void)instance;
    (void)kind;
    *value = 0;
    return fmi2OK;
}

fmi2Status ROBOT_FMU_NAME(fmi2GetStringStatus)(fmi2Component instance, fmi2StatusKind unused1, fmi2String *unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi2GetStringStatus: steps are never pending");
}

/* Variables of other types, of which a unit has none. */
#define ROBOT_FMU_OTHER_TYPE(type)                                                                                     \
    ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2Get##type)(                                                         \
        fmi2Component instance, const fmi2ValueReference *references, size_t count, fmi2##type *values);               \
    ROBOT_FMU_EXPORT fmi2Status ROBOT_FMU_NAME(fmi2Set##type)(                                                         \
        fmi2Component instance, const fmi2ValueReference *references, size_t count, const fmi2##type *values);         \
    fmi2Status ROBOT_FMU_NAME(fmi2Get##type)(                                                                          \
        fmi2Component instance, const fmi2ValueReference *references, size_t count, fmi2##type *values)                \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        return robot_fmu_refuse(instance, "fmi2Get" #type ": all variables are Real");                                 \
    }                                                                                                                  \
    fmi2Status ROBOT_FMU_NAME(fmi2Set##type)(                                                                          \
        fmi2Component instance, const fmi2ValueReference *references, size_t count, const fmi2##type *values)          \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        return robot_fmu_refuse(instance, "fmi2Set" #type ": all variables are Real");                                 \
    }

ROBOT_FMU_OTHER_TYPE(Integer)
ROBOT_FMU_OTHER_TYPE(Boolean)
ROBOT_FMU_OTHER_TYPE(String)
