package kubernetes

import (
	"os"
	"strconv"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

// TestJob: the manifest is a Job and nothing that its types do not know, of guaranteed
// QoS on whole CPUs, and says how many pods there are wherever that is asked.
func TestJob(t *testing.T) {
	text, err := os.ReadFile("job.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var job batchv1.Job
	if err := yaml.UnmarshalStrict(text, &job); err != nil {
		t.Fatal(err)
	}
	if job.APIVersion != batchv1.SchemeGroupVersion.String() || job.Kind != "Job" {
		t.Errorf("%s %s", job.APIVersion, job.Kind)
	}
	spec := job.Spec
	if spec.CompletionMode == nil || *spec.CompletionMode != batchv1.IndexedCompletion ||
		spec.Completions == nil || spec.Parallelism == nil ||
		*spec.Completions != *spec.Parallelism {
		t.Fatalf("want an Indexed Job whose pods run at once: %+v", spec)
	}
	pod := spec.Template
	for _, term := range pod.Spec.Affinity.PodAntiAffinity.RequiredDuringSchedulingIgnoredDuringExecution {
		for key, value := range term.LabelSelector.MatchLabels {
			if pod.Labels[key] != value || term.TopologyKey != corev1.LabelHostname {
				t.Errorf("pods of one node do not exclude each other: %+v", term)
			}
		}
	}
	c := pod.Spec.Containers[0]
	for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
		request, limit := c.Resources.Requests[name], c.Resources.Limits[name]
		if request.Cmp(limit) != 0 || request.IsZero() {
			t.Errorf("%s: %v and %v are no guaranteed QoS", name, request, limit)
		}
	}
	if cpu := c.Resources.Requests[corev1.ResourceCPU]; cpu.MilliValue()%1000 != 0 {
		t.Errorf("%v CPUs are not pinned: want whole ones", cpu)
	}
	for _, e := range c.Env {
		if n, err := strconv.Atoi(e.Value); e.Name == "JOB_COMPLETIONS" &&
			(err != nil || n != int(*spec.Completions)) {
			t.Errorf("JOB_COMPLETIONS is %s, completions %d", e.Value, *spec.Completions)
		}
	}
}
