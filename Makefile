# The commands of this project. `make` lists them.

SWIFT ?= swift
ROUNDS ?= 200
REQUESTS ?= 100000
SEED ?= $(shell date +%s)
SWIFT_CODE := Package.swift Sources Tests Snippets Fuzz $(wildcard Benchmarks)

# The larger corpus of recorded CouchDB answers, if it is beside the repository.
ifneq ($(wildcard ../shared/conformance),)
export SETTLE_CONFORMANCE ?= $(abspath ../shared/conformance)
endif

.DEFAULT_GOAL := help
.PHONY: help setup build demo serve conformance test format lint collation collation-check docs api semantics faults linkage apple-plan apple-doubles \
	postgres-test postgres-serve console-test console-pictures tsan asan sanitized-builds fuzz fuzz-http crash-test prove-binary prove-kills prove-power \
	prove-faults prove-load prove-schedules prove-fleets counts bench dist clean

help: ## Show this list
	@echo "Settle: an offline-first JSON document database for Swift"
	@echo
	@echo "New here?  make demo    see it work, on your own machine's package catalogue"
	@echo "           make test    prove that it works"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## Install missing system libraries
	@Scripts/setup.sh

# The tool says which commit it was built from. Other targets don't set it, so that a commit compiles nothing anew there.
build demo serve postgres-serve: export SETTLE_COMMIT := $(shell git describe --always --dirty --exclude '*' --abbrev=12 2>/dev/null)

build: setup ## Build the library and the tool, optimised
	$(SWIFT) build -c release

demo: setup ## Build the tool and run a demonstration
	$(SWIFT) build -c release --product settle
	@Scripts/demo.sh

serve: setup ## Serve the databases in DIR (data) on PORT (5984)
	$(SWIFT) build -c release --product settle
	.build/release/settle serve $(if $(DIR),--data $(DIR)) $(if $(PORT),--port $(PORT))

conformance: setup ## Replay recorded CouchDB exchanges against the server, if the corpus is available
	@SWIFT="$(SWIFT)" Scripts/swift-debug.sh build --product settle
	@Scripts/conformance.sh

test: ## Run all tests
	@Scripts/setup.sh --tests
	@SWIFT="$(SWIFT)" Scripts/test.sh

postgres-test: ## Run the tests with PostgreSQL in a cluster of their own: the suites in Scripts/postgres/suites.txt
	@Scripts/setup.sh --tests
	@SWIFT="$(SWIFT)" Scripts/postgres/cluster.py run Scripts/test.sh \
		--filter "$$(paste -sd '|' Scripts/postgres/suites.txt)"

postgres-serve: ## Serve a new PostgreSQL from two nodes, on PORT and the next one (5984), until Ctrl-C
	@Scripts/setup.sh --tests
	$(SWIFT) build -c release --product settle
	@Benchmarks/postgres/serve.py $(if $(PORT),--port $(PORT))

console-test: setup ## Use the console in browsers, by keyboard: the scenarios of Tests/Console, with ARGUMENTS
	@SWIFT="$(SWIFT)" Scripts/swift-debug.sh build --product settle
	@Scripts/console-test.sh $(ARGUMENTS)

console-pictures: setup ## Make the pictures of the console for the documentation
	@SWIFT="$(SWIFT)" Scripts/swift-debug.sh build --product settle
	@Scripts/console-test.sh --pictures docs/console

format: ## Format all Swift code by .swift-format
	$(SWIFT) format --in-place --parallel --recursive $(SWIFT_CODE)

collation: ## Write the table of the order of strings, from libicu 72
	Scripts/collation/derive.py Sources/SettleQuery/Collation/CollationData.swift

collation-check: ## Check that libicu 72, where it is installed, gives the table of the order of strings
	@Scripts/collation/derive.py --check Sources/SettleQuery/Collation/CollationData.swift

lint: ## Check the format and the lint rules, without changes
	$(SWIFT) format lint --strict --parallel --recursive $(SWIFT_CODE)

docs: setup ## Render the documentation with DocC, and compare the public declarations with docs/API.txt
	@Scripts/docs.sh

api: setup ## Write docs/API.txt, the list of all public declarations
	@Scripts/docs.sh --write-api

semantics: ## Write docs/SEMANTICS.md from the statements and the labels in the code
	@Scripts/semantics/generate.py

faults: setup ## Plant a fault for each statement of the list, or of NUMBERS, and show the tests that fail
	@Scripts/setup.sh --tests
	@Scripts/semantics/faults.py run $(NUMBERS)

apple-plan: ## Check that a build for iOS needs only what iOS has, by its plan
	@Scripts/apple-plan.sh

# An optimized build would take longer than it saves: these tests mostly wait.
apple-doubles: export SETTLE_OPTIMIZED := 0
apple-doubles: setup ## Run the tests of the core, or those of SUITES, with stand-ins for Apple's libraries
	@$(SELECT) SETTLE_APPLE_DOUBLES=1 SETTLE_TEST_POSTGRES=none SWIFT="$(SWIFT)" exec Scripts/test.sh --scratch-path .build/apple-doubles \
		$(SELECTED)

