char text[40], pat[5]; int hits[40];
static int eq(const char *s, const char *p) { int ok = 1; for (int i = 0; i < 5; i++) ok &= s[i] == p[i]; return ok; }
void kernel(void) { for (int i = 0; i + 5 <= 40; i++) hits[i] = eq(text + i, pat); }
