# The two commands of a user are `make bench` and `make test`.

BENCHFLAGS ?=
FUZZTIME ?= 30s
OUT ?= out

.PHONY: bench test compare example gallery fuzz generate generated clean bin/bench

# Time the suite, simulate the same accesses, draw, and say what was found.
bench: bin/bench
	bin/bench run $(BENCHFLAGS) -o $(OUT)/run.txt
	@echo
	bin/bench report $(OUT)/run.txt -o $(OUT)/report
	@echo
	@echo "results: $(OUT)/run.txt (go tool benchstat -col /order $(OUT)/run.txt)"
	@echo "report:  $(OUT)/report/index.html"

bin/bench:
	go build -o bin/bench ./cmd/bench

test:
	@unformatted=$$(gofmt -l .); test -z "$$unformatted" || { echo "gofmt would change: $$unformatted"; exit 1; }
	go vet ./...
	GOARCH=arm64 go vet ./...
	go tool staticcheck ./...
	go test -race ./...
	go test -run Gallery ./reports

# Record the example run anew, on a quiet machine, and what is made from it: the
# README's blocks and the gallery.
example: bin/bench
	bin/bench run -o docs/example/run.txt >/dev/null
	README=write go test -count=1 -run '^TestREADME$$' .
	$(MAKE) gallery

# Draw docs/gallery anew from docs/example: look at what changed before you keep it.
gallery:
	GALLERY=write go test -count=1 -run '^TestGallery$$' ./reports
	git status --short docs/gallery

# Compare two runs: make compare OLD=old.txt NEW=new.txt
compare:
	@test -n "$(OLD)" -a -n "$(NEW)" || { echo "usage: make compare OLD=old.txt NEW=new.txt"; exit 2; }
	go tool benchstat $(OLD) $(NEW)

# Run every fuzz target for FUZZTIME.
fuzz:
	@for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz'); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package || exit 1; \
		done; \
	done

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

clean:
	rm -rf out bin
