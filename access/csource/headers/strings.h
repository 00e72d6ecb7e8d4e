#pragma once
int strcasecmp(const char *, const char *);
