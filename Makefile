# Stint.  `make` builds build/stint; `make help` lists everything else.
#
# Every src/**/*.c is part of the library and every tests/**/*_test.c is a test
# program, so a new file changes nothing here.  Builds with other flags live
# side by side: make CC=clang OPT=-O3 B=build-clang

ifeq ($(origin CC),default)
CC := gcc
endif
OPT ?= -O2
SAN ?=
B ?= $(if $(SAN),build-san,build)
T ?=
V ?=
PREFIX ?= /usr/local
DESTDIR ?=
FUZZ_SECONDS ?= 60
SOAK_MINUTES ?= 60
VERSION := $(shell cat VERSION)

# ---- flags

# Asked once and only when something is compiled: on a fresh machine
# pkg-config is not there before tools/setup has run.
once = $(eval $(1) := $(2))$($(1))
PKGS := jansson libcyaml clp cbc qhull_r zlib sqlite3 libmicrohttpd hwloc
PKG_CFLAGS = $(call once,PKG_CFLAGS,$(shell pkg-config --cflags $(PKGS) 2>/dev/null))
PKG_LIBS = $(call once,PKG_LIBS,$(shell pkg-config --libs $(PKGS) 2>/dev/null))
TEST_LIBS = $(call once,TEST_LIBS,$(shell pkg-config --libs cmocka 2>/dev/null))

