/**
 * @file  robot_fmui3.c
 * @brief The robot behind the Functional Mock-up Interface 3.0.
 */

#include "robot_fmui3.h"

#include "robot_fmu_instance.h"

/* What the host gets, and is told where a call failed. */
static fmi3Status robot_fmu_answer(void *instance, int status)
{
    const robot_fmu_instance_t *const own = instance;
    if ((status != ROBOT_FMU_OK) && (own->log != NULL)) {
        ((fmi3LogMessageCallback)own->log)(own->environment, fmi3Error, "logStatusError", own->fmu.problem);
    }
    return (status == ROBOT_FMU_OK) ? fmi3OK : fmi3Error;
}

static fmi3Status robot_fmu_refuse(void *instance, const char *problem)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = problem;
    return robot_fmu_answer(own, ROBOT_FMU_FAILED);
}

/* A new instance; NULL, and the host is told, where its description belongs to another unit. */
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

const char *ROBOT_FMU_NAME(fmi3GetVersion)(void)
{
    return "3.0";
}

fmi3Status ROBOT_FMU_NAME(fmi3SetDebugLogging)(
    fmi3Instance instance, fmi3Boolean unused1, size_t unused2, const fmi3String *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)instance;
    return fmi3OK;
}

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)resources;
    (void)visible;
    (void)logging;
    return robot_fmu_make(name, token, (robot_fmu_logger_t)log, environment);
}

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference *intermediate, size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)resources;
    (void)visible;
    (void)logging;
    (void)event_mode;
    (void)early_return;
    (void)intermediate;
    (void)count;
    (void)update;
    return robot_fmu_make(name, token, (robot_fmu_logger_t)log, environment);
}

void ROBOT_FMU_NAME(fmi3FreeInstance)(fmi3Instance instance)
{
    robot_fmu_free(instance);
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterInitializationMode)(fmi3Instance instance, fmi3Boolean has_tolerance,
    fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop)
{
    (void)has_stop;
    (void)stop;
    robot_fmu_start(instance, has_tolerance, tolerance, start);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3ExitInitializationMode)(fmi3Instance instance)
{
    robot_fmu_instance_t *const own = instance;
    return robot_fmu_answer(own, robot_fmu_begin(&own->fmu));
}