linkage: setup ## Check which C libraries each product needs
	@Scripts/linkage.sh

# With SUITES only the files of these tests and what they need are compiled, without the examples and the tool.
TESTS := SettlePackageTests
SELECT = $(if $(SUITES),SETTLE_TEST_SOURCES=$$(Scripts/test-sources.py '$(SUITES)') || exit 1; export SETTLE_TEST_SOURCES;)
SELECTED = $(if $(SUITES),--test-product $(TESTS) --filter '$(SUITES)')

# Tests that bound a process's memory, of which a sanitizer reserves terabytes.
BOUNDED := in 60 MB of memory

SANITIZED := $(SELECTED) --skip '$(BOUNDED)'

# A sanitizer prints a stack itself. Swift's own process for that would hold the pipe of a test's tool open for minutes.
tsan asan: export SWIFT_BACKTRACE := enable=no

# The tests with PostgreSQL are left out: libpq is not built with a sanitizer.
tsan: setup ## Run the tests, or those of SUITES, with the thread sanitizer
	@$(SELECT) TSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/tsan-suppressions.txt" SETTLE_TEST_POSTGRES=none SWIFT="$(SWIFT)" \
		exec Scripts/test.sh --sanitize=thread --scratch-path .build/tsan $(SANITIZED)

asan: setup ## Run the tests, or those of SUITES, with the address sanitizer
	@$(SELECT) LSAN_OPTIONS="suppressions=$(CURDIR)/Scripts/lsan-suppressions.txt" SETTLE_TEST_POSTGRES=none SWIFT="$(SWIFT)" \
		exec Scripts/test.sh --sanitize=address --scratch-path .build/asan $(SANITIZED)

sanitized-builds: setup ## Build the tests, or those of SUITES, for both sanitizers
	@$(SELECT) for kind in thread:tsan address:asan; do SWIFT="$(SWIFT)" Scripts/swift-debug.sh build \
		$(if $(SUITES),--product $(TESTS),--build-tests) --sanitize=$${kind%:*} --scratch-path .build/$${kind#*:} || exit 1; done

fuzz: setup ## Fuzz the parsers, SECONDS_EACH
	@Scripts/fuzz.sh

fuzz-http: setup ## Send REQUESTS malformed requests, as many nearly valid ones, from SEED on, and overflowing numbers
	SETTLE_FUZZ_HTTP=$(REQUESTS) SETTLE_FUZZ_SEED=$(SEED) $(SWIFT) test -c release -Xswiftc -enable-testing \
		--scratch-path .build/fuzz-http --filter 'HTTPFuzzTests|FormedFuzzTests|ExtremeFuzzTests'

crash-test: setup ## Kill a writing process ROUNDS times, and check its acknowledged writes
	@ROUNDS=$(ROUNDS) Scripts/crash-test.sh

# docs/RELIABILITY.md says what each of these proves. A begun SEED is continued, unless FRESH=1; BINARY is the program to try.
PROVE = --seed $(SEED) $(if $(BINARY),--settle $(BINARY)) $(if $(FRESH),--fresh)

prove-binary: setup
	@$(if $(BINARY),,$(SWIFT) build -c release )

prove-kills: prove-binary ## Kill a server ROUNDS times under requests of every kind, and check what it has then
	@Scripts/prove/kills.py --rounds $(ROUNDS) $(if $(KILLS),--kills $(KILLS)) $(PROVE)

prove-power: prove-binary ## Rebuild what ROUNDS power failures may leave of a server's files, and check it
	@Scripts/prove/power.py --rounds $(ROUNDS) $(PROVE)

prove-faults: prove-binary ## Let each write, fsync, open and rename of a server fail in its turn, and check the answers
	@Scripts/prove/faults.py $(if $(filter command line,$(origin ROUNDS)),--rounds $(ROUNDS)) $(PROVE)

MINUTES ?= 90
prove-load: prove-binary ## Load a server for MINUTES, and check that its memory does not grow
	@Scripts/prove/load.py --minutes $(MINUTES) $(PROVE)

COUNT ?= 10000
prove-schedules: prove-binary ## Try COUNT random schedules of edits, exchanges, crashes and settling
	@Scripts/prove/schedules.py --count $(COUNT) $(PROVE)

prove-fleets: prove-binary ## Let replicators, also those of LITECORE, meet on a server ROUNDS times
	@Scripts/prove/fleets.py --rounds $(ROUNDS) $(PROVE) $(LITECORE:%=--litecore %)

counts: ## Check the instructions and allocations per request against their limits
	@Scripts/setup.sh --counts
	$(SWIFT) build -c release --product settle
	python3 Benchmarks/server/counts.py --settle .build/release/settle

bench: setup ## Measure, as ratios against a floor
	@Benchmarks/run.sh

dist: setup ## Make a tarball and a Debian package of the tool in dist, and check them
	@SWIFT="$(SWIFT)" Scripts/dist.sh

clean: ## Remove all build products
	rm -rf .build Benchmarks/.build dist
