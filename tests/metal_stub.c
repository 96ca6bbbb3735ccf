/* A stand-in for libobjc and Metal, made from Apple's documented interfaces: enough of the
 * Objective-C runtime to send the messages that bench/metal.py sends.
 *
 * It is as strict as the real one, and stricter: a message that an object does not know, a selector
 * that was not registered and an object that is lent while no pool is open all abort.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum kind { DEVICE = 1, ARRAY, STRING };

struct object {
    enum kind kind;
};

#define SELECTORS 32
static char *selectors[SELECTORS];
static int pools;

/* What the test decides. */
static uint64_t working_set, max_buffer, allocated, unified, default_devices, all_devices;
static const char *forgotten = "";

static struct object device = {DEVICE}, string = {STRING};

void stub_set(uint64_t working, uint64_t buffer, uint64_t held, uint64_t shares)
{
    working_set = working;
    max_buffer = buffer;
    allocated = held;
    unified = shares;
}

void stub_devices(uint64_t by_default, uint64_t of_all)
{
    default_devices = by_default;
    all_devices = of_all;
}

/* Make the device not know a message; "" for none. */
void stub_forget(const char *selector)
{
    forgotten = strdup(selector);
}

int stub_open_pools(void)
{
    return pools;
}

void *sel_registerName(const char *name)
{
    for (int i = 0; i < SELECTORS; i++) {
        if (selectors[i] == NULL)
            selectors[i] = strdup(name);
        if (strcmp(selectors[i], name) == 0)
            return selectors[i];
    }
    abort();
}

static const char *registered(void *selector)
{
    for (int i = 0; i < SELECTORS && selectors[i]; i++)
        if (selectors[i] == selector)
            return selector;
    abort();
}

void *objc_autoreleasePoolPush(void)
{
    pools++;
    return &pools;
}

void objc_autoreleasePoolPop(void *pool)
{
    if (pool != &pools || pools-- == 0)
        abort();
}

static int knows(struct object *self, const char *message)
{
    static const char *by_device[] = {"name", "recommendedMaxWorkingSetSize", "maxBufferLength",
                                      "currentAllocatedSize", "hasUnifiedMemory", NULL};
    static const char *by_array[] = {"count", "objectAtIndex:", NULL};
    static const char *by_string[] = {"UTF8String", NULL};
    const char **known = self->kind == DEVICE ? by_device : self->kind == ARRAY ? by_array : by_string;
    if (self->kind == DEVICE && strcmp(message, forgotten) == 0)
        return 0;
    for (; *known; known++)
        if (strcmp(*known, message) == 0)
            return 1;
    return 0;
}

/* A BOOL is one byte: what else is in the register is nobody's business. */
static uint64_t as_bool(int truth)
{
    return UINT64_C(0xfffffffffffff100) | (truth != 0);
}

uint64_t objc_msgSend(struct object *self, void *selector, uint64_t argument)
{
    const char *message = registered(selector);
    if (strcmp(message, "respondsToSelector:") == 0)
        return as_bool(knows(self, registered((void *)argument)));
    if (!knows(self, message))
        abort();
    if (strcmp(message, "recommendedMaxWorkingSetSize") == 0)
        return working_set;
    if (strcmp(message, "maxBufferLength") == 0)
        return max_buffer;
    if (strcmp(message, "currentAllocatedSize") == 0)
        return allocated;
    if (strcmp(message, "hasUnifiedMemory") == 0)
        return as_bool((int)unified);
    if (strcmp(message, "count") == 0)
        return all_devices;
    if (strcmp(message, "objectAtIndex:") == 0)
        return argument < all_devices ? (uintptr_t)&device : (abort(), 0);
    if (strcmp(message, "UTF8String") == 0)
        return (uintptr_t) "Apple M1";
    return pools ? (uintptr_t)&string : (abort(), 0); /* name */
}

#ifndef WITHOUT_METAL
void *MTLCreateSystemDefaultDevice(void)
{
    return default_devices ? &device : NULL;
}

void *MTLCopyAllDevices(void)
{
    static struct object array = {ARRAY};
    return &array;
}
#endif
