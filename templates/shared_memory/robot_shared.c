/**
 * @file  robot_shared.c
 * @brief Shared memory, documented in robot_shared.h.
 */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* locks of open files */
#endif

#include "robot_shared.h"

#include "robot_shared_values.h"

/* ---- the block */

void robot_shared_format(robot_shared_block_t *block)
{
    block->version = ROBOT_SHARED_VERSION;
    block->bytes = (uint32_t)sizeof(*block);
    block->nq = (uint32_t)ROBOT_SHARED_NQ;
    block->real_bytes = (uint32_t)sizeof(robot_scalar_t);
    block->places = ROBOT_SHARED_PLACES;
    block->meaning[0] = ROBOT_SHARED_MEANING_0;
    block->meaning[1] = ROBOT_SHARED_MEANING_1;
    block->loop_process = block->robot_process = 0u;
    block->command_given = block->state_given = 0u;
    block->command_number = block->state_number = 0u;
    ROBOT_SHARED_STORE(&block->magic, ROBOT_SHARED_MAGIC);
}

/* Whether the numbers in a block mean what this side means. */
static int robot_shared_check(robot_shared_block_t *block)
{
    const int is_same = (block->version == ROBOT_SHARED_VERSION) && (block->bytes == (uint32_t)sizeof(*block))
                        && (block->nq == (uint32_t)ROBOT_SHARED_NQ)
                        && (block->real_bytes == (uint32_t)sizeof(robot_scalar_t))
                        && (block->places == ROBOT_SHARED_PLACES) && (block->meaning[0] == ROBOT_SHARED_MEANING_0)
                        && (block->meaning[1] == ROBOT_SHARED_MEANING_1);
    if (ROBOT_SHARED_LOAD(&block->magic) != ROBOT_SHARED_MAGIC) {
        return ROBOT_SHARED_ERROR_FOREIGN;
    }
    return is_same ? ROBOT_SHARED_OK : ROBOT_SHARED_ERROR_MISMATCH;
}

/* What the side said before is not said any more, and what the other side said before is not news. */
static void robot_shared_begin(robot_shared_t *end, robot_shared_block_t *block, uint32_t process)
{
    end->block = block;
    end->started = end->stale = end->other = 0u;
    if (end->side == ROBOT_SHARED_LOOP) {
        ROBOT_SHARED_STORE(&block->command_given, 0u);
        ROBOT_SHARED_STORE(&block->loop_process, process);
        end->last = ROBOT_SHARED_LOAD(&block->state_number);
    } else {
        ROBOT_SHARED_STORE(&block->state_given, 0u);
        ROBOT_SHARED_STORE(&block->robot_process, process);
        end->last = ROBOT_SHARED_LOAD(&block->command_number) - 1u; /* a command that is there is new to this robot */
    }
}

int robot_shared_attach(robot_shared_t *end, robot_shared_block_t *block, int32_t side)
{
    const int status = robot_shared_check(block);
    end->block = 0;
    end->side = side;
    end->file = -1;
    end->stale_limit = 0u;
    end->name[0] = '\0';
    if (status == ROBOT_SHARED_OK) {
        robot_shared_begin(end, block, 0u);
    }
    return status;
}

#if defined(__unix__) || defined(__APPLE__)
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- POSIX: each side holds a lock on one byte of the object; the system releases it when the process dies */

#if defined(F_OFD_SETLK)
#define ROBOT_SHARED_SETLK F_OFD_SETLK /* belongs to the open file: works between threads of one process, too */
#else
#define ROBOT_SHARED_SETLK F_SETLK
#endif
#define ROBOT_SHARED_BOTH 2 /* sides */

static int robot_shared_lock(int file, short kind, int32_t first, int32_t sides)
{
    struct flock lock = {0};
    lock.l_type = kind;
    lock.l_whence = SEEK_SET;
    lock.l_start = first;
    lock.l_len = sides;
    return fcntl(file, ROBOT_SHARED_SETLK, &lock) == 0;
}

