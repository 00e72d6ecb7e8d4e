float in[10][11], out[10][11], spatial[25]; float expf(float);
static float weight(float d, float s) { return expf(-d * d / (2 * s * s)); }
void kernel(void) { for (int y = 2; y < 8; y++) for (int x = 2; x < 9; x++) { float sum = 0, norm = 0; const float c = in[y][x]; int k = 0; for (int j = -2; j <= 2; j++) for (int i = -2; i <= 2; i++) { float v = in[y + j][x + i]; float w = spatial[k++] * weight(v - c, 0.1f); sum += w * v; norm += w; } out[y][x] = sum / norm; } }
