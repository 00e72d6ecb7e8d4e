// Whether two fields are read apart or together, and along which loop, as exercises of textbooks ask.
//
//	bench sim --program docs/example/fields.c --function columns --D1 1024,1,16 --LL 4096,4,64 --steps 8
struct point { int x, y; };
struct point grid[16][16];
int sum;

void apart(void) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      sum += grid[i][j].x;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++)
      sum += grid[i][j].y;
}

void columns(void) {
  for (int j = 0; j < 16; j++)
    for (int i = 0; i < 16; i++) {
      sum += grid[i][j].x;
      sum += grid[i][j].y;
    }
}

void rows(void) {
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 16; j++) {
      sum += grid[i][j].x;
      sum += grid[i][j].y;
    }
}
