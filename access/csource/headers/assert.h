#undef assert
#ifdef NDEBUG
#define assert(x) ((void)0)
#else
#define assert(x) ((void)!(x))
#endif
#undef static_assert
#define static_assert _Static_assert