fmi3Status ROBOT_FMU_NAME(fmi3Terminate)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3Reset)(fmi3Instance instance)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_reset(&own->fmu);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetFloat64)(
    fmi3Instance instance, const fmi3ValueReference *references, size_t count, fmi3Float64 *values, size_t value_count)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = "fmi3GetFloat64: every variable is one number";
    const int status = (value_count == count) ? robot_fmu_get(&own->fmu, references, count, values) : ROBOT_FMU_FAILED;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference *references, size_t count,
    const fmi3Float64 *values, size_t value_count)
{
    robot_fmu_instance_t *const own = instance;
    own->fmu.problem = "fmi3SetFloat64: every variable is one number";
    const int status = (value_count == count) ? robot_fmu_set(&own->fmu, references, count, values) : ROBOT_FMU_FAILED;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *kept)
{
    return robot_fmu_answer(instance, robot_fmu_keep(instance, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState kept)
{
    return robot_fmu_answer(instance, robot_fmu_restore(instance, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *kept)
{
    (void)instance;
    free(*kept);
    *kept = NULL;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SerializedFMUStateSize)(fmi3Instance instance, fmi3FMUState kept, size_t *size)
{
    (void)instance;
    (void)kept;
    *size = sizeof(robot_fmu_state_t);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SerializeFMUState)(fmi3Instance instance, fmi3FMUState kept, fmi3Byte *bytes, size_t size)
{
    return robot_fmu_answer(instance, robot_fmu_serialize(instance, kept, bytes, size));
}

fmi3Status ROBOT_FMU_NAME(fmi3DeserializeFMUState)(
    fmi3Instance instance, const fmi3Byte *bytes, size_t size, fmi3FMUState *kept)
{
    return robot_fmu_answer(instance, robot_fmu_deserialize(instance, bytes, size, kept));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetDirectionalDerivative)(fmi3Instance instance, const fmi3ValueReference *unknowns,
    size_t unknown_count, const fmi3ValueReference *knowns, size_t known_count, const fmi3Float64 *change,
    size_t changes, fmi3Float64 *answer, size_t answers)
{
    robot_fmu_instance_t *const own = instance;
    if ((changes != known_count) || (answers != unknown_count)) {
        return robot_fmu_refuse(own, "fmi3GetDirectionalDerivative: every variable is one number");
    }
    return robot_fmu_answer(
        own, robot_fmu_directional(&own->fmu, unknowns, unknown_count, knowns, known_count, change, answer));
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterEventMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3EvaluateDiscreteStates)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again, fmi3Boolean *terminate,
    fmi3Boolean *nominals_changed, fmi3Boolean *values_changed, fmi3Boolean *has_next, fmi3Float64 *next)
{
    robot_fmu_instance_t *const own = instance;
    int changed = 0;
    const int status = robot_fmu_event(&own->fmu, &changed);
    *again = false;
    *terminate = status != ROBOT_FMU_OK;
    *nominals_changed = false;
    *values_changed = changed != 0;
    *has_next = false;
    *next = 0.0;
    return robot_fmu_answer(own, status);
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterContinuousTimeMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3CompletedIntegratorStep)(
    fmi3Instance instance, fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    *event = robot_fmu_wants_event(&own->fmu) != 0;
    *terminate = false;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SetTime)(fmi3Instance instance, fmi3Float64 time)
{
    robot_fmu_instance_t *const own = instance;
    robot_fmu_set_time(&own->fmu, time);
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3SetContinuousStates)(fmi3Instance instance, const fmi3Float64 *x, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_set_states(instance, x, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStateDerivatives)(fmi3Instance instance, fmi3Float64 *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_DERIVATIVES, values, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStates)(fmi3Instance instance, fmi3Float64 *values, size_t count)
{
    return robot_fmu_answer(instance, robot_fmu_get_states(instance, ROBOT_FMU_Q, values, count));
}

fmi3Status ROBOT_FMU_NAME(fmi3GetEventIndicators)(fmi3Instance instance, fmi3Float64 *indicators, size_t count)
{
    const robot_fmu_instance_t *const own = instance;
    for (size_t i = 0u; i < count; ++i) {
        indicators[i] = robot_fmu_indicator(&own->fmu);
    }
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNominalsOfContinuousStates)(fmi3Instance instance, fmi3Float64 *nominals, size_t count)
{
    (void)instance;
    for (size_t i = 0u; i < count; ++i) {
        nominals[i] = 1.0;
    }
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = ROBOT_FMU_INDICATORS;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count)
{
    (void)instance;
    *count = ROBOT_FMU_STATES;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterStepMode)(fmi3Instance instance)
{
    (void)instance;
    return fmi3OK;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetOutputDerivatives)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3Int32 *unused3, fmi3Float64 *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetOutputDerivatives: derivatives are variables: der(q), der(qd)");
}

fmi3Status ROBOT_FMU_NAME(fmi3DoStep)(fmi3Instance instance, fmi3Float64 now, fmi3Float64 step,
    fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached)
{
    robot_fmu_instance_t *const own = instance;
    (void)keeps_nothing;
    *event = false;
    *terminate = false;
    *early = false;
    own->fmu.problem = "fmi3DoStep: the step is not positive";
    const int status = (step > 0.0) ? robot_fmu_advance(&own->fmu, now, now + step) : ROBOT_FMU_FAILED;
    *reached = own->fmu.state.v[ROBOT_FMU_TIME];
    return robot_fmu_answer(own, status);
}

fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token, fmi3String resources,
    fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
    fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock, fmi3UnlockPreemptionCallback unlock)
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logging;
    (void)update;
    (void)lock;
    (void)unlock;
    if (log != NULL) {
        log(environment, fmi3Error, "logStatusError",
            "there is no scheduled execution: use model exchange or co-simulation");
    }
    return NULL;
}

fmi3Status ROBOT_FMU_NAME(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2,
    size_t *unused3, fmi3Binary *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetBinary: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2,
    const size_t *unused3, const fmi3Binary *unused4, size_t unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3SetBinary: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Clock *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3GetClock: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Clock *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetClock: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalDecimal)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, fmi3Float64 *unused3, fmi3IntervalQualifier *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3GetIntervalDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4, fmi3IntervalQualifier *unused5)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    return robot_fmu_refuse(instance, "fmi3GetIntervalFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3GetShiftDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetShiftFraction)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3GetShiftFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetIntervalDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3SetIntervalFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    return robot_fmu_refuse(instance, "fmi3SetShiftDecimal: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3SetShiftFraction)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    return robot_fmu_refuse(instance, "fmi3SetShiftFraction: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3ActivateModelPartition)(
    fmi3Instance instance, fmi3ValueReference unused1, fmi3Float64 unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi3ActivateModelPartition: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3EnterConfigurationMode)(fmi3Instance instance)
{
    return robot_fmu_refuse(instance, "fmi3EnterConfigurationMode: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3ExitConfigurationMode)(fmi3Instance instance)
{
    return robot_fmu_refuse(instance, "fmi3ExitConfigurationMode: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfVariableDependencies)(
    fmi3Instance instance, fmi3ValueReference unused1, size_t *unused2)
{
    (void)unused1;
    (void)unused2;
    return robot_fmu_refuse(instance, "fmi3GetNumberOfVariableDependencies: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetVariableDependencies)(fmi3Instance instance, fmi3ValueReference unused1,
    size_t *unused2, fmi3ValueReference *unused3, size_t *unused4, fmi3DependencyKind *unused5, size_t unused6)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    (void)unused6;
    return robot_fmu_refuse(instance, "fmi3GetVariableDependencies: this unit has none");
}

fmi3Status ROBOT_FMU_NAME(fmi3GetAdjointDerivative)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const fmi3ValueReference *unused3, size_t unused4, const fmi3Float64 *unused5, size_t unused6,
    fmi3Float64 *unused7, size_t unused8)
{
    (void)unused1;
    (void)unused2;
    (void)unused3;
    (void)unused4;
    (void)unused5;
    (void)unused6;
    (void)unused7;
    (void)unused8;
    return robot_fmu_refuse(instance, "fmi3GetAdjointDerivative: this unit has none");
}

/* Variables of other types, of which a unit has none. */
#define ROBOT_FMU_OTHER_TYPE(type)                                                                                     \
    ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Get##type)(fmi3Instance instance,                                   \
        const fmi3ValueReference *references, size_t count, fmi3##type *values, size_t value_count);                   \
    ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Set##type)(fmi3Instance instance,                                   \
        const fmi3ValueReference *references, size_t count, const fmi3##type *values, size_t value_count);             \
    fmi3Status ROBOT_FMU_NAME(fmi3Get##type)(fmi3Instance instance, const fmi3ValueReference *references,              \
        size_t count, fmi3##type *values, size_t value_count)                                                          \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return robot_fmu_refuse(instance, "fmi3Get" #type ": all variables are Float64");                              \
    }                                                                                                                  \
    fmi3Status ROBOT_FMU_NAME(fmi3Set##type)(fmi3Instance instance, const fmi3ValueReference *references,              \
        size_t count, const fmi3##type *values, size_t value_count)                                                    \
    {                                                                                                                  \
        (void)references;                                                                                              \
        (void)count;                                                                                                   \
        (void)values;                                                                                                  \
        (void)value_count;                                                                                             \
        return robot_fmu_refuse(instance, "fmi3Set" #type ": all variables are Float64");                              \
    }

ROBOT_FMU_OTHER_TYPE(Float32)
ROBOT_FMU_OTHER_TYPE(Int8)
ROBOT_FMU_OTHER_TYPE(UInt8)
ROBOT_FMU_OTHER_TYPE(Int16)
ROBOT_FMU_OTHER_TYPE(UInt16)
ROBOT_FMU_OTHER_TYPE(Int32)
ROBOT_FMU_OTHER_TYPE(UInt32)
ROBOT_FMU_OTHER_TYPE(Int64)
ROBOT_FMU_OTHER_TYPE(UInt64)
ROBOT_FMU_OTHER_TYPE(Boolean)
ROBOT_FMU_OTHER_TYPE(String)
