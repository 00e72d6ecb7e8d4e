#pragma once
#define complex _Complex
extern const float _Complex _Complex_I;
#define I _Complex_I
