// The runtime that bench cc links instead of libtsan. The compiler puts a call before every load
// and store (-fsanitize=thread). Each call writes one word to a ring in memory that is shared with
// bench. decode.go explains the words.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef uint64_t u64;
enum { VERSION = 2, WORDS = 1 << 21, PART = 1 << 14, SPANS = 2048 };
enum { PLACES = 1 << 18, MOST = 60000, CALLS = 64 };
enum { READ, WRITE, MODIFY, LIBRARY = 4 };
enum { PLACE = 1, ALLOC, RANGE, THREADS, FORK, FULL, BY };

// The memory shared with bench is mapped over ring. The program has written words [0, done) modulo
// WORDS; bench has read the words before taken.
static struct shared {
  u64 version, done, taken, published, bias, stack, calls, first, last, spans;
  u64 span[SPANS][2]; // counted code, with its callees; none means all
  u64 word[WORDS];
} __attribute__((aligned(1 << 16))) ring; // nothing else is in its last page

// A place is the code of an access, identified by its call's return address.
static struct place {
  u64 pc;
  u64 id; // in the ring's words; 0 if not yet assigned
  int inside;
} places[PLACES];

static u64 ids, known; // number of places with an id, and of all
static u64 depth; // depth of calls in counted code and its callees
static u64 mask;  // 1 if this call of the function is counted
static u64 all;   // mask && depth: every access is counted now
static u64 called[CALLS], level; // return addresses of the active calls
static int one;   // count only calls first to last
static u64 text, etext; // the program's code; 0 before it reports
extern char __executable_start, __etext;
#define CALLER ((u64)__builtin_return_address(0))
#define QUICK static inline __attribute__((always_inline))
#define SLOW static __attribute__((noinline))

// wait_for_room publishes the written words, and waits for room for another part.
SLOW void wait_for_room(void) {
  __atomic_store_n(&ring.published, ring.done, __ATOMIC_RELEASE);
  while (ring.done - __atomic_load_n(&ring.taken, __ATOMIC_ACQUIRE) > WORDS - 2 * PART)
    usleep(200);
}

QUICK void put(u64 word) {
  u64 n = ring.done;
  ring.word[n % WORDS] = word;
  ring.done = n + 1;
  if (n % PART == 0)
    wait_for_room();
}

static void say(u64 what, u64 a, u64 b, u64 c) {
  u64 words[] = {what, a, b, c};
  for (int i = 0; i < 4; i++)
    put(words[i]);
}

static int within(u64 pc) {
  for (u64 i = 0; i < ring.spans; i++)
    if (pc - ring.bias - ring.span[i][0] < ring.span[i][1] - ring.span[i][0])
      return 1;
  return 0;
}

// stop ends reporting: threads make the order of accesses unknown, or there are too many places.
static void stop(u64 why) {
  if (text && mask | one)
    say(why, 0, 0, 0);
  mask = one = depth = all = 0;
}

QUICK u64 hash(u64 pc) { return pc * 0x9e3779b97f4a7c15 >> 46; }
SLOW struct place *at(u64 pc) {
  static struct place none;
  u64 i = hash(pc);
  while (places[i].pc && places[i].pc != pc)
    i = (i + 1) % PLACES;
  if (places[i].pc)
    return &places[i];
  if (known++ == MOST)
    stop(FULL);
  if (known > MOST)
    return &none;
  places[i].pc = pc;
  places[i].inside = within(pc - 1);
  return &places[i];
}

// counted returns the place of a counted access, with an id, or 0.
static struct place *counted(u64 size, u64 kind, u64 pc) {
  struct place *p = at(pc);
  if (!all && !(mask && p->inside))
    return 0;
  if (!p->id) {
    p->id = ++ids;
    say(PLACE, pc, size, kind);
  }
  return p;
}

SLOW void record_slowly(u64 addr, u64 size, u64 kind, u64 pc) {
  struct place *p = counted(size, kind, pc);
  if (p)
    put(addr | p->id << 48);
}

QUICK void record(u64 addr, u64 size, u64 kind, u64 pc) {
  struct place *p = &places[hash(pc)];
  if (p->pc == pc && p->id && all)
    put(addr | p->id << 48);
  else if (mask)
    record_slowly(addr, size, kind, pc);
}

