# Everything here needs Go and make alone. `make` says what there is.

GO       ?= go
ARGS     ?=
FUZZTIME ?= 30s
BENCH    ?= .

# Each folder whose main.go is package main is a program, named like its folder.
MAINS := $(patsubst %/main.go,./%,$(shell grep -l '^package main' */main.go))
# The race detector needs a C compiler; without one Go says CGO_ENABLED=0.
RACE  := $(if $(filter 1,$(shell $(GO) env CGO_ENABLED)),-race)

# The folders of the test files that match a pattern.
folders = $(sort $(shell grep -rlE --include='*_test.go' $(1) . | xargs -n1 dirname))

.DEFAULT_GOAL := help
.PHONY: help build run test lint bench gobench fuzz rewrite clean

help: ## Say what there is to make
	@awk -F ':.*## ' '/^[a-z]+:.*## / {printf "  make %-9s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## Build every program into bin/
	$(GO) build -trimpath -o bin/ $(or $(MAINS),$(error no folder holds a main.go))

run: build ## Run the whole stack here (ARGS='--dir DIR …')
	bin/ds up$(if $(ARGS), $(ARGS))

test: ## Vet, then run all tests under the race detector
	$(if $(RACE),,@echo 'make test: no C compiler here, so WITHOUT the race detector' >&2)
	$(GO) vet ./...
	$(GO) test $(RACE) -timeout 20m ./...

lint: ## Check formatting, and vet for Linux, macOS and Windows
	@out=$$(gofmt -l .); test -z "$$out" || { echo "make lint: run gofmt -w on:" $$out >&2; exit 1; }
	GOOS=linux $(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=windows $(GO) vet ./...

bench: ## Measure the speed of this machine, beside plain NATS (ARGS='--only hot …')
	$(GO) run -trimpath ./ds bench $(ARGS)

gobench: ## Run the Go benchmarks (BENCH=regexp)
	$(GO) test -run '^$$' -bench '$(BENCH)' -benchmem $(call folders,'^func Benchmark')

fuzz: ## Run each fuzz target for FUZZTIME (30s)
	@grep -rnoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sed -E 's/^(.*)\/[^/]*:[0-9]+:func /\1 /' | sort -u | \
	while read -r folder target; do \
		echo "fuzz $$folder $$target"; \
		$(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) "$$folder" </dev/null || exit 1; \
	done

rewrite: ## Write golden files anew; commit only what you understand
	$(GO) test $(call folders,'test/golden"') -rewrite
	@git status --short -- '*/testdata/*' || true

clean: ## Remove what was built
	rm -rf bin
