double buf[8], x[400], y[400];
void kernel(void) { int k = 0; while (k < 400) { buf[k % 8] = x[k]; y[k] = buf[(k + 1) % 8]; k++; } unsigned long m = 0; for (int i = 0; i < 300; i++, m++) y[m & 15] += x[i]; int r = 0; for (int i = 0; i < 380; i++) buf[r++ % 8] = x[i]; double *p = x; for (int i = 0; i < 96; i++) buf[(p++ - x) / 12] = 1; }