static void record_range(u64 addr, u64 bytes, u64 kind, u64 pc) {
  struct place *p = bytes ? counted(0, kind & WRITE, pc) : 0;
  if (p)
    say(RANGE, p->id, addr | kind << 48, bytes);
}

void __tsan_func_entry(void *caller) {
  called[level++ % CALLS] = (u64)caller;
  if (!text || !ring.spans)
    return;
  if (depth)
    depth++;
  else if (at(CALLER)->inside) {
    depth = 1;
    ring.calls++;
    if (one)
      mask = ring.calls >= ring.first && ring.calls <= ring.last;
  } else if (within((u64)caller - 1))
    depth = 1;
  all = mask && depth;
}

void __tsan_func_exit(void) {
  level--;
  if (ring.spans && depth && !--depth)
    all = 0, mask &= !one;
}

void __tsan_init(void) {}
#define ACCESS(name, size, kind) \
  void __tsan_##name(void *a) { record((u64)a, size, kind, CALLER); }
#define ACCESSES(n) \
  ACCESS(read##n, n, READ) ACCESS(write##n, n, WRITE) \
  ACCESS(unaligned_read##n, n, READ) ACCESS(unaligned_write##n, n, WRITE)
ACCESSES(1) ACCESSES(2) ACCESSES(4) ACCESSES(8) ACCESSES(16)
ACCESS(vptr_read, 8, READ)

void __tsan_vptr_update(void **a, void *to) { record((u64)a, 8, WRITE, CALLER); }
void __tsan_read_range(void *a, u64 n) { record_range((u64)a, n, READ, CALLER); }
void __tsan_write_range(void *a, u64 n) { record_range((u64)a, n, WRITE, CALLER); }

// Atomic operations, which the compiler leaves to the runtime. All are sequentially consistent.
#define ORDER __ATOMIC_SEQ_CST
#define OPERATION(result, n, name, parameters, kind, does) \
  result __tsan_atomic##n##_##name parameters { \
    record((u64)a, n / 8, kind, CALLER); \
    return does; \
  }
#define FETCH(t, n, op) \
  OPERATION(t, n, fetch_##op, (t *a, t v, int o), MODIFY, __atomic_fetch_##op(a, v, ORDER))
#define EXCHANGE(t, n, name) \
  OPERATION(int, n, compare_exchange_##name, (t *a, t *c, t v, int o, int f), MODIFY, \
            __atomic_compare_exchange_n(a, c, v, 0, ORDER, ORDER))
#define ATOMIC(t, n) \
  OPERATION(t, n, load, (const t *a, int o), READ, __atomic_load_n(a, ORDER)) \
  OPERATION(void, n, store, (t *a, t v, int o), WRITE, __atomic_store_n(a, v, ORDER)) \
  OPERATION(t, n, exchange, (t *a, t v, int o), MODIFY, __atomic_exchange_n(a, v, ORDER)) \
  OPERATION(t, n, compare_exchange_val, (t *a, t c, t v, int o, int f), MODIFY, \
            (__atomic_compare_exchange_n(a, &c, v, 0, ORDER, ORDER), c)) \
  FETCH(t, n, add) FETCH(t, n, sub) FETCH(t, n, and) FETCH(t, n, or) FETCH(t, n, xor) \
  FETCH(t, n, nand) EXCHANGE(t, n, strong) EXCHANGE(t, n, weak)
ATOMIC(uint8_t, 8) ATOMIC(uint16_t, 16) ATOMIC(uint32_t, 32) ATOMIC(uint64_t, 64)
void __tsan_atomic_thread_fence(int o) { __atomic_thread_fence(ORDER); }
void __tsan_atomic_signal_fence(int o) { __atomic_signal_fence(ORDER); }

// Accesses of the C library for the program. Other libraries, whose accesses are not reported, call
// these functions too, also before the runtime is ready.
QUICK int ours(u64 pc) { return pc - text < etext - text; }

void *memset(void *to, int c, size_t n) {
  if (ours(CALLER))
    record_range((u64)to, n, LIBRARY | WRITE, CALLER);
  for (size_t i = 0; i < n; i++)
    ((char *)to)[i] = c;
  return to;
}

void *memmove(void *to, const void *from, size_t n) {
  if (ours(CALLER)) {
    record_range((u64)from, n, LIBRARY | READ, CALLER);
    record_range((u64)to, n, LIBRARY | WRITE, CALLER);
  }
  char *t = to;
  const char *f = from;
  if ((size_t)(t - f) >= n)
    for (size_t i = 0; i < n; i++)
      t[i] = f[i];
  else
    while (n--)
      t[n] = f[n];
  return to;
}

// Newer versions of Clang use other names.
#define NAMED(name) __attribute__((alias(#name)))
void *memcpy(void *, const void *, size_t) NAMED(memmove);
void *__tsan_memcpy(void *, const void *, size_t) NAMED(memmove);
void *__tsan_memmove(void *, const void *, size_t) NAMED(memmove);
void *__tsan_memset(void *, int, size_t) NAMED(memset);

// Allocations of the program, by the place of the call.
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
    *__libc_memalign(size_t, size_t);

static void *given(void *at, size_t n, u64 pc) {
  if (at && n && ours(pc)) {
    u64 l = level + CALLS;
    say(BY, called[(l - 1) % CALLS], called[(l - 2) % CALLS], called[(l - 3) % CALLS]);
    say(BY, called[(l - 4) % CALLS], called[(l - 5) % CALLS], called[(l - 6) % CALLS]);
    say(ALLOC, (u64)at, n, pc);
  }
  return at;
}

void *malloc(size_t n) { return given(__libc_malloc(n), n, CALLER); }
void *calloc(size_t n, size_t m) { return given(__libc_calloc(n, m), n * m, CALLER); }
void *realloc(void *p, size_t n) { return given(__libc_realloc(p, n), n, CALLER); }
void *memalign(size_t to, size_t n) { return given(__libc_memalign(to, n), n, CALLER); }
void *aligned_alloc(size_t, size_t) NAMED(memalign);
int posix_memalign(void **p, size_t to, size_t n) {
  *p = given(__libc_memalign(to, n), n, CALLER);
  return *p ? 0 : 12; // ENOMEM
}

// C++'s operator new.
static void *made(void *p) {
  if (!p)
    abort();
  return p;
}
#define NEW(name) \
  void *name(size_t n) { return made(given(__libc_malloc(n ? n : 1), n, CALLER)); }
#define NEW_ALIGNED(name) \
  void *name(size_t n, size_t to) { return made(given(__libc_memalign(to, n), n, CALLER)); }
NEW(_Znwm) NEW(_Znam) NEW_ALIGNED(_ZnwmSt11align_val_t) NEW_ALIGNED(_ZnamSt11align_val_t)

int pthread_create(pthread_t *t, const pthread_attr_t *a, void *(*run)(void *), void *with) {
  __typeof__(&pthread_create) next = dlsym(RTLD_NEXT, "pthread_create");
  stop(THREADS);
  return next(t, a, run, with);
}

static void forked(void) { say(FORK, 0, 0, 0); }
static void in_child(void) { mask = one = all = text = etext = 0; }

static int first_object(struct dl_phdr_info *info, size_t size, void *bias) {
  *(u64 *)bias = info->dlpi_addr;
  return 1;
}

__attribute__((constructor(101))) static void begin(void) {
  const char *fd = getenv("STRIDEBENCH_ACCESSES");
  if (!fd)
    return;
  int how = MAP_SHARED | MAP_FIXED | MAP_POPULATE;
  void *at = mmap(&ring, sizeof ring, PROT_READ | PROT_WRITE, how, atoi(fd), 0);
  close(atoi(fd));
  unsetenv("STRIDEBENCH_ACCESSES");
  if (at == MAP_FAILED)
    return;
  dl_iterate_phdr(first_object, &ring.bias);
  text = (u64)&__executable_start, etext = (u64)&__etext;
  ring.stack = (u64)&fd;
  one = ring.last != 0;
  depth = !ring.spans;
  mask = !one;
  all = mask && depth;
  pthread_atfork(forked, 0, in_child);
  ring.version = VERSION;
}
