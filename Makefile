# The two commands of a user are `make bench` and `make test`.

BENCHFLAGS ?=
FUZZTIME ?= 30s
OUT ?= out

.PHONY: bench test test-deep lint test-arm64 test-s390x cross compare example gallery fuzz generate generated test-slurm test-kubernetes test-container clean bin/bench

# Time the suite, simulate the same accesses, draw, and say what was found.
bench: bin/bench
	@bin/bench run $(BENCHFLAGS) -o $(OUT)/run.txt >/dev/null
	@bin/bench report $(OUT)/run.txt -o $(OUT)/report
	@echo "results:  $(OUT)/run.txt (go tool benchstat -col /order $(OUT)/run.txt)"

bin/bench:
	go build -o bin/bench ./cmd/bench

# What a change most often breaks, in minutes: all packages, golden data whole, random cases
# in part. CONTRIBUTING.md says what each target proves and how long it takes.
test:
	@raced=$$(go list $(RACED)) && all=$$(go list ./...) && \
	go test -vet=off -ldflags=-w -short -timeout 10m $$(echo "$$all" | grep -vxF "$$raced") && \
	go test -vet=off -ldflags=-w -short -timeout 10m -race $$raced

# Packages with goroutines, or with state that goroutines share. The others that have some are
# raced by test-deep alone: layouts counts who shares a storage, which one test does at a time,
# cmd/bench waits for signals, and to compile what reports draws with takes as long as all these.
RACED += ./access                 # workers wait for one another; all CPUs prepare memory
RACED += ./access/advise          # candidates are simulated side by side
RACED += ./access/bill            # calls of a profile are priced side by side
RACED += ./access/rearrange       # changes are counted side by side
RACED += ./access/session/...     # patterns are simulated while others are timed; progress
RACED += ./access/sweep           # points are counted side by side, into one record
RACED += ./results/fleet          # a goroutine feeds a pipe
RACED += ./results/merge          # files are read side by side
RACED += ./scripts/fit            # machines are left out side by side
RACED += ./simcache/internal/lookup  # each core looks up sets of its own

