#pragma once
extern int errno;
#define ENOMEM 12
#define EINVAL 22
