# The commands of a developer. "make" lists them. Those that run, install or stage one application take its folder, as
# in "make run APP=apps/NAME"; without it they take PromptHub, which is the top level.

SHELL := bash
TAB := $(shell printf '\t')
.SHELLFLAGS := -o pipefail -ec
TOOLS := go tool -modfile=internal/tools/go.mod
AZURITE := internal/tools/azurite
AZURITE_STAMP := $(AZURITE)/node_modules/.package-lock.json
WEB := internal/tools/web
WEB_STAMP := $(WEB)/node_modules/.package-lock.json
API_DOCS := internal/prompthub/doors/api/docs
INFRA := internal/tools/infra
INFRA_STAMP := $(INFRA)/node_modules/.package-lock.json
OIDC := internal/tools/oidc
OIDC_STAMP := $(OIDC)/node_modules/.package-lock.json
CLIENTS := internal/tools/clients
CLIENTS_STAMP := $(CLIENTS)/node_modules/.package-lock.json
LANGFUSE_JS := internal/tools/langfuse-js
LANGFUSE_JS_TESTS := $(LANGFUSE_JS)/prompts.e2e.test.ts
CLAUDE := internal/tools/claude
DOTPROMPT := internal/tools/dotprompt
ASSISTANTS := internal/tools/clients/mcp
ASSISTANTS_STAMP := $(ASSISTANTS)/node_modules/.package-lock.json
PYTHON := $(CLIENTS)/python
PYTHON_STAMP := $(PYTHON)/.venv/installed
INSTALLED := $(AZURITE_STAMP) $(INFRA_STAMP) $(OIDC_STAMP) $(WEB_STAMP)
NPM_CI := npm ci --ignore-scripts --prefer-offline --no-audit --no-fund
SCHEMAS := $(CURDIR)/.cache/schemas
FUZZTIME ?= 30s
SOAK ?= 5m
HEAVIEST ?= 20m
# These tests measure what time or memory something takes.
MEASURED := ^Test(Peak|Doubling|WhatAnImportExpandsTo|LongLists|KeptFilesCostLittle|ManifestsCostTheirLength)$$
# These have one thing done after the other, of which the explorers do many at once.
IN_TURN := ^Test(HostileQueries|(Agrees|ManyAgree)WithTheModel|DamagedSnapshot|TenThousandEdits|CrashTable|TextSearch|StoppedChangesWait|OperationsOfASearch|(Search|Mine)Agrees|BoundOfEveryWalk|KeepStoppedAnywhere|SchemaOracle|LongContents|EveryFieldIsKept|ToolsOnImperfectData|Crashes|Erase$$|PurgeOfAccounts|PurgeAgainstRevival|PurgeTies|ManyBlocks|StrangersKeepNoOneOut|Rekey$$|FilesOfAPrompt|FilesOfVersions|FullPass|SweepGoesOn|BackupOfFiles|ASecondIsEnough|FillLeavesEverythingAtRest|NoRoomIsNoLoad|CountAuthors|HistoryInParts|AccountsMoveWithFiles|ImportGoesOn|ContentsComeOnce|KeptFilesThatAreCompared|SkillsThatAreRefused|Machine$$|FilesMachine|NoFiles$$|RepairPoints|Purge$$|Anonymity|DeckOfMany|PlacesAreNotFound|RestoreRefuses)
# These interleave what TestExplore does, at other times.
ALIKE := ^Test(ExploreTimes|ExploreKeys)$$
RACEFLAGS ?= -short -skip '$(MEASURED)|$(IN_TURN)|$(ALIKE)'
# The longest comes first, as it would run alone at the end. What answers requests (handlers, doors, pages) is left to make
# deep: it starts next to no goroutine of its own, and to compile it for the detector takes as long as all tests. Pictures
# are read by one goroutine each. Tests of Azure are not short.
ANSWERING := /handler$$|/doors/|/internal/(api|web)$$|^handler$$|/bench$$
RACE ?= ./internal/prompthub/promptdb $$(grep -rlE --include='*.go' '^[[:space:]]*go [a-z]|\.Go\(|/promptdb"' handler apps infra internal stage | grep -v -e '^internal/tools/' -e '^internal/prompthub/e2e/' -e '^internal/testing/mutants/' -e '^internal/storage/blob/picture/' | xargs -n1 dirname | sort -u | grep -vE '$(ANSWERING)|/azure$$|/azurite$$' | sed 's,^,./,')
# A line of a comment that is wider than 100 columns, a tab being one.
WIDE := ^(// .{98}|$(TAB)// .{97}|$(TAB)$(TAB)// .{96}|$(TAB)$(TAB)$(TAB)// .{95})
PROCESSORS := $(shell getconf _NPROCESSORS_ONLN)
BENCH_PROMPTS ?= 1000,100000
BENCH_AZURITE ?= 1000
BENCH_EACH ?= 2s
BENCH_HOLD ?= 1m
BENCH_ROWS ?= 100000
AGAINST ?= pocketbase
BENCH_COUNT ?= 1
APP ?= .
NAME := $(if $(filter .,$(APP)),prompthub,$(notdir $(APP)))
ADDR ?= 127.0.0.1:7071
DATA ?= $(APP)/.data
BINDIR ?= $(or $(shell go env GOBIN),$(shell go env GOPATH)/bin)
PROMPTS_CSV ?=
VERSION ?=
PLATFORMS ?=
ARCH ?= $(shell go env GOARCH)
IMAGE ?= $(NAME)
PROGRAM ?=

.PHONY: help run install test test-times vet quick race browser search deep formats clients marketplaces langfuse-js promptfoo check vulnerabilities vulnerabilities-built cover fuzz soak mutants measure bench heaviest bench-pocketbase bench-search azurite package image release func-start infra-check infra-schemas swagger

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## (.*)/  make \1 \t\2/' | expand -t 20

run: ## build, and serve on this machine with the embedded store (APP, ADDR, DATA)
	go build -o $(APP)/bin/handler ./$(APP)/handler
	MAX_TEXT=$${MAX_TEXT:-32768} PUBLIC_READ=$${PUBLIC_READ:-true} LOG_LEVEL=$${LOG_LEVEL:-warn} $(APP)/bin/handler local --addr $(ADDR) --data $(DATA)

install: ## build the program under the name of the application, and put it into BINDIR, where go install puts programs unless it is set
	@mkdir -p "$(BINDIR)"
	go build -o "$(BINDIR)/$(NAME)" ./$(APP)/handler

# In a fresh clone six installs of npm take a while: they run side by side, beside go vet, and the two longest, which only
# ./internal/prompthub/e2e/clients needs, beside tests, as long as there are others that need no client. Each has a lock file of
# its own: with one for all, every test would wait for the longest, and the libraries of clients would have to agree.
# No result comes from go test's cache, which does not see what node, the browser and the built program read. The tests
# of the built program, those with deadlines of other programs, and those of siblings in a browser mostly wait, so the longest of
# the others run beside them, with what they leave of the processors: an emulator of storage that waits for its turn misses
# the deadlines of its callers. The tests of the built program, which load it most, come first.
# To link every test with what debuggers need would take as long as some packages.
LINKED := -ldflags='-s -w' -vet=off
# Tests and the compiler collect their garbage a quarter as often, which costs memory that nobody needs. Not where
# PromptHub itself is started, which would inherit that.
SPARING := 400
quick race deep formats search mutants vet: export GOGC := $(SPARING)
# The linter holds 5 GB so, which not every machine has to spare.
check: export GOGC := 200
TEST := go test -count=1 -timeout 20m $(LINKED)
DEADLINES := ./handler ./internal/storage/azure ./internal/testing/azurite ./internal/testing/infra
LONGEST := ./bench ./internal/prompthub/promptdb ./internal/prompthub/doors/api
OTHERS = $$(go list ./... | grep -vxF $(patsubst ./%,-e prompthub/%,$(BUILT) $(DEADLINES) $(LONGEST)))
# The modules of their own, which have other libraries. The next is not in the recipe itself, all of which make -n would run then.
OF_THEIR_OWN = for module in $(INFRA) $(DOTPROMPT); do (cd $$module && GOGC=$(SPARING) nice -n 10 go test -count=1 -vet=all .) || exit; done
INSTALL_CLIENTS = nice -n 10 $(MAKE) --no-print-directory -j $(ASSISTANTS_STAMP) $(CLIENTS_STAMP) $(PYTHON_STAMP)
test: ## vet and run all tests, those against Azurite and of the infrastructure included
	$(MAKE) --no-print-directory -j vet $(INSTALLED)
	{ status=0; \
	  { $(INSTALL_CLIENTS) && $(OF_THEIR_OWN); } & installing=$$!; \
	  $(TEST) ./internal/prompthub/e2e || status=$$?; \
	  $(TEST) -p $(PROCESSORS) -parallel 8 $(DEADLINES) & deadlines=$$!; \
	  wait $$installing || status=$$?; \
	  $(TEST) ./internal/prompthub/e2e/clients || status=$$?; \
	  GOGC=$(SPARING) $(TEST) -p $$((2 * $(PROCESSORS))) -parallel 8 $(OTHERS) || status=$$?; \
	  wait $$deadlines || status=$$?; \
	  exit $$status; } & waiting=$$!; status=0; \
	GOGC=$(SPARING) nice -n 10 $(TEST) -p 1 -parallel 8 $(LONGEST) || status=$$?; \
	wait $$waiting || status=$$?; exit $$status

test-times: ## print the seconds that packages took in the last .ci/run, the longest first
	@for step in test race; do echo "make $$step:"; \
		awk '$$1 == "ok" { sub("s$$", "", $$3); print $$3 "\t" $$2 }' .cache/ci/$$step.log | sort -rn | head -30; done

vet:
	go vet ./...

# Twice as many packages as processors, as some mostly wait. Those that test the built program have nothing that is short;
# to link them would take as long as some packages.
BUILT := ./internal/prompthub/e2e ./internal/prompthub/e2e/clients
quick: vet ## after each edit: vet, and the tests of what changed that need nothing but Go
	go test -short -p $$((2 * $(PROCESSORS))) $(LINKED) $$(go list ./... | grep -vxF $(patsubst ./%,-e prompthub/%,$(BUILT)))

infra-check: $(AZURITE_STAMP) $(INFRA_STAMP) ## check Bicep, azure.yaml, workflows, host.json, functions and the package
	go test -count=1 ./internal/testing/infra/...
	cd $(INFRA) && go vet . && go test -count=1 .

infra-schemas: ## compare azure.yaml, host.json and others with their published JSON schemas, from the Internet
	@mkdir -p $(SCHEMAS)
	curl -fsSL -o $(SCHEMAS)/azure.yaml.json https://raw.githubusercontent.com/Azure/azure-dev/ae35809f496491989273d0edefdeb70f245f399b/schemas/v1.0/azure.yaml.json
	@for name in host local.settings github-workflow; do set -x; \
		curl -fsSL -o $(SCHEMAS)/$$name.json https://raw.githubusercontent.com/SchemaStore/schemastore/3b6446ad8a077bac56f4a4796c0b7fd88927fc8e/src/schemas/json/$$name.json || exit 1; \
	done
	cd $(INFRA) && INFRA_SCHEMAS=$(SCHEMAS) go test -v -run TestPublishedSchemas .

# bench asks every route for one thing at a time, for minutes under the detector; what it asks is tested where it is. The
# tests of the built program have nothing that is short, and that program is built without the detector. The detector needs
# C. go test vets nothing, as make vet did: it would vet the standard library and all modules once more for the detector.
race: export CGO_ENABLED := 1
race: ## run the short tests of the packages that start goroutines, or have promptdb do so, with the race detector (all tests: RACE=./... RACEFLAGS=)
	go test -race -count=1 -shuffle=on -timeout 30m $(LINKED) $(RACEFLAGS) $(RACE)

browser: $(AZURITE_STAMP) $(WEB_STAMP) $(OIDC_STAMP) ## test the pages in a browser, more of them than make test opens, and keep pictures of them in .cache/pages
	@rm -rf .cache/pages && mkdir -p .cache/pages
	E2E_FULL=1 go test -count=1 -timeout 20m -run '^TestBrowser' -artifacts -outputdir $(CURDIR)/.cache/pages $$(grep -rl --include='*_test.go' '^func TestBrowser' apps internal | xargs -n1 dirname | sort -u | sed 's,^,./,')

clients: $(CLIENTS_STAMP) $(ASSISTANTS_STAMP) $(PYTHON_STAMP) ## run clients of others, as they are published, against the built program
	go test -count=1 -v -timeout 20m ./internal/prompthub/e2e/clients

marketplaces: ## install Claude Code, of 400 MB, and run it as it is published against the built program
	npm install --prefix $(CLAUDE) --no-save --no-package-lock --ignore-scripts --no-audit --no-fund @anthropic-ai/claude-code@2.1.332
	go test -count=1 -v -run '^TestClaudeCode$$' ./internal/prompthub/e2e/clients

# npm ci wants packages of other machines in the lock file, which the newest npm leaves out.
langfuse-js: $(LANGFUSE_JS_TESTS) ## fetch the tests that Langfuse has for its own client, and run them against the built program
	echo "d6b1cba06f00c81cc82b11635d343bac93ac0e374780301ac3df9fbb475acd5b  $<" | sha256sum --check --quiet
	npm install --prefix $(LANGFUSE_JS) --no-save --ignore-scripts --no-audit --no-fund
	go test -count=1 -v -run '^TestLangfuseJS$$' ./internal/prompthub/e2e/clients

promptfoo: ## install promptfoo with the Node that it needs (half a gigabyte), and have it evaluate prompts of the built program
	npm install --prefix internal/tools/promptfoo --no-save --ignore-scripts --omit=optional --no-audit --no-fund
	go test -count=1 -v -run '^TestPromptfoo' ./internal/prompthub/e2e/clients

check: vet ## format, vet, lint, width of comments, dead code, go.mod
	@unformatted=$$($(TOOLS) gofumpt -l .); test -z "$$unformatted" || { echo "gofumpt would change:"; echo "$$unformatted"; exit 1; }
	$(TOOLS) golangci-lint run
	@wide=$$(LC_ALL=C.UTF-8 grep -rnE --include='*.go' --exclude-dir=node_modules "$(WIDE)" apps bench handler infra internal stage || true); test -z "$$wide" || { echo "comments wider than 100 columns:"; echo "$$wide"; exit 1; }
	@dead=$$($(TOOLS) deadcode -test ./...); test -z "$$dead" || { echo "nothing uses:"; echo "$$dead"; exit 1; }
	go mod tidy -diff

vulnerabilities: ## look for known faults in what the program calls, from the Internet
	$(TOOLS) govulncheck ./...

vulnerabilities-built: package ## the same for the program (APP) as it is deployed, with the standard library that it was built with
	$(TOOLS) govulncheck -mode=binary $(APP)/dist/functionapp/handler

cover: $(AZURITE_STAMP) $(WEB_STAMP) $(OIDC_STAMP) ## run all tests and tell how much of each function they reach
	@mkdir -p .cache
	go test -coverpkg=./... -coverprofile=.cache/cover.out ./...
	go tool cover -func=.cache/cover.out

deep: ## ask and count as often as is worth it now and then: what make test takes samples of
	POPULAR=1 go test -count=1 -v -timeout 30m -run '^(TestSweepOfAPopularPrompt|TestPurgeOfAPopularPrompt)$$' ./internal/prompthub/promptdb
	E2E_FULL=1 go test -count=1 -v -timeout 10m -run '^(TestUnderAttack|TestKilledUnderReview|TestKilledUnderUploads)$$' ./internal/prompthub/e2e
	BACKUPS=20 go test -count=1 -v -timeout 30m -run '^TestBackupsUnderLoad$$' ./handler
	DOUBLING_TIME=1 go test -count=1 -p 1 -timeout 60m -run '^TestDoubling$$' ./internal/prompthub/prompt ./internal/prompthub/files/skill ./internal/prompthub/files/format ./internal/prompthub/doors/web ./internal/prompthub/doors/web/markdown ./internal/http/markdown
	OLDER_HOST=true go test -count=1 -timeout 60m ./internal/prompthub/e2e ./handler ./apps/... ./internal/testing/infra
	DISK_ALL=1 go test -count=1 -timeout 30m -run '^TestDiskFails$$' ./internal/storage/embedded ./internal/prompthub/e2e
	$(MAKE) race IN_TURN=^none ALIKE=^none RACE='./internal/prompthub/promptdb ./handler ./apps/... ./internal/host/command ./internal/storage/blob/picture ./internal/prompthub/doors/...'
	go test -count=1 -timeout 30m -run '^TestBounds$$' ./bench -rapid.checks=1000
	RELEASE_ALL=1 go test -count=1 -v -timeout 60m -run '^TestRelease$$' ./stage
	$(MAKE) search
	BACKUP_DEEP=1 go test -count=1 -v -timeout 30m -run '^(TestBackupUnderLoad|TestManyPictures)$$' ./apps/duuble/handler ./apps/ricochet/handler
	$(MAKE) -C apps/ricochet soak
	$(MAKE) -C apps/harmony backups growth soak
	$(MAKE) -C apps/duuble soak

formats: ## write and read 10,000 prompts in each format
	go test -count=1 -run '^TestWriteAndRead$$' -timeout 30m ./internal/prompthub/files/format -rapid.checks=10000

search: $(AZURITE_STAMP) ## compare the answers to 10,000 questions with what the truth says, and to 10,000 more while others write, in memory, in a file and on Azurite; also over real prompts, where PROMPTS_CSV names a file as prompts.chat publishes it, of which it prints how often one is found as people type its title and words of its text
	SEARCH_MORE=1 PROMPTS_CSV=$(PROMPTS_CSV) go test -count=1 -v -timeout 180m -run '^Test(TextSearch|SearchAgrees|WalkWhile)' ./internal/prompthub/promptdb -rapid.checks=2000

fuzz: ## fuzz each target for FUZZTIME
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			echo "$$package $$target"; \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 10x $$package; \
		done; \
	done

soak: $(AZURITE_STAMP) ## load the program for SOAK (5m) under the test host on Azurite, with kills
	E2E_FULL=1 SOAK=$(SOAK) EXPLORE_SCHEDULES=100000 EMBEDDED_KILL_ROUNDS=100 go test -timeout 60m -v -run 'TestSoak|TestExplore|Kill|Story|StorageFaults|ManySlow' ./internal/prompthub/e2e ./internal/prompthub/promptdb ./internal/storage/embedded

mutants: ## break the protocol on purpose: every break must make a test fail
	go run ./internal/testing/mutants

measure: ## print how long and how hard to read the Go of this tree is
	go run ./internal/testing/measure

heaviest: ## search for HEAVIEST for the requests that cost most, and fail where one is beyond the bounds
	go run ./bench -heaviest $(HEAVIEST)

ifeq ($(APP),.)
bench: $(AZURITE_STAMP) ## count operations, run the benchmarks (for benchstat), load the program with BENCH_PROMPTS prompts; with APP=apps/harmony: likes, messages and decks of 10,000 people, in turns with PocketBase; with APP=apps/duuble: votes on one post and homes of 10,000 people, likewise
	@mkdir -p .cache
	go test -count=1 -v -run 'TestCounts$$' ./bench | grep '^|'
	BENCH_ROWS=$(BENCH_ROWS) go test -run '^$$' -bench . -benchmem -count $(BENCH_COUNT) ./... | tee .cache/bench.txt
	go run ./bench -prompts $(BENCH_PROMPTS) -azurite "$(BENCH_AZURITE)" -each $(BENCH_EACH) -hold $(BENCH_HOLD) -profile | tee .cache/bench.md
else
bench:
	@mkdir -p .cache
	go run ./$(APP)/bench -each $(BENCH_EACH) | tee .cache/bench-$(NAME).md
endif

bench-pocketbase: ## compare with PocketBase (AGAINST=pocketbase-synced: one that answers when the disk has it, as PromptHub does), in turns on the same rows: needs the Internet once, to build it
	go run ./bench -against $(AGAINST) -each $(BENCH_EACH)

bench-search: ## compare searches of real prompts, those of the file that PROMPTS_CSV names, with a plain BM25, SQLite's FTS5 and Bleve: what they find and, unless BENCH_EACH=0, how fast; needs the Internet once, to build them
	PROMPTS_CSV=$(PROMPTS_CSV) go run ./bench -against search -each $(BENCH_EACH)

azurite: $(AZURITE_STAMP) ## install and run Azurite, the emulator of Azure Storage, on its usual ports
	@mkdir -p $(DATA)/azurite
	node $(AZURITE)/node_modules/azurite/dist/src/azurite.js --location $(DATA)/azurite --skipApiVersionCheck --disableTelemetry

package: ## stage the function app (APP) for Azure in its dist/functionapp, and zip it
	go run ./stage -app $(APP) -out dist/functionapp -zip dist/functionapp.zip

image: ## put the context of a container image (APP, ARCH, IMAGE, or the built PROGRAM) in dist/image, and build it where docker (with its daemon), podman or buildah is
	rm -rf dist/image && mkdir -p dist/image/data
	$(if $(PROGRAM),cp $(PROGRAM) dist/image/handler,CGO_ENABLED=0 GOOS=linux GOARCH=$(ARCH) go build -trimpath -ldflags="-s -w" -o dist/image/handler ./$(APP)/handler)
	cp deploy/Containerfile dist/image/
	@if docker info >/dev/null 2>&1; then docker build --platform linux/$(ARCH) -t $(IMAGE) -f dist/image/Containerfile dist/image; \
	elif command -v podman >/dev/null; then podman build --platform linux/$(ARCH) --format docker -t $(IMAGE) dist/image; \
	elif command -v buildah >/dev/null; then buildah build --platform linux/$(ARCH) --format docker --isolation chroot -t $(IMAGE) dist/image; \
	else echo "There is no docker that answers, no podman and no buildah: build dist/image where one is."; fi

release: ## build the release VERSION of PromptHub into dist/release, as the workflow uploads it: archives, lists of components and SHA256SUMS for six platforms (or PLATFORMS=linux/amd64,...); and the images for two processors
	go run ./stage release -version "$(VERSION)" -platforms "$(PLATFORMS)" -out dist/release
	@rm -rf .cache/release && mkdir -p .cache/release
	set -e; for arch in amd64 arm64; do \
		name=prompthub_$(VERSION)_linux_$$arch; \
		[ -e dist/release/$$name.tar.gz ] || continue; \
		tar -xzf dist/release/$$name.tar.gz -C .cache/release; \
		$(MAKE) --no-print-directory image PROGRAM=.cache/release/$$name/prompthub ARCH=$$arch IMAGE=prompthub:$(VERSION)-$$arch; \
	done

func-start: $(AZURITE_STAMP) ## stage the function app (APP) for this machine and run it with Azurite and "func start"
	go run ./stage start -app $(APP) -out dist/local

# npm writes this file last. Where npm is missing tests against Azurite are skipped, or fail in CI.
$(AZURITE_STAMP): $(AZURITE)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(AZURITE) && touch $@; \
	else \
		echo "npm is not installed: no tests against Azurite. Install Node 20 or later to run them."; \
	fi

# The same for the JSON schemas of what is deployed.
$(INFRA_STAMP): $(INFRA)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(INFRA) && touch $@; \
	else \
		echo "npm is not installed: host.json and workflows are not held against their schemas. Install Node 20 or later to do so."; \
	fi

# The OpenID provider that people sign in with in tests.
$(OIDC_STAMP): $(OIDC)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(OIDC) && touch $@; \
	else \
		echo "npm is not installed: sign-in with a provider is not tested. Install Node.js to test it."; \
	fi

# The programs of others that must work with this one.
$(CLIENTS_STAMP): $(CLIENTS)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(CLIENTS) && touch $@; \
	else \
		echo "npm is not installed: clients of others are not tested. Install Node 20 or later to test them."; \
	fi

# Those of assistants bring the newer Node that they need with them, which npm does not know when it warns.
$(ASSISTANTS_STAMP): $(ASSISTANTS)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(ASSISTANTS) --loglevel=error && touch $@; \
	else \
		echo "npm is not installed: clients of the Model Context Protocol are not tested. Install Node 20 or later to test them."; \
	fi

# Those of Python run in an environment of their own. What the packages bring to be run at their installation is not: there are
# built ones of all. Tests import a part of them, so the rest is not compiled.
$(PYTHON_STAMP): $(PYTHON)/requirements.txt
	@if python3 -c 'import sys, ensurepip, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
		python3 -m venv --clear $(@D) && \
		$(@D)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --only-binary :all: --require-hashes -r $< && touch $@; \
	else \
		echo "Python is not installed: clients of Python are not tested. Install Python 3.11 or later, with venv, to test them."; \
	fi

# Its source is not kept here.
$(LANGFUSE_JS_TESTS):
	curl -fsSL -o $@ https://raw.githubusercontent.com/langfuse/langfuse-js/0d5a8d0e9c503eacba2ef2829095bc39b5fa6da8/tests/e2e/prompts.e2e.test.ts

swagger: $(WEB_STAMP) ## put the files of Swagger UI that internal/tools/web pins into the program
	for f in swagger-ui.css swagger-ui-bundle.js; do gzip -9nc $(WEB)/node_modules/swagger-ui-dist/$$f > $(API_DOCS)/$$f.gz; done
	cd $(WEB)/node_modules/swagger-ui-dist && cat NOTICE LICENSE swagger-ui-bundle.js.LICENSE.txt > $(CURDIR)/$(API_DOCS)/swagger-ui.LICENSE.txt

# What tests in a browser need besides the browser.
$(WEB_STAMP): $(WEB)/package-lock.json
	@if command -v npm >/dev/null; then \
		$(NPM_CI) --prefix $(WEB) && touch $@; \
	else \
		echo "npm is not installed: pages are not checked for accessibility. Install Node 20 or later to check them."; \
	fi
