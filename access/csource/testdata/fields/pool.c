float in[2][8][8], out[2][4][4]; int arg[2][4][4];
void kernel(void) { for (int c = 0; c < 2; c++) for (int y = 0; y < 4; y++) for (int x = 0; x < 4; x++) { float best = -1e30f; int at = 0; for (int j = 0; j < 2; j++) for (int i = 0; i < 2; i++) { float v = in[c][2 * y + j][2 * x + i]; at = v > best ? 2 * j + i : at; best = v > best ? v : best; } out[c][y][x] = best; arg[c][y][x] = at; } }
