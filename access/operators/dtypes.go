package operators

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/stridebench/stridebench/simcache/explain"
)

const undefined = "undefined"

// dtypes are the element types, with their bytes and their names in profiles: C++ types as PyTorch
// prints them (c10/core/ScalarType.h; compilers differ in integers), and oneDNN's (dnnl_dt2str).
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

// dtypeOf returns the dtype of a name in a profile, as PyTorch spells it in Python. It returns
// unknown names unchanged.
func dtypeOf(name string) string {
	if ours, ok := spellings[name]; ok {
		return ours
	}
	if name == "" {
		return undefined
	}
	return name
}

// weigh counts the bytes of each signature's operands. A Kineto trace has no dtypes for lists of
// tensors: these get the dtype of most bytes.
func (b *bill) weigh(traces []*trace) {
	calls := make([]int, len(b.all))
	for _, t := range traces {
		for i := range t.calls.Len() {
			calls[t.calls.at(i).signature]++
		}
	}
	bytes := map[string]int64{}
	lists := 0
	for i, sig := range b.all {
		unsaid := false
		for _, o := range sig.inputs {
			unsaid = unsaid || o.unsaid()
			bytes[o.DType] = Plus(bytes[o.DType], times(o.Bytes(), calls[i]))
		}
		if unsaid {
			lists += calls[i]
		}
	}
	delete(bytes, undefined)
	most := mostOf(bytes)
	if lists > 0 && most != "" {
		b.profile.Warnings = append(b.profile.Warnings, fmt.Sprintf(
			"a Kineto trace has no dtypes for lists of tensors (%s): %s is assumed, the dtype of "+
				"most bytes", explain.Counted(lists, "call"), most))
	}
	for i := range b.all {
		sig := &b.all[i]
		unread := len(sig.outputs) > 0 && sig.Is(0) == Like
		for j := range sig.inputs {
			if sig.inputs[j].unsaid() && most != "" {
				sig.inputs[j].DType = most
			}
			if !unread {
				sig.bytes = Plus(sig.bytes, sig.inputs[j].moved())
			}
		}
		for _, o := range sig.outputs {
			sig.bytes = Plus(sig.bytes, o.moved())
		}
	}
}

func (o Tensor) unsaid() bool { return o.InList && o.DType == undefined }

// mostOf returns the key of the largest positive value, the first in alphabetical order among
// equals, or "".
func mostOf(values map[string]int64) string {
	var most string
	for key, n := range values {
		if n > values[most] || n == values[most] && n > 0 && key < most {
			most = key
		}
	}
	return most
}