static int robot_shared_system(robot_shared_t *end)
{
    end->error = errno;
    return ROBOT_SHARED_ERROR_SYSTEM;
}

static robot_shared_block_t *robot_shared_map(int file)
{
    void *const memory = mmap(0, sizeof(robot_shared_block_t), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    return (memory == MAP_FAILED) ? 0 : (robot_shared_block_t *)memory;
}

/* Loop: the block behind a file, made anew if it is new, half made, or of another layout that nobody uses. */
static int robot_shared_make(robot_shared_t *end, int64_t size, robot_shared_block_t **block)
{
    int status = ROBOT_SHARED_OK;
    if ((size > 0) && (size < (int64_t)offsetof(robot_shared_block_t, state))) {
        return ROBOT_SHARED_ERROR_FOREIGN; /* too short for a header */
    }
    if (size > 0) {
        *block = robot_shared_map(end->file);
        if (*block == 0) {
            return robot_shared_system(end);
        }
        status = robot_shared_check(*block);
        if ((status == ROBOT_SHARED_OK) && (size == (int64_t)sizeof(**block))) {
            return status;
        }
        const uint32_t magic = (*block)->magic;
        (void)munmap(*block, sizeof(**block));
        if ((magic != ROBOT_SHARED_MAGIC) && ((magic != 0u) || (size != (int64_t)sizeof(**block)))) { /* 0: half made */
            return ROBOT_SHARED_ERROR_FOREIGN;
        }
    }
    if (!robot_shared_lock(end->file, F_WRLCK, ROBOT_SHARED_ROBOT, 1)) {
        return ROBOT_SHARED_ERROR_MISMATCH; /* a robot uses it */
    }
    status = ROBOT_SHARED_OK;
    if ((ftruncate(end->file, 0) != 0) || (ftruncate(end->file, (off_t)sizeof(**block)) != 0)) {
        status = robot_shared_system(end);
    } else {
        *block = robot_shared_map(end->file);
        if (*block == 0) {
            status = robot_shared_system(end);
        } else {
            robot_shared_format(*block);
        }
    }
    (void)robot_shared_lock(end->file, F_UNLCK, ROBOT_SHARED_ROBOT, 1);
    return status;
}

/* Robot: the block behind a file, if a loop has made it. */
static int robot_shared_find(robot_shared_t *end, int64_t size, robot_shared_block_t **block)
{
    if (size == 0) {
        return ROBOT_SHARED_ERROR_ABSENT; /* it is being made */
    }
    if (size < (int64_t)offsetof(robot_shared_block_t, state)) {
        return ROBOT_SHARED_ERROR_FOREIGN;
    }
    if (size < (int64_t)sizeof(**block)) {
        return ROBOT_SHARED_ERROR_MISMATCH;
    }
    *block = robot_shared_map(end->file);
    if (*block == 0) {
        return robot_shared_system(end);
    }
    int status = robot_shared_check(*block);
    if ((*block)->magic == 0u) {
        status = ROBOT_SHARED_ERROR_ABSENT;
    }
    if (status != ROBOT_SHARED_OK) {
        (void)munmap(*block, sizeof(**block));
    }
    return status;
}

/* Who has the side that is wanted, as far as the header says. */
static uint32_t robot_shared_owner(const robot_shared_t *end, int64_t size)
{
    uint32_t process = 0u;
    if (size >= (int64_t)sizeof(robot_shared_block_t)) {
        robot_shared_block_t *const block = robot_shared_map(end->file);
        if (block != 0) {
            process = (end->side == ROBOT_SHARED_LOOP) ? block->loop_process : block->robot_process;
            (void)munmap(block, sizeof(*block));
        }
    }
    return process;
}

/* One attempt; ERROR_ABSENT for the loop's side: the object was removed meanwhile, try again. */
static int robot_shared_try(robot_shared_t *end)
{
    robot_shared_block_t *block = 0;
    struct stat info;
    int status;
    end->file = shm_open(end->name, (end->side == ROBOT_SHARED_LOOP) ? (O_RDWR | O_CREAT) : O_RDWR, 0600);
    if (end->file < 0) {
        return (errno == ENOENT) ? ROBOT_SHARED_ERROR_ABSENT : robot_shared_system(end);
    }
    if (fstat(end->file, &info) != 0) {
        status = robot_shared_system(end);
    } else if (!robot_shared_lock(end->file, F_WRLCK, end->side, 1)) {
        end->other = robot_shared_owner(end, (int64_t)info.st_size);
        status = ROBOT_SHARED_ERROR_BUSY;
    } else if (fstat(end->file, &info) != 0) { /* again: now nobody else changes it */
        status = robot_shared_system(end);
#if defined(__linux__)
    } else if (info.st_nlink == 0) { /* somebody who left removed it between open and lock */
        status = ROBOT_SHARED_ERROR_ABSENT;
#endif
    } else if (end->side == ROBOT_SHARED_LOOP) {
        status = robot_shared_make(end, (int64_t)info.st_size, &block);
    } else {
        status = robot_shared_find(end, (int64_t)info.st_size, &block);
    }
    if (status == ROBOT_SHARED_OK) {
        robot_shared_begin(end, block, (uint32_t)getpid());
    } else {
        (void)close(end->file);
        end->file = -1;
    }
    return status;
}

int robot_shared_open(robot_shared_t *end, const char *name, int32_t side)
{
    uint32_t length = 0;
    int status = ROBOT_SHARED_ERROR_ABSENT;
    end->block = 0;
    end->side = side;
    end->file = -1;
    end->error = 0;
    end->other = 0u;
    end->stale_limit = 0u;
    while ((length < ((uint32_t)sizeof(end->name) - 1u)) && (name[length] != '\0')) {
        end->name[length] = name[length];
        ++length;
    }
    end->name[length] = '\0';
    if ((name[length] != '\0') || (name[0] != '/') || (length < 2u)
        || ((side != ROBOT_SHARED_LOOP) && (side != ROBOT_SHARED_ROBOT))) {
        return ROBOT_SHARED_ERROR_ARGUMENT;
    }
    for (int attempt = 0; (attempt < ROBOT_SHARED_TRIES) && (status == ROBOT_SHARED_ERROR_ABSENT); ++attempt) {
        status = robot_shared_try(end);
        if (side == ROBOT_SHARED_ROBOT) {
            break;
        }
    }
    return status;
}

/* Removes the object if no side is held; the file is open and holds no lock. */
static int robot_shared_unlink(int file, const char *name)
{
    struct stat info;
    if (!robot_shared_lock(file, F_WRLCK, 0, ROBOT_SHARED_BOTH)) {
        return ROBOT_SHARED_ERROR_BUSY;
    }
    if ((fstat(file, &info) == 0) && (info.st_nlink > 0)) { /* else the name is another object's by now */
        (void)shm_unlink(name);
    }
    return ROBOT_SHARED_OK;
}

void robot_shared_leave(robot_shared_t *end)
{
    if ((end->block == 0) || (end->file < 0)) {
        return;
    }
    if (end->side == ROBOT_SHARED_LOOP) {
        ROBOT_SHARED_STORE(&end->block->command_given, 0u);
        ROBOT_SHARED_STORE(&end->block->loop_process, 0u);
    } else {
        ROBOT_SHARED_STORE(&end->block->state_given, 0u);
        ROBOT_SHARED_STORE(&end->block->robot_process, 0u);
    }
    (void)robot_shared_lock(end->file, F_UNLCK, end->side, 1);
    (void)robot_shared_unlink(end->file, end->name);
    (void)close(end->file);
    end->file = -1;
}

void robot_shared_close(robot_shared_t *end)
{
    robot_shared_leave(end);
    if (end->block != 0) {
        (void)munmap(end->block, sizeof(*end->block));
        end->block = 0;
    }
}

int robot_shared_remove(const char *name)
{
    int status = ROBOT_SHARED_ERROR_ABSENT;
    const int file = shm_open(name, O_RDWR, 0);
    if (file >= 0) {
        status = robot_shared_unlink(file, name);
        (void)close(file);
    }
    return status;
}
#endif
