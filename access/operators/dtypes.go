package operators

import "github.com/stridebench/stridebench/layouts"

// undefined is the dtype of a tensor of which the profile does not say it.
const undefined = "undefined"

// spellings are the names of element types in profiles: C++ types as PyTorch
// prints them (c10/core/ScalarType.h; compilers differ in those of integers),
// and oneDNN's (dnnl_dt2str).
var spellings = map[string]string{
	"bool":                    "bool",
	"unsigned char":           "uint8",
	"signed char":             "int8",
	"char":                    "int8",
	"short":                   "int16",
	"short int":               "int16",
	"int":                     "int32",
	"long":                    "int64",
	"long int":                "int64",
	"long long":               "int64",
	"__int64":                 "int64",
	"unsigned short":          "uint16",
	"short unsigned int":      "uint16",
	"unsigned int":            "uint32",
	"unsigned long":           "uint64",
	"unsigned long long":      "uint64",
	"long unsigned int":       "uint64",
	"c10::Half":               "float16",
	"float":                   "float32",
	"double":                  "float64",
	"c10::BFloat16":           "bfloat16",
	"c10::complex<c10::Half>": "complex32",
	"c10::complex<float>":     "complex64",
	"c10::complex<double>":    "complex128",
	"c10::Float8_e4m3fn":      "float8_e4m3fn",
	"c10::Float8_e4m3fnuz":    "float8_e4m3fnuz",
	"c10::Float8_e5m2":        "float8_e5m2",
	"c10::Float8_e5m2fnuz":    "float8_e5m2fnuz",
	"c10::Float8_e8m0fnu":     "float8_e8m0fnu",
	"c10::quint8":             "quint8",
	"c10::qint8":              "qint8",
	"c10::qint32":             "qint32",
	"undef":                   undefined,
	"nullptr (uninitialized)": undefined,

	"boolean": "bool",
	"u8":      "uint8",
	"s8":      "int8",
	"s32":     "int32",
	"s64":     "int64",
	"f16":     "float16",
	"bf16":    "bfloat16",
	"f32":     "float32",
	"f64":     "float64",
	"f8_e5m2": "float8_e5m2",
	"f8_e4m3": "float8_e4m3fn",
}

// moreSizes are the sizes in bytes of the types that package layouts does not
// know.
var moreSizes = map[string]int{
	"uint16": 2, "uint32": 4, "uint64": 8, "complex32": 4,
	"float8_e4m3fn": 1, "float8_e4m3fnuz": 1, "float8_e5m2": 1, "float8_e5m2fnuz": 1, "float8_e8m0fnu": 1,
	"quint8": 1, "qint8": 1, "qint32": 4,
}

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
func itemSize(dtype string) int {
	if d, err := layouts.ParseDType(dtype); err == nil {
		return d.Size()
	}
	return moreSizes[dtype]
}
