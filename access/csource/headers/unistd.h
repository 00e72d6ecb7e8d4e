#pragma once
#include <sys/types.h>
unsigned sleep(unsigned);
