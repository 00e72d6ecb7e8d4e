package operators

import (
	"strconv"
	"strings"
)

// undefined is the dtype of a tensor of which the profile does not say it.
const undefined = "undefined"

// dtypes are the element types, with their sizes in bytes and their names in profiles: C++ types as
// PyTorch prints them (c10/core/ScalarType.h; compilers differ in those of integers), and oneDNN's
// (dnnl_dt2str).
const dtypes = `
bool 1: bool, boolean
uint8 1: unsigned char, u8
int8 1: signed char, char, s8
int16 2: short, short int
int32 4: int, s32
int64 8: long, long int, long long, __int64, s64
uint16 2: unsigned short, short unsigned int
uint32 4: unsigned int
uint64 8: unsigned long, unsigned long long, long unsigned int
float16 2: c10::Half, f16
float32 4: float, f32
float64 8: double, f64
bfloat16 2: c10::BFloat16, bf16
complex32 4: c10::complex<c10::Half>
complex64 8: c10::complex<float>
complex128 16: c10::complex<double>
float8_e4m3fn 1: c10::Float8_e4m3fn, f8_e4m3
float8_e4m3fnuz 1: c10::Float8_e4m3fnuz
float8_e5m2 1: c10::Float8_e5m2, f8_e5m2
float8_e5m2fnuz 1: c10::Float8_e5m2fnuz
float8_e8m0fnu 1: c10::Float8_e8m0fnu
quint8 1: c10::quint8
qint8 1: c10::qint8
qint32 4: c10::qint32
undefined 0: undef, nullptr (uninitialized)
`

// spellings are the dtypes by their names in profiles, and sizes those of the dtypes.
var spellings, sizes = func() (map[string]string, map[string]int) {
	spellings, sizes := map[string]string{}, map[string]int{}
	for line := range strings.Lines(strings.TrimSpace(dtypes)) {
		ours, theirs, _ := strings.Cut(strings.TrimSpace(line), ": ")
		ours, size, _ := strings.Cut(ours, " ")
		sizes[ours], _ = strconv.Atoi(size)
		for name := range strings.SplitSeq(theirs, ", ") {
			spellings[name] = ours
		}
	}
	return spellings, sizes
}()

// dtypeOf spells a profile's name of an element type as PyTorch does in Python;
// a name that is not known stays as it is.
func dtypeOf(name string) string {
	if ours, ok := spellings[name]; ok {
		return ours
	}
	if name == "" {
		return undefined
	}
	return name
}

// itemSize is the size in bytes of an element of a dtype as dtypeOf spells it,
// 0 if it is not known.
func itemSize(dtype string) int { return sizes[dtype] }
