/**
 * @file  robot_fmui3.h
 * @brief Types and functions of the Functional Mock-up Interface 3.0, as its specification defines them.
 */

#ifndef ROBOT_FMUI3_H
#define ROBOT_FMUI3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef float fmi3Float32;
typedef double fmi3Float64;
typedef int8_t fmi3Int8;
typedef uint8_t fmi3UInt8;
typedef int16_t fmi3Int16;
typedef uint16_t fmi3UInt16;
typedef int32_t fmi3Int32;
typedef uint32_t fmi3UInt32;
typedef int64_t fmi3Int64;
typedef uint64_t fmi3UInt64;
typedef bool fmi3Boolean;
typedef const char *fmi3String;
typedef uint8_t fmi3Byte;
typedef const fmi3Byte *fmi3Binary;
typedef bool fmi3Clock;

typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum { fmi3Independent, fmi3Constant, fmi3Fixed, fmi3Tunable, fmi3Discrete, fmi3Dependent } fmi3DependencyKind;
typedef enum { fmi3IntervalNotYetKnown, fmi3IntervalUnchanged, fmi3IntervalChanged } fmi3IntervalQualifier;

typedef void (*fmi3LogMessageCallback)(fmi3InstanceEnvironment, fmi3Status, fmi3String, fmi3String);
typedef void (*fmi3ClockUpdateCallback)(fmi3InstanceEnvironment);
typedef void (*fmi3IntermediateUpdateCallback)(fmi3InstanceEnvironment, fmi3Float64, fmi3Boolean, fmi3Boolean,
    fmi3Boolean, fmi3Boolean, fmi3Boolean *, fmi3Float64 *);
typedef void (*fmi3LockPreemptionCallback)(void);
typedef void (*fmi3UnlockPreemptionCallback)(void);

/* Linked statically, several units need different names: compile with -DFMI3_FUNCTION_PREFIX=robot_ */
#ifdef FMI3_FUNCTION_PREFIX
#define ROBOT_FMU_PASTE(a, b) a##b
#define ROBOT_FMU_JOIN(a, b)  ROBOT_FMU_PASTE(a, b)
#define ROBOT_FMU_NAME(name)  ROBOT_FMU_JOIN(FMI3_FUNCTION_PREFIX, name)
#else
#define ROBOT_FMU_NAME(name) name
#endif

#if defined(_WIN32)
#define ROBOT_FMU_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define ROBOT_FMU_EXPORT __attribute__((visibility("default")))
#else
#define ROBOT_FMU_EXPORT
#endif

ROBOT_FMU_EXPORT const char *ROBOT_FMU_NAME(fmi3GetVersion)(void);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetDebugLogging)(
    fmi3Instance instance, fmi3Boolean unused1, size_t unused2, const fmi3String *unused3);
ROBOT_FMU_EXPORT fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateModelExchange)(fmi3String name, fmi3String token,
    fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log);
ROBOT_FMU_EXPORT fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateCoSimulation)(fmi3String name, fmi3String token,
    fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode, fmi3Boolean early_return,
    const fmi3ValueReference *intermediate, size_t count, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update);
