// Bodies that attract each other, by pointers to their structs.
#define N 12
struct vector { double x, y, z; };
typedef struct body { struct vector at, by; double mass; int kind; float trail[4]; } body;
body bodies[N];
double energy[N];

void pointers(void)
{
	for (int i = 0; i < N; i++) {
		body *const a = &bodies[i];
		struct vector *by = &a->by;
		by->x = 0;
		by->y = 0;
		(*by).z = 0;
		for (int j = 0; j < N; j++) {
			const body *b = bodies + j;
			if (i == j)
				continue;
			double dx = b->at.x - a->at.x, dy = b->at.y - a->at.y, dz = (*b).at.z - (*a).at.z;
			double r = dx * dx + dy * dy + dz * dz;
			by->x += b->mass * dx / r;
			by->y += b->mass * dy / r;
			by->z += b->mass * dz / r;
		}
	}
	for (int i = 0; i < N; i++) {
		body *b = bodies + i;
		const struct vector *by = &b->by;
		b->at.x += by->x;
		b->at.y += by->y;
		(&b->at)->z += (&b->by)->z;
		float *trail = b->trail;
		for (int k = 3; k > 0; k--)
			trail[k] = trail[k - 1];
		*trail = b->at.x;
		energy[i] = b->kind * b->mass;
		b->kind++;
	}
	body *first = bodies, *last = &bodies[N - 1];
	first->mass = last->mass + last[-1].mass + first[1].trail[2];
}

void plain(void)
{
	for (int i = 0; i < N; i++) {
		bodies[i].by.x = 0;
		bodies[i].by.y = 0;
		bodies[i].by.z = 0;
		for (int j = 0; j < N; j++) {
			if (i == j)
				continue;
			double dx = bodies[j].at.x - bodies[i].at.x, dy = bodies[j].at.y - bodies[i].at.y, dz = bodies[j].at.z - bodies[i].at.z;
			double r = dx * dx + dy * dy + dz * dz;
			bodies[i].by.x += bodies[j].mass * dx / r;
			bodies[i].by.y += bodies[j].mass * dy / r;
			bodies[i].by.z += bodies[j].mass * dz / r;
		}
	}
	for (int i = 0; i < N; i++) {
		bodies[i].at.x += bodies[i].by.x;
		bodies[i].at.y += bodies[i].by.y;
		bodies[i].at.z += bodies[i].by.z;
		for (int k = 3; k > 0; k--)
			bodies[i].trail[k] = bodies[i].trail[k - 1];
		bodies[i].trail[0] = bodies[i].at.x;
		energy[i] = bodies[i].kind * bodies[i].mass;
		bodies[i].kind++;
	}
	bodies[0].mass = bodies[N - 1].mass + bodies[N - 2].mass + bodies[1].trail[2];
}
