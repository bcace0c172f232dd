# The commands of this project. `make` alone explains them.

SWIFT ?= swift
ROUNDS ?= 200
REQUESTS ?= 100000
SEED ?= $(shell date +%s)
SWIFT_CODE := Package.swift Sources Tests Snippets Fuzz $(wildcard Benchmarks)

# The corpus of a real CouchDB's answers, when it lies beside the repository: the tests replay it.
ifneq ($(wildcard ../shared/conformance),)
export SETTLE_CONFORMANCE ?= $(abspath ../shared/conformance)
endif

.DEFAULT_GOAL := help
.PHONY: help setup build demo serve conformance test format lint docs api semantics linkage tsan asan fuzz fuzz-http crash-test \
	counts bench clean

help: ## Show this list
	@echo "Settle: an offline-first JSON document database for Swift"
	@echo
	@echo "New here?  make demo    see it work, on your own machine's package catalogue"
	@echo "           make test    prove that it works"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install the system libraries which are missing (does nothing when all are there)
	@Scripts/setup.sh

build: setup ## Build the library and the tool, optimised
	$(SWIFT) build -c release

demo: setup ## Build the tool and let it show what it can do
	$(SWIFT) build -c release --product settle
	@Scripts/demo.sh

serve: setup ## Serve the databases in DIR (data) on PORT (5984)
	$(SWIFT) build -c release --product settle
	.build/release/settle serve $(if $(DIR),--data $(DIR)) $(if $(PORT),--port $(PORT))

conformance: setup ## Replay what a CouchDB answered against the server, where the corpus is at hand
	$(SWIFT) build --product settle
	@Scripts/conformance.sh

test: ## Run all tests
	@Scripts/setup.sh --tests
	@SWIFT="$(SWIFT)" Scripts/test.sh

format: ## Lay out all Swift code as .swift-format says
	$(SWIFT) format --in-place --parallel --recursive $(SWIFT_CODE)

lint: ## Check that layout, and the formatter's rules, without changing anything
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_CODE)

docs: setup ## Render the documentation with DocC, and compare the public declarations with docs/API.txt
	@Scripts/docs.sh

api: setup ## Write docs/API.txt, the list of all public declarations
	@Scripts/docs.sh --write-api

semantics: ## Write docs/SEMANTICS.md from the statements and the labels in the code
	@Scripts/semantics/generate.py

linkage: setup ## Check which C libraries each product needs
	@Scripts/linkage.sh

# What runs a process in bounded memory, of which a sanitizer reserves terabytes.
BOUNDED := in 60 MB of memory

SANITIZED := $(if $(SUITES),--filter '$(SUITES)') --skip '$(BOUNDED)'

tsan: setup ## Run the tests, or those of SUITES, with the thread sanitizer
	$(SWIFT) test --sanitize=thread --scratch-path .build/tsan $(SANITIZED)

asan: setup ## Run the tests, or those of SUITES, with the address sanitizer
	LSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/lsan-suppressions.txt" \
		$(SWIFT) test --sanitize=address --scratch-path .build/asan $(SANITIZED)

fuzz: setup ## Feed the parsers with random bytes, SECONDS_EACH
	@Scripts/fuzz.sh

fuzz-http: setup ## Send REQUESTS malformed requests, as many nearly right ones, from SEED on, and numbers that overflow
	SETTLE_FUZZ_HTTP=$(REQUESTS) SETTLE_FUZZ_SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing \
		--scratch-path .build/fuzz-http --filter 'HTTPFuzzTests|FormedFuzzTests|ExtremeFuzzTests'

crash-test: setup ## Kill the process in the middle of writing, ROUNDS times, and check what is left
	@ROUNDS=$(ROUNDS) Scripts/crash-test.sh

counts: ## Count a request's instructions and allocations, and compare them with their limits
	@Scripts/setup.sh --counts
	$(SWIFT) build -c release --product settle
	python3 Benchmarks/server/counts.py --settle .build/release/settle

bench: setup ## Measure, as ratios against a floor
	@Benchmarks/run.sh

clean: ## Remove everything that was built
	rm -rf .build Benchmarks/.build
