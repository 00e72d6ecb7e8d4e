#pragma once
typedef long time_t;
struct timeval { long tv_sec, tv_usec; };
struct timezone;
int gettimeofday(struct timeval *, struct timezone *);