# All there is: every random case, every package under the race detector, other CPUs in an
# emulator where there is one (Debian's qemu-user-static), every fuzz target for ten seconds.
test-deep:
	go test -timeout 30m ./...
	go test -short -timeout 30m -race ./...
	@for cpu in aarch64:test-arm64 s390x:test-s390x; do \
		if command -v qemu-$${cpu%:*}-static >/dev/null; then $(MAKE) $${cpu#*:} || exit 1; \
		else echo "$${cpu#*:}: not run, there is no qemu-$${cpu%:*}-static"; fi; \
	done
	$(MAKE) fuzz FUZZTIME=10s

# What needs no run: the format, and what vet and staticcheck find.
lint:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted"; exit 1; }
	go vet ./...
	go tool staticcheck ./...

# Run tests of another CPU in an emulator of its programs. Nothing is timed there, and what
# starts the program anew or takes minutes even so is left out, and so are TestExpressions'
# numbers outside of an integer's range, which each CPU, and PyTorch on it, converts otherwise.
EMULATED = CGO_ENABLED=0 go test -vet=off -short -timeout 20m -skip 'Killed|WritersAtOnce|MachineCode|EveryKernel/scalar|Lackey|TestExpressions$$'
WHOLE_ARM64 = ./simcache/cpu ./simcache/internal/lookup ./simcache/internal/policies ./results/... ./access/kernel
WHOLE_S390X = ./results/... ./simcache/cpu ./simcache/trace ./simcache/internal/lookup ./access/kernel
OF_SIMCACHE = Geometry|Summary|Article|Classes|Misses|PageLevels|Steady|PoliciesEqualChain
OF_ACCESS = NativeOrder|Kernel|Vector|Names|Suite

# arm64: its assembly, and all that might think itself on amd64. The program
# itself prints the same counts as that of this machine.
test-arm64:
	GOARCH=arm64 $(EMULATED) -exec qemu-aarch64-static $(WHOLE_ARM64)
	GOARCH=arm64 $(EMULATED) -exec qemu-aarch64-static ./layouts
	GOARCH=arm64 $(EMULATED) -exec qemu-aarch64-static -run '$(OF_SIMCACHE)' ./simcache
	GOARCH=arm64 $(EMULATED) -exec qemu-aarch64-static -run '$(OF_ACCESS)' ./access
	GOARCH=arm64 $(EMULATED) -exec 'qemu-aarch64-static -p 16384' -run 'Pages|Arena' ./access
	GOARCH=arm64 $(EMULATED) -exec 'qemu-aarch64-static -p 65536' -run 'Pages|Arena' ./access
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	go build -o "$$dir/here" ./cmd/bench && CGO_ENABLED=0 GOARCH=arm64 go build -o "$$dir/there" ./cmd/bench || exit 1; \
	for arguments in \
		"sim --D1 32768,8,64 --LL 8388608,16,64 --shape 300x200 --order col --json" \
		"sim --D1 131072,8,64 --LL 12582912,12,128 --shape 512x512 --view t() --op copy --kernel neon" \
		"sim --preset arm-neoverse-n1 --shape 64x64 --op copy --explain" \
		"layout --shape 3x4 --view t()"; do \
		"$$dir/here" $$arguments >"$$dir/1" && qemu-aarch64-static "$$dir/there" $$arguments >"$$dir/2" && \
		diff -u "$$dir/1" "$$dir/2" || { echo "bench $$arguments: arm64 differs"; exit 1; }; \
	done; \
	qemu-aarch64-static "$$dir/there" machine >"$$dir/machine" && \
	qemu-aarch64-static "$$dir/there" run --shape 64x64 --op copy --view 't()' --kernel scalar --kernel neon --count 1 --sample-time 100us -o "$$dir/run.txt" >/dev/null && \
	grep 'kernel=neon' "$$dir/run.txt" >/dev/null && \
	echo "bench for arm64, emulated: counts as here, and a run with NEON"

# s390x, which is big-endian: files, histories, and the plain twins of assembly.
test-s390x:
	GOARCH=s390x $(EMULATED) -exec qemu-s390x-static $(WHOLE_S390X)

# Build and vet, tests too, for systems on which nothing is run here.
cross:
	@for target in darwin/arm64 darwin/amd64 windows/amd64 linux/riscv64; do \
		export CGO_ENABLED=0 GOOS=$${target%/*} GOARCH=$${target#*/}; \
		go build ./... && go vet ./... && echo "$$target: built and vetted, not run" || exit 1; \
	done

# Record the example run anew, on a quiet machine that is measured first, as its
# times are predicted too, and what is made from it: the README's blocks and the gallery.
example: bin/bench
	bin/bench machine --measure --loaded --results docs/example/loads.txt >/dev/null
	bin/bench run -o docs/example/run.txt >/dev/null
	bin/bench run --filter .name:Stream --threads 1,all --grain 1 -o docs/example/threads.txt >/dev/null
	README=write go test -count=1 -run '^TestREADME$$' .
	$(MAKE) gallery

# Draw docs/gallery anew from docs/example: look at what changed before you keep it.
gallery:
	GALLERY=write go test -count=1 -run '^Test(Gallery|Exact)$$' ./reports
	git status --short docs/gallery

# Compare two runs: make compare OLD=old.txt NEW=new.txt
compare:
	@test -n "$(OLD)" -a -n "$(NEW)" || { echo "usage: make compare OLD=old.txt NEW=new.txt"; exit 2; }
	go tool benchstat $(OLD) $(NEW)

# Run every fuzz target for FUZZTIME, one on each CPU. Inputs that reach something new are
# made smaller in few tries: go test would spend a minute on each.
# Go may say of a target whose time ends within an input that it failed, without an input: such
# a target runs once more.
fuzz:
	@for package in $$(go list ./...); do \
		go test -vet=off -list '^Fuzz' $$package | sed -n "s|^Fuzz|$$package &|p"; \
	done | xargs -r -n 2 -P $$(getconf _NPROCESSORS_ONLN) sh -c \
		'for try in 1 2; do \
			out=$$(go test -vet=off -run "^$$" -fuzz "^$$1$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 100x -parallel 1 $$0 2>&1); rc=$$?; \
			echo "$$out" | sed "/^fuzz: elapsed/d"; \
			case "$$rc $$out" in 0*|*"Failing input"*) break ;; *"context deadline exceeded"*) ;; *) break ;; esac; \
		done; exit $$rc'

# Write the assembly of access/kernel anew; the generator is a module of its own.
GENERATE = run . -out ../../kernels_amd64.s -stubs ../../stubs_amd64.go -pkg kernel
generate:
	go -C access/kernel/internal/gen $(GENERATE)

# Fail if that assembly is not what its generator writes. A copy of the generator
# writes it elsewhere, so that no file of the tree changes.
generated:
	@dir=$$(mktemp -d); trap 'rm -rf "$$dir"' EXIT; \
	cp -R access/kernel/internal "$$dir" && go -C "$$dir/internal/gen" $(GENERATE) || exit 1; \
	for file in kernels_amd64.s stubs_amd64.go; do \
		diff -u access/kernel/$$file "$$dir/$$file" || { echo "access/kernel/$$file is not what its generator writes: make generate"; exit 1; }; \
	done

# Run deploy/slurm on a Slurm of its own, where there is one.
test-slurm: bin/bench
	deploy/slurm/test.sh

# Decode deploy/kubernetes by Kubernetes' types; the test is a module of its own.
test-kubernetes:
	go -C deploy/kubernetes test ./...

# Run what deploy/container builds, in the image where there is a builder.
test-container:
	deploy/container/test.sh

clean:
	rm -rf out bin