ROBOT_FMU_EXPORT void ROBOT_FMU_NAME(fmi3FreeInstance)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EnterInitializationMode)(fmi3Instance instance,
    fmi3Boolean has_tolerance, fmi3Float64 tolerance, fmi3Float64 start, fmi3Boolean has_stop, fmi3Float64 stop);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3ExitInitializationMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Terminate)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3Reset)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetFloat64)(
    fmi3Instance instance, const fmi3ValueReference *references, size_t count, fmi3Float64 *values, size_t value_count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetFloat64)(fmi3Instance instance, const fmi3ValueReference *references,
    size_t count, const fmi3Float64 *values, size_t value_count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetFMUState)(fmi3Instance instance, fmi3FMUState *kept);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetFMUState)(fmi3Instance instance, fmi3FMUState kept);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3FreeFMUState)(fmi3Instance instance, fmi3FMUState *kept);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SerializedFMUStateSize)(
    fmi3Instance instance, fmi3FMUState kept, size_t *size);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SerializeFMUState)(
    fmi3Instance instance, fmi3FMUState kept, fmi3Byte *bytes, size_t size);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3DeserializeFMUState)(
    fmi3Instance instance, const fmi3Byte *bytes, size_t size, fmi3FMUState *kept);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetDirectionalDerivative)(fmi3Instance instance,
    const fmi3ValueReference *unknowns, size_t unknown_count, const fmi3ValueReference *knowns, size_t known_count,
    const fmi3Float64 *change, size_t changes, fmi3Float64 *answer, size_t answers);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EnterEventMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EvaluateDiscreteStates)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3UpdateDiscreteStates)(fmi3Instance instance, fmi3Boolean *again,
    fmi3Boolean *terminate, fmi3Boolean *nominals_changed, fmi3Boolean *values_changed, fmi3Boolean *has_next,
    fmi3Float64 *next);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EnterContinuousTimeMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3CompletedIntegratorStep)(
    fmi3Instance instance, fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetTime)(fmi3Instance instance, fmi3Float64 time);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetContinuousStates)(
    fmi3Instance instance, const fmi3Float64 *x, size_t count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStateDerivatives)(
    fmi3Instance instance, fmi3Float64 *values, size_t count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetContinuousStates)(
    fmi3Instance instance, fmi3Float64 *values, size_t count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetEventIndicators)(
    fmi3Instance instance, fmi3Float64 *indicators, size_t count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetNominalsOfContinuousStates)(
    fmi3Instance instance, fmi3Float64 *nominals, size_t count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfEventIndicators)(fmi3Instance instance, size_t *count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfContinuousStates)(fmi3Instance instance, size_t *count);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EnterStepMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetOutputDerivatives)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, const fmi3Int32 *unused3, fmi3Float64 *unused4, size_t unused5);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3DoStep)(fmi3Instance instance, fmi3Float64 now, fmi3Float64 step,
    fmi3Boolean keeps_nothing, fmi3Boolean *event, fmi3Boolean *terminate, fmi3Boolean *early, fmi3Float64 *reached);
ROBOT_FMU_EXPORT fmi3Instance ROBOT_FMU_NAME(fmi3InstantiateScheduledExecution)(fmi3String name, fmi3String token,
    fmi3String resources, fmi3Boolean visible, fmi3Boolean logging, fmi3InstanceEnvironment environment,
    fmi3LogMessageCallback log, fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock,
    fmi3UnlockPreemptionCallback unlock);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, size_t *unused3, fmi3Binary *unused4, size_t unused5);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetBinary)(fmi3Instance instance, const fmi3ValueReference *unused1,
    size_t unused2, const size_t *unused3, const fmi3Binary *unused4, size_t unused5);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Clock *unused3);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetClock)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Clock *unused3);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalDecimal)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, fmi3Float64 *unused3, fmi3IntervalQualifier *unused4);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetIntervalFraction)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4,
    fmi3IntervalQualifier *unused5);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3Float64 *unused3);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetShiftFraction)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, fmi3UInt64 *unused3, fmi3UInt64 *unused4);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetIntervalFraction)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetShiftDecimal)(
    fmi3Instance instance, const fmi3ValueReference *unused1, size_t unused2, const fmi3Float64 *unused3);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3SetShiftFraction)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, const fmi3UInt64 *unused3, const fmi3UInt64 *unused4);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3ActivateModelPartition)(
    fmi3Instance instance, fmi3ValueReference unused1, fmi3Float64 unused2);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3EnterConfigurationMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3ExitConfigurationMode)(fmi3Instance instance);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetNumberOfVariableDependencies)(
    fmi3Instance instance, fmi3ValueReference unused1, size_t *unused2);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetVariableDependencies)(fmi3Instance instance,
    fmi3ValueReference unused1, size_t *unused2, fmi3ValueReference *unused3, size_t *unused4,
    fmi3DependencyKind *unused5, size_t unused6);
ROBOT_FMU_EXPORT fmi3Status ROBOT_FMU_NAME(fmi3GetAdjointDerivative)(fmi3Instance instance,
    const fmi3ValueReference *unused1, size_t unused2, const fmi3ValueReference *unused3, size_t unused4,
    const fmi3Float64 *unused5, size_t unused6, fmi3Float64 *unused7, size_t unused8);

#endif /* ROBOT_FMUI3_H */
