// Fields of structs of all kinds are where a compiler has them, of its widths.
typedef struct point { float x, y, z; } point;
struct mixed { char c; double d; short s; int i; signed char tail; };
typedef struct { point at[2]; double m[3][2]; struct { char a; long long b; } in; unsigned char last; } body;
union either { char c[12]; double d; struct { short s; int i; } both; };
struct nameless { int before; union { double d; struct { short low; int high; }; }; char behind; };
struct odd { char c[3]; };
point points[20]; struct mixed mixes[7]; body bodies[3][5]; union either eithers[9]; struct nameless unnamed[6]; struct odd odds[11];
struct { char c; double x[20]; short y[3], s; struct { char head; point at[2][5]; } in; union { int i[2]; double d; }; char tail; } one;
double plain[20];
void kernel(void)
{
	for (int i = 0; i < 20; i++)
		plain[i] = points[i].x * points[i].x + points[19 - i].z;
	for (int i = 1; i < 7; i += 2) {
		mixes[i].tail = mixes[i - 1].c + mixes[i].d + mixes[i].s + mixes[6 - i].i;
		(mixes[i]).c = 1;
	}
	for (int i = 0; i < 3; i++)
		for (int j = 0; j < 5; j++) {
			bodies[i][j].last = bodies[i][4 - j].in.b + bodies[i][j].in.a;
			for (int k = 0; k < 3; k++)
				bodies[i][j].m[k][1] = bodies[2 - i][j].m[2 - k][0] + bodies[i][j].at[k > 1 ? 1 : 0].y + bodies[i][j].at[1].z;
		}
	for (int i = 0; i < 9; i++)
		eithers[i].both.i = eithers[i].c[i] + eithers[8 - i].d + eithers[i].both.s;
	for (int i = 0; i < 6; i++)
		unnamed[i].high = unnamed[i].before + unnamed[i].low + unnamed[5 - i].d + unnamed[i].behind;
	for (int i = 0; i < 11; i++)
		odds[i].c[i < 5 ? 2 : 0] = odds[i].c[1];
	for (int i = 0; i < 5; i++) {
		one.x[i] = one.x[19 - i] + one.y[i > 2 ? 2 : i] + one.in.at[1][i].z;
		one.i[1] = (one).in.at[0][4 - i].x;
	}
}
