/* The same numbers as an array of structs and as a struct of arrays. */
#define N 100000

struct particle { float x, y, z, mass; double energy; char kind; } all[N];
float x[N], mass[N];

float structs(void) {
    float moment = 0;
    for (int i = 0; i < N; i++)
        moment += all[i].mass * all[i].x;
    return moment;
}

float arrays(void) {
    float moment = 0;
    for (int i = 0; i < N; i++)
        moment += mass[i] * x[i];
    return moment;
}
