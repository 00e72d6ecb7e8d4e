#define bool _Bool
#define true 1
#define false 0
#define nullptr ((void *)0)
#define constexpr const
