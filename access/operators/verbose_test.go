package operators

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestVerbose: reorders as oneDNN's versions write them.
func TestVerbose(t *testing.T) {
	for name, test := range map[string]struct {
		lines string
		want  []string
	}{
		"2.6, with what else a program prints": {`hello
onednn_verbose,info,oneDNN v2.6.3 (commit N/A)
onednn_verbose,info,cpu,runtime:OpenMP,nthr:1
onednn_verbose,info,prim_template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32:p:blocked:ABcd16b16a:f0,attr-scratchpad:user ,,24x16x3x3,0.00390625
epoch 1: onednn_verbose,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:abcd:f0 dst_f32:p:blocked:ABcd16b16a:f0,attr-scratchpad:user ,,24x16x3x3,0.001
onednn_verbose,create:cache_miss,cpu,reorder,jit:blk,undef,src_f32::blocked:aBcd16b:f0 dst_f32::blocked:abcd:f0,attr-scratchpad:user ,,2x16x32x32,0.03
`, []string{"2x copy reorder: input [24 16 3 3][]abcd, output [24 16 3 3][]ABcd16b16a; 55296 B"}},
		"no template": {"dnnl_verbose,exec,cpu,reorder,jit:blk,undef,src_f32::blocked:abcd:f0 " +
			"dst_bf16::blocked:aBcd8b:f0,,,2x16x4x4,0.5\n",
			[]string{"1x copy reorder: input [2 16 4 4][]abcd, output [2 16 4 4][]aBcd8b; 3072 B"}},
		"timestamps": {`onednn_verbose,info,prim_template:timestamp,operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,1795288431473.539062,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:ab:f0 dst_f32::blocked:ba:f0,,,3x4,0.002`,
			[]string{"1x copy reorder: input [3 4][]ab, output [3 4][]ba; 96 B"}},
		"3.x, of its own component": {`onednn_verbose,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,graph,info,template:operation,engine,partition_id,partition_kind,op_names,data_formats,logical_tensors,fpmath_mode,backend,exec_time
onednn_verbose,primitive,exec,cpu,reorder,jit:uni,undef,src_f32::blocked:acdb::f0 dst_f32::blocked:abcd::f0,,,1x32x56x96,0.4
onednn_verbose,primitive,exec:check,primitive,unused primitive execution argument (4113),src/common/primitive_exec_types.cpp:74`,
			[]string{"1x copy reorder: input [1 32 56 96][]acdb, output [1 32 56 96][]abcd; " +
				"1376256 B"}},
		"v1, strides and compensation": {`onednn_verbose,v1,primitive,info,template:operation,engine,primitive,implementation,prop_kind,memory_descriptors,attributes,auxiliary,problem_desc,exec_time
onednn_verbose,v1,primitive,exec,cpu,reorder,jit:uni,undef,src:f32::blocked:ab:40x1:f0 dst:s8:p:blocked:BA4b16a4b::f9:s8m1:zpm1,attr-scales:src0:0:f32+dst:0:f32,,30x20,0.0055
onednn_verbose,v1,1693533460193.346924,primitive,exec,gpu:0,reorder,jit:uni,undef,src:bf16:a:blocked:ab::f0 dst:undef::undef:::,,,30x20,0.0055`,
			[]string{"1x copy reorder: input [30 20][]ab, output [30 20][]BA4b16a4b; 3000 B",
				"1x copy reorder: input [30 20][]ab, output [30 20][]undef; 1200 B"}},
		"another template": {`onednn_verbose,info,prim_template:operation,primitive,memory_descriptors,problem_desc,exec_time,extra
onednn_verbose,exec,reorder,src_u8::blocked:ab:f0 dst_u8::blocked:ba:f0,3x4,1,x`,
			[]string{"1x copy reorder: input [3 4][]ab, output [3 4][]ba; 24 B"}},
	} {
		p := read(t, test.lines)
		var got []string
		for _, op := range p.Operators {
			got = append(got, describe(op))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s:\n%s", name, diff)
		}
		if len(p.Skipped)+len(p.Warnings) > 0 {
			t.Errorf("%s: %+v", name, p)
		}
	}
}

// TestVerboseSkipped: lines that are no reorder that can be read are counted.
func TestVerboseSkipped(t *testing.T) {
	line := "onednn_verbose,exec,cpu,reorder,jit:uni,undef,%s,,,%s,0.5\n"
	good := "src_f32::blocked:ab:f0 dst_f32::blocked:ba:f0"
	p := read(t, fmt.Sprintf(line, good, "3x4")+
		"onednn_verbose,exec,cpu,convolution,jit:avx2,forward_training,src_f32::blocked:abcd:f0,,alg:convolution_direct,mb2,0.09\n"+
		"onednn_verbose,exec,cpu,reorder,jit:uni\n"+
		fmt.Sprintf(line, good, "3x*")+
		fmt.Sprintf(line, good, "-3x4")+
		fmt.Sprintf(line, good, "4000000000x4000000000x10")+
		fmt.Sprintf(line, good, "1000000000000000000")+
		fmt.Sprintf(line, good, "")+
		fmt.Sprintf(line, "src_f32::blocked:ab:f0", "3x4")+
		fmt.Sprintf(line, "srcf32 dst", "3x4")+
		fmt.Sprintf(line, "src_f32:: dst_f32", "3x4"))
	calls := 0
	for _, s := range p.Skipped {
		calls += s.Calls
	}
	if p.Calls != 11 || calls != 10 || len(p.Operators) != 1 {
		t.Errorf("%d calls, skipped %d: %+v", p.Calls, calls, p.Skipped)
	}
	cut := fmt.Sprintf(line, good, "3x4") + "onednn_verbose," + strings.Repeat("x", maxLine+1)
	p = read(t, cut)
	if p.Calls != 1 || len(p.Warnings) != 1 || !strings.Contains(p.Warnings[0],
		"cut short or broken (a line of more than 1 MiB)") {
		t.Errorf("%+v", p)
	}
}