WARN := -Wno-psabi -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wvla
SAN_FLAGS := $(if $(SAN),-fsanitize=$(SAN) -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
# With sanitizers only what their reports name, functions and lines: that compiles in three quarters of the time.
DEBUG_INFO ?= $(if $(SAN),-g1,-g)
# No -ffast-math and no contraction: every compiler must compute the same doubles.
COMPILE = $(CC) -std=c11 -D_GNU_SOURCE -DSTINT_VERSION=\"$(VERSION)\" $(WARN) $(OPT) $(DEBUG_INFO) \
	-ffp-contract=off $(SAN_FLAGS) -Isrc -I$(B)/gen $(PKG_CFLAGS) $(CPPFLAGS) $(CFLAGS)
LINK = $(CC) $(OPT) $(DEBUG_INFO) $(SAN_FLAGS) $(CFLAGS) $(LDFLAGS)
# There are hundreds of test programs, each with the whole library: with the quickest linker that is here.
TEST_LINK = $(LINK) $(call once,TEST_LD,$(addprefix -fuse-ld=,$(firstword \
	$(foreach ld,lld gold,$(if $(shell command -v ld.$(ld)),$(ld))))))
LIBS = $(PKG_LIBS) -lm -lpthread -ldl
SLURM_LIBS = -L$(SLURM_PREFIX)/lib -lslurm -ljansson -ldl

# ---- files

find = $(sort $(shell find $(1) -name '$(2)' 2>/dev/null))
obj = $(patsubst %.c,$(B)/obj/%.o,$(1))

MAIN_SRC := src/cli/main.c src/live/local/guard_main.c
LIB_SRC := $(filter-out $(MAIN_SRC),$(call find,src,*.c))
SUPPORT_SRC := $(wildcard tests/support/*.c)
TEST_SRC := $(call find,tests,*_test.c)
FUZZ_SRC := $(wildcard tests/fuzz/*_fuzz.c)
# The bridge to Slurm is a program of its own, under the GPL: slurm/README.md says why.
BRIDGE_SRC := $(filter-out slurm/bench_bare.c,$(wildcard slurm/*.c))
SLURM_PREFIX ?= /usr

LIB := $(B)/libstint.a
# T=text keeps the tests whose path has it: make test T=heap
wanted = $(if $(T),$(foreach f,$(1),$(if $(findstring $(T),$(f)),$(f))),$(1))
TEST_BIN := $(patsubst %.c,$(B)/%,$(call wanted,$(TEST_SRC)))
TEST_SH := $(call wanted,$(wildcard tests/cli/*.sh tests/web/*.sh tests/slurm/*.sh))
# A browser is a large thing to install: `make browser` does.
ifeq ($(BROWSER),)
TEST_SH := $(filter-out tests/web/page.sh,$(TEST_SH))
endif
# So is PyTorch: `make torch` does.
ifeq ($(TORCH),)
TEST_SH := $(filter-out tests/cli/client_torch.sh,$(TEST_SH))
endif
# What Slurm does when munge or the controller fail, most of all while jobs are being stopped, differs from time to
# time: `make soak` looks at it.
ifeq ($(SOAK),)
TEST_SH := $(filter-out $(patsubst %,tests/slurm/%.sh,faults drive_tiresias drive_gavel),$(TEST_SH))
endif
ifneq ($(SAN),)
# These measure, package, test clients or read texts: sanitizers tell nothing of them.
TEST_SH := $(filter-out $(patsubst %,tests/cli/%.sh,fidelity deb install man completion help \
	client_python client_c),$(TEST_SH))
TEST_SH := $(filter-out tests/slurm/%,$(TEST_SH))
# Published figures on whole traces: the same code as in conformance, for longer.
TEST_BIN := $(if $(T),$(TEST_BIN),$(filter-out %_parity_test,$(TEST_BIN)))
endif
# Built where libslurm is.
BRIDGE := $(if $(wildcard $(SLURM_PREFIX)/include/slurm/slurm.h),$(B)/stint-slurm,no-slurm)
FAKES := $(B)/tests/fake/libnvidia-ml.so.1 $(B)/tests/fake/libfaults.so $(B)/tests/fake/libclock.so
FUZZ_BIN := $(patsubst tests/fuzz/%.c,$(B)/fuzz/%,$(FUZZ_SRC))

# A target that sets up and then needs the build runs make again, on all cores
# unless told otherwise.
BUILD = $(MAKE) $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))
MAKEFLAGS += --no-print-directory

# Short lines instead of whole commands, unless V=1; none with make --quiet.  Each is numbered: [123/620].  On a
# terminal one line is rewritten, elsewhere there is a line for each tenth.
quiet := $(findstring s,$(filter-out --%,$(firstword $(MAKEFLAGS))))
say = $(if $(BUILD_COUNT),@: one-to-build; ,$(if $(V),,@$(if $(quiet),,$(call counted,$(1),$(2)) )))
# Recipes are expanded by make itself, one after the other, also with -j: that is where they are counted.
DONE :=
counted = $(eval DONE += x)tools/say $(words $(DONE)) $(TOTAL) $(1) $(2)
# What a dry run would build.  It is asked once, and only where something is built.
TOTAL = $(call once,TOTAL,$(shell MAKEFLAGS= $(MAKE) -n $(MAKEOVERRIDES) BUILD_COUNT=1 $(MAKECMDGOALS) 2>/dev/null | \
	grep -c one-to-build))

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.SECONDARY:
.PHONY: FORCE

# ---- build

.PHONY: all tests fuzzers clean no-slurm
all: $(B)/stint $(B)/stint-guard $(BRIDGE) ## build the program (CC, OPT, SAN=address,undefined, B=directory, V=1)

tests: $(TEST_BIN) $(FAKES) ## build the test programs without running them

$(B)/stint: $(B)/obj/src/cli/main.o $(LIB)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

# The parent of every job: small, and needs nothing that a program of jobs could lack.
$(B)/stint-guard: $(B)/obj/src/live/local/guard_main.o $(LIB)
	$(call say,LINK,$@)$(LINK) -o $@ $^ -lm

# Nothing of $(LIB) here: licences.
$(B)/stint-slurm: $(call obj,$(BRIDGE_SRC))
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(SLURM_LIBS)
$(B)/bench/slurm_bare: $(call obj,slurm/bench_bare.c slurm/gres.c)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(SLURM_LIBS)
$(B)/obj/slurm/%.o: private INCLUDE := -I$(SLURM_PREFIX)/include

no-slurm:
	@$(if $(quiet),:,echo '  no bridge to Slurm is built: libslurm-dev is not installed (tools/setup test does that)')

$(LIB): $(call obj,$(LIB_SRC)) $(B)/sources
	@rm -f $@
	$(call say,AR,$@)ar rcs $@ $(filter %.o,$^)

$(B)/obj/%.o: %.c $(B)/flags
	@mkdir -p $(@D)
	$(call say,CC,$<)$(COMPILE) $(INCLUDE) -MMD -MP -c -o $@ $<

# Sanitizers look for what is wrong in the library; tests compile in half the time unoptimised.
$(B)/obj/tests/%.o: private INCLUDE := -Itests $(if $(SAN),-O0)

$(B)/bench/%: $(B)/obj/bench/%.o $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(LINK) -o $@ $^ $(LIBS)

$(B)/tests/%_test: $(B)/obj/tests/%_test.o $(call obj,$(SUPPORT_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(TEST_LINK) -o $@ $^ $(TEST_LIBS) $(LIBS)

# What tests put under a program (LD_PRELOAD): bare, without the sanitizers of what it is put under.
$(B)/tests/fake/libfaults.so: tests/support/faults/faults.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -fPIC -shared -o $@ $< -ldl
$(B)/tests/fake/libclock.so: tests/support/clock/clock.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) -O2 -g -fPIC -shared -o $@ $<
$(B)/tests/store/record_faults_test $(B)/tests/store/identity_faults_test $(B)/tests/daemon/crash_test: | $(B)/tests/fake/libfaults.so

# Test doubles of libraries that are loaded at run time.
$(B)/tests/fake/libnvidia-ml.so.1: tests/support/fake_nvml/nvml.c
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(CC) -std=c11 -D_GNU_SOURCE $(WARN) $(OPT) -g -shared -fPIC -o $@ $<
$(B)/tests/live/local/discover_test: | $(FAKES)

# The page, as C.
WEB_FILES := $(sort $(wildcard web/*))
$(B)/gen/api/page_files.h: $(WEB_FILES) tools/embed
	@mkdir -p $(@D)
	$(call say,EMBED,web)sh -c 'tools/embed $(WEB_FILES) >$@'
$(B)/obj/src/api/page.o: $(B)/gen/api/page_files.h

# The script that holds jobs for Stint, likewise.
$(B)/gen/cli/hook_files.h: share/slurm/job_submit.lua tools/embed
	@mkdir -p $(@D)
	$(call say,EMBED,$<)sh -c 'tools/embed $< >$@'
$(B)/obj/src/cli/cmd_slurm.o: $(B)/gen/cli/hook_files.h

# Rewritten only when their text changes; what depends on them is built anew then.
$(B)/flags: text = $(COMPILE)
$(B)/sources: text = $(LIB_SRC)
# Not in a dry run, which takes each recipe for a change.
$(B)/flags $(B)/sources: $(if $(BUILD_COUNT),,FORCE)
	@mkdir -p $(@D)
	@pkg-config --exists $(PKGS) || { echo 'libraries are missing: run tools/setup' >&2; exit 1; }
	@echo '$(text)' | cmp -s - $@ || echo '$(text)' >$@

-include $(patsubst %.c,$(B)/obj/%.d,$(LIB_SRC) $(MAIN_SRC) $(SUPPORT_SRC) $(TEST_SRC) $(FUZZ_SRC) \
	$(wildcard bench/*.c slurm/*.c))

clean: ## remove everything that was built
	rm -rf build build-*

# ---- run and test

.PHONY: run compare test check browser torch soak bench bench-slurm parity determinism
run: ## set up, build, and run jobs on this machine: the daemon, a small demo, the queue
	@tools/setup
	@$(BUILD) all
	@STINT='$(abspath $(B)/stint)' examples/demo.sh

compare: ## set up, build, and compare policies on the bundled workload
	@tools/setup
	@$(BUILD) all
	@STINT='$(abspath $(B)/stint)' examples/compare.sh

test: ## set up, build, and run every test (T=text: only matching ones)
	@tools/setup test
	@$(BUILD) check

# Sanitizers slow programs down to a third: property tests run a quarter of their rounds with them.
check: export TEST_SCALE ?= $(if $(SAN),0.25,1)
check: $(B)/stint $(B)/stint-guard $(BRIDGE) $(TEST_BIN) $(FAKES)
	@STINT='$(abspath $(B)/stint)' tools/run-tests $(TEST_BIN) $(TEST_SH)

browser: ## test the page in a real browser, which is installed for it
	@tools/setup browser
	@$(BUILD) check BROWSER=1 T=tests/web

torch: ## test the PyTorch loop of doc/clients.md with a real PyTorch, which is installed for it
	@tools/setup torch
	@$(BUILD) check TORCH=1 T=client_torch

soak: ## long: a daemon in trouble for an hour, every fuzz target for an hour, many seeds
	@tools/setup test
	@tools/setup clang
	@$(BUILD) all $(FAKES)
	@STINT='$(abspath $(B)/stint)' tools/soak $(SOAK_MINUTES)
	tools/fuzz 3600
	@SOAK=1 TEST_TIMEOUT=14400 $(BUILD) check

bench: ## measure speed and memory
	@tools/setup
	@$(BUILD) all $(B)/bench/solver $(B)/bench/sia $(B)/bench/pollux $(B)/bench/snapshot \
		$(B)/bench/forecast $(B)/bench/cells $(B)/bench/mapa
	@STINT='$(abspath $(B)/stint)' bench/run.sh
	@[ "$$(id -u)" != 0 ] || ! PATH="$$PATH:/usr/sbin" command -v slurmctld >/dev/null || \
		echo 'With a Slurm of its own, some ten minutes: make bench-slurm'

bench-slurm: ## measure driving Slurm, with a cluster of its own; needs root
	@tools/setup
	@$(BUILD) all $(if $(filter no-slurm,$(BRIDGE)),,$(B)/bench/slurm_bare)
	@for part in switch poll fidelity; do \
		echo; STINT='$(abspath $(B)/stint)' bench/slurm_$$part.sh || exit 1; done

parity: ## compare with published simulators, one table
	@tools/setup
	@$(BUILD) all
	@STINT='$(abspath $(B)/stint)' tools/parity

determinism: ## equal results from gcc and clang, unoptimised and optimised, one thread and two
	@tools/setup clang
	@tools/check-determinism

# ---- fuzzing

.PHONY: fuzz
fuzz: ## run every fuzz target (FUZZ_SECONDS=60)
	@tools/setup clang
	@tools/fuzz $(FUZZ_SECONDS)

# tools/fuzz says how: ENGINE=libfuzzer with clang, ENGINE=driver (fuzz_main.c) elsewhere.
ENGINE ?= driver
ifeq ($(ENGINE),libfuzzer)
$(FUZZ_BIN): LDFLAGS += -fsanitize=fuzzer
else
FUZZ_MAIN := $(call obj,tests/fuzz/fuzz_main.c)
endif

fuzzers: $(FUZZ_BIN)

$(B)/fuzz/%: $(B)/obj/tests/fuzz/%.o $(FUZZ_MAIN) $(call obj,$(SUPPORT_SRC)) $(LIB)
	@mkdir -p $(@D)
	$(call say,LINK,$@)$(TEST_LINK) -o $@ $^ $(TEST_LIBS) $(LIBS)

# ---- quality

.PHONY: lint lint-layers lint-format lint-shell lint-warnings lint-names lint-cppcheck fmt cov
C_FILES = $(call find,src tests bench examples slurm,*.[ch])
SHELL_FILES = $(shell grep -lE '^\#!/(usr/)?bin/(env )?(ba)?sh' \
	tools/* .ci/* bench/* examples/* tests/*/*.sh tests/records/make 2>/dev/null)
CLANG_FORMAT ?= $(firstword $(shell command -v clang-format-14 clang-format))

lint: ## layers, format, shell, warnings as errors, cppcheck
	@tools/setup lint
	@$(BUILD) -k lint-layers lint-format lint-shell lint-warnings lint-names lint-cppcheck

lint-layers:
	@tools/check-layers

lint-format:
	@$(CLANG_FORMAT) --dry-run --Werror $(C_FILES)

lint-shell:
	@if command -v shellcheck >/dev/null; then shellcheck -x $(SHELL_FILES); \
	else echo 'shellcheck is not installed: shell scripts were not checked'; fi

lint-warnings:
	@$(MAKE) --quiet B=build-werror CFLAGS=-Werror all tests

# An archive hides two functions of one name: the linker takes whichever it meets first.
lint-names: $(LIB)
	@twice=$$(nm -g $(LIB) | awk '$$2 == "T" || $$2 == "D" || $$2 == "R" { print $$3 }' | \
		sort | uniq -d); [ -z "$$twice" ] || { echo "defined twice: $$twice"; exit 1; }

lint-cppcheck:
	@cppcheck --quiet --std=c11 --language=c --enable=warning,performance,portability \
		--inline-suppr --suppress=missingIncludeSystem --suppress=normalCheckLevelMaxBranches \
		--error-exitcode=1 -D__linux__ -DSTINT_VERSION='"0"' -Isrc -j $(shell nproc) src slurm

# A table keeps a line per row where its last row ends in a comma.
fmt: ## format the sources
	@tools/setup lint
	@sed -Ezi 's/(\}|NULL)\n(\t*\};)/\1,\n\2/g' $(C_FILES)
	@$(CLANG_FORMAT) -i $(C_FILES)

cov: ## line coverage per folder; base, model, engine and policy must reach 90 %
	@tools/setup cov
	@find build-cov -name '*.gcda' -delete 2>/dev/null || true
	@$(BUILD) B=build-cov OPT=-O0 CFLAGS='--coverage -fprofile-update=atomic' check
	@tools/coverage build-cov

# ---- new parts, installing, help

.PHONY: new-policy install uninstall deb help
new-policy: ## a compiling policy: make new-policy NAME=my-policy FAMILY=order
	@tools/new-policy '$(NAME)' '$(FAMILY)'

DOC_DIR = $(DESTDIR)$(PREFIX)/share/doc/stint
DOC_FILES = $(wildcard README.md CHANGELOG.md CONTRIBUTING.md LICENSE slurm/README.md slurm/LICENSE) $(call find,doc,*.md)
CLIENT_FILES = $(call find,clients,*.py) $(call find,clients,*.[ch]) $(call find,clients,*.md) $(filter-out %__pycache__,$(wildcard examples/live/*))
SHARE = $(DESTDIR)$(PREFIX)/share
UNITS = $(DESTDIR)$(PREFIX)/lib/systemd
BASH_COMPLETION = $(SHARE)/bash-completion/completions/stint
ZSH_COMPLETION = $(SHARE)/zsh/site-functions/_stint
FISH_COMPLETION = $(SHARE)/fish/vendor_completions.d/stint.fish

# Pages and completions come from the program itself.
install: all ## install below PREFIX (/usr/local), staged in DESTDIR
	install -D -m 755 $(B)/stint $(DESTDIR)$(PREFIX)/bin/stint
	install -D -m 755 $(B)/stint-guard $(DESTDIR)$(PREFIX)/libexec/stint/stint-guard
	@[ ! -x $(B)/stint-slurm ] || install -D -m 755 $(B)/stint-slurm $(DESTDIR)$(PREFIX)/libexec/stint/stint-slurm
	@for f in $(DOC_FILES); do install -D -m 644 "$$f" "$(DOC_DIR)/$$f" || exit 1; done
	@for f in $(CLIENT_FILES); do install -D -m 644 "$$f" "$(SHARE)/stint/$$f" || exit 1; done
	$(B)/stint man --quiet --all $(SHARE)/man/man1
	@mkdir -p $(dir $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)) $(UNITS)/system $(UNITS)/user
	$(B)/stint completion bash >$(BASH_COMPLETION)
	$(B)/stint completion zsh >$(ZSH_COMPLETION)
	$(B)/stint completion fish >$(FISH_COMPLETION)
	sed 's,/usr/bin/stint,$(PREFIX)/bin/stint,' service/stint.service >$(UNITS)/system/stint.service
	install -m 644 service/stint-http.socket $(UNITS)/system/stint-http.socket
	sed 's,/usr/bin/stint,$(PREFIX)/bin/stint,' service/user/stint.service >$(UNITS)/user/stint.service

uninstall: ## remove what install put there
	rm -f $(DESTDIR)$(PREFIX)/bin/stint $(SHARE)/man/man1/stint.1 $(SHARE)/man/man1/stint-*.1
	rm -f $(BASH_COMPLETION) $(ZSH_COMPLETION) $(FISH_COMPLETION)
	rm -f $(UNITS)/system/stint.service $(UNITS)/system/stint-http.socket $(UNITS)/user/stint.service
	rm -rf $(DESTDIR)$(PREFIX)/libexec/stint $(SHARE)/stint $(DOC_DIR)

# DEB_DIR: where the package goes.  -o all: what was just built is not looked at again.
DEB_DIR ?= $(B)
deb: all ## a Debian package, build/stint_VERSION_ARCH.deb
	@rm -rf $(DEB_DIR)/deb-root
	@$(MAKE) -s -o all install DESTDIR=$(abspath $(DEB_DIR))/deb-root PREFIX=/usr \
		ZSH_COMPLETION='$$(SHARE)/zsh/vendor-completions/_stint'
	@packaging/build-deb $(DEB_DIR)/deb-root $(DEB_DIR) $(VERSION)
	@rm -rf $(DEB_DIR)/deb-root

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
