# widecol: three modules, one extension.
#
#   widecol.so          what backends load; knows no RocksDB
#   widecol_engine.so   core, RocksDB and the background worker's main
#   widecol_hbase.so    what backends load at the first server with engine 'hbase'
#
# PGXS builds one module from one list of objects with one set of flags.  We
# need two, and objects that are compiled without PostgreSQL's include path
# (src/README: the wall), so the rules are our own; what PGXS knows is asked of
# pg_config.  Files are found by folder: a new one needs no edit here.
#
#   make PG_CONFIG=/path/to/pg_config CC=clang
#   make V=1                                     show the commands

PG_CONFIG ?= pg_config
ifeq ($(origin CC),default)
CC = gcc
endif
ifeq ($(origin CXX),default)
# The compiler of the same make, version and wrapper: gcc-12 and g++-12, clang and clang++.
CXX := $(shell printf '%s\n' '$(CC)' | sed -e 's/clang/clang++/' -e 's/gcc/g++/')
endif
INSTALL ?= install
CLANG_FORMAT ?= clang-format

pkglibdir    := $(shell $(PG_CONFIG) --pkglibdir)
extensiondir := $(shell $(PG_CONFIG) --sharedir)/extension
includedir   := $(shell $(PG_CONFIG) --includedir-server)
bindir       := $(shell $(PG_CONFIG) --bindir)
pgxsdir      := $(patsubst %/src/makefiles/pgxs.mk,%,$(shell $(PG_CONFIG) --pgxs))
ifeq ($(pkglibdir),)
$(error $(PG_CONFIG) does not run: name PostgreSQL's pg_config with PG_CONFIG=...)
endif

BUILD = build
QUIET = $(if $(V),,@)
say = $(if $(V),,@echo '  $(1)  $@')
EXTENSION_FILES = widecol.control $(wildcard widecol--*.sql)

# --- what is built from what ------------------------------------------------
WIRE_DIRS   = $(addprefix wire/,wait message shared)
READ_DIRS   = read $(addprefix read/,cell txn filter scan)
ENGINE_DIRS = $(addprefix engine/,rocks copies store source forget catalog write estimate) engine
RPC_DIRS    = rpc $(addprefix rpc/,lock session log)
CORE_DIRS   = base model rowkey filterlang $(WIRE_DIRS) thrift $(READ_DIRS) $(ENGINE_DIRS) $(RPC_DIRS)
SHARED_DIRS = channel
FDW_DIRS = fdw $(addprefix fdw/,convert relation ddl condition plan row scan statement write dump)
SHELL_DIRS = shell $(addprefix shell/,table data value)
CLIENT_DIRS = $(addprefix client/,session foreign local txn catalog) client
BACKEND_DIRS = $(CLIENT_DIRS) $(FDW_DIRS) $(SHELL_DIRS)
WORKER_DIRS = worker
HBASE_DIRS = $(addprefix hbase/,gateway catalog changes scan commit) hbase

# Of core, a backend gets what holds no engine.
BACKEND_CORE_DIRS = base model rowkey filterlang $(WIRE_DIRS)
# The engine module links these from the library.
ENGINE_CORE_DIRS  = base model rowkey filterlang $(WIRE_DIRS) $(READ_DIRS) $(ENGINE_DIRS) $(RPC_DIRS)
# And the module of HBase's driver.
HBASE_CORE_DIRS   = base model rowkey filterlang $(READ_DIRS) thrift

files   = $(sort $(foreach dir,$(1),$(wildcard src/$(dir)/*.c)))
objects = $(patsubst src/%.c,$(BUILD)/%.o,$(patsubst src/%.cc,$(BUILD)/%.o,$(1)))

CORE_SRCS    := $(call files,$(CORE_DIRS))
CXX_SRCS     := $(sort $(wildcard src/engine/rocks/*.cc))
PG_SRCS      := $(call files,$(SHARED_DIRS) $(BACKEND_DIRS) $(WORKER_DIRS) $(HBASE_DIRS)) $(wildcard src/widecol.c)
BACKEND_OBJS := $(call objects,$(call files,$(BACKEND_CORE_DIRS) $(SHARED_DIRS) $(BACKEND_DIRS)) $(wildcard src/widecol.c))
WORKER_OBJS  := $(call objects,$(call files,$(SHARED_DIRS) $(WORKER_DIRS)))
HBASE_OBJS   := $(call objects,$(call files,$(HBASE_CORE_DIRS) $(HBASE_DIRS)))
LIB_OBJS     := $(call objects,$(call files,$(ENGINE_CORE_DIRS)) $(CXX_SRCS))
UNIT_SRCS    := $(sort $(wildcard test/unit/test_*.c) $(wildcard test/model/test_*.c))
UNIT_SHARED  := $(filter-out $(UNIT_SRCS),$(sort $(wildcard test/unit/*.c) $(wildcard test/model/*.c)))
FUZZ_SRCS    := $(sort $(wildcard test/fuzz/fuzz_*.c))
FUZZ_REPLAY  := test/fuzz/test_corpus.c

CORE_LIB = $(BUILD)/libwidecol_core.a
MODULES  = $(BUILD)/widecol.so $(BUILD)/widecol_engine.so $(BUILD)/widecol_hbase.so

# --- flags ------------------------------------------------------------------
WARNINGS      = -Wall -Wextra -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla -Wno-unused-parameter
CORE_WARNINGS = $(WARNINGS) -Wshadow
PG_WARNINGS   = $(WARNINGS) -Wno-sign-compare -Wno-missing-field-initializers

OPT = -O2 -g -fno-omit-frame-pointer
HARDENING = -fstack-protector-strong -D_FORTIFY_SOURCE=2
COMMON = -fPIC -pthread -fno-strict-aliasing -fwrapv -MMD -MP -Isrc $(WC_CFLAGS)

CORE_CFLAGS = -std=c11 -D_GNU_SOURCE $(OPT) $(HARDENING) $(COMMON) -fvisibility=hidden $(CORE_WARNINGS)

# What RocksDB's C API lacks is in C++: with the flags of core, and without run-time
# type information, as librocksdb is compiled.
CXX_STD = -std=c++17 -fno-rtti
CXX_WARNINGS = -Wall -Wextra -Werror -Wno-unused-parameter -Wshadow
CXX_CFLAGS = $(CXX_STD) -D_GNU_SOURCE $(OPT) $(HARDENING) $(COMMON) -fvisibility=hidden $(CXX_WARNINGS)

# PG_FUNCTION_INFO_V1 of PostgreSQL 15 does not mark what it declares, so that
# hidden visibility would hide SQL's functions too: on this side the exports
# files below do the hiding, at link time.
PG_CFLAGS = -std=gnu11 -D_GNU_SOURCE $(OPT) $(HARDENING) $(COMMON) -fno-semantic-interposition $(PG_WARNINGS) -isystem $(includedir)

MODULE_LDFLAGS = -shared -pthread -Wl,--as-needed -Wl,-z,relro -Wl,-z,now $(WC_LDFLAGS)
ROCKSDB_LIBS = -lrocksdb -lstdc++
# Regular expressions of filters.
PCRE2_LIBS = -lpcre2-8
# HTTP to HBase's gateway.
CURL_LIBS = -lcurl

# --- modules ----------------------------------------------------------------
.PHONY: all install uninstall installcheck check check-all check-hbase unit unit-asan unit-tsan fuzz lint format clean
.DELETE_ON_ERROR:
.DEFAULT_GOAL = all

all: $(MODULES)

# A file that went away must leave the library and the modules too: they depend
# on the list of their objects, not only on the objects.
define list_rule
$(BUILD)/$(1).list: FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' $(2) | cmp -s - $$@ || printf '%s\n' $(2) >$$@
endef
.PHONY: FORCE
FORCE:
$(eval $(call list_rule,core,$(LIB_OBJS)))
$(eval $(call list_rule,backend,$(BACKEND_OBJS)))
$(eval $(call list_rule,worker,$(WORKER_OBJS)))
$(eval $(call list_rule,hbase,$(HBASE_OBJS)))

$(CORE_LIB): $(call objects,$(CORE_SRCS) $(CXX_SRCS)) $(BUILD)/core.list
	$(call say,AR)
	$(QUIET)rm -f $@
	$(QUIET)$(AR) rcs $@ $(filter %.o,$^)

# SQL's functions are what the sources declare as such.
$(BUILD)/widecol.exports: $(PG_SRCS) $(BUILD)/backend.list
	$(QUIET){ echo '{ global:'; echo 'Pg_magic_func; _PG_init;'; \
	  sed -n 's/^PG_FUNCTION_INFO_V1(\(.*\)).*/\1; pg_finfo_\1;/p' $(filter %.c,$^); \
	  echo 'local: *; };'; } >$@

$(BUILD)/widecol_engine.exports: Makefile
	@mkdir -p $(@D)
	@echo '{ global: Pg_magic_func; wc_worker_main; local: *; };' >$@

$(BUILD)/widecol_hbase.exports: Makefile
	@mkdir -p $(@D)
	@echo '{ global: Pg_magic_func; wc_hbase_driver; local: *; };' >$@

$(BUILD)/widecol.so: $(BACKEND_OBJS) $(BUILD)/widecol.exports $(BUILD)/backend.list
	$(call say,LD)
	$(QUIET)$(CC) $(MODULE_LDFLAGS) -Wl,--version-script=$(BUILD)/widecol.exports -o $@ $(filter %.o,$^) $(PCRE2_LIBS)

$(BUILD)/widecol_engine.so: $(WORKER_OBJS) $(CORE_LIB) $(BUILD)/widecol_engine.exports $(BUILD)/worker.list
	$(call say,LD)
	$(QUIET)$(CC) $(MODULE_LDFLAGS) -Wl,--version-script=$(BUILD)/widecol_engine.exports -o $@ $(filter %.o,$^) $(CORE_LIB) $(ROCKSDB_LIBS) $(PCRE2_LIBS)

$(BUILD)/widecol_hbase.so: $(HBASE_OBJS) $(BUILD)/widecol_hbase.exports $(BUILD)/hbase.list
	$(call say,LD)
	$(QUIET)$(CC) $(MODULE_LDFLAGS) -Wl,--version-script=$(BUILD)/widecol_hbase.exports -o $@ $(filter %.o,$^) $(PCRE2_LIBS) $(CURL_LIBS)

# --- objects: build/ mirrors src/ ---------------------------------------------
$(call objects,$(CORE_SRCS)): $(BUILD)/%.o: src/%.c $(BUILD)/flags.core
	@mkdir -p $(@D)
	$(call say,CC)
	$(QUIET)$(CC) $(CORE_CFLAGS) -c -o $@ $<

$(call objects,$(CXX_SRCS)): $(BUILD)/%.o: src/%.cc $(BUILD)/flags.cxx
	@mkdir -p $(@D)
	$(call say,CXX)
	$(QUIET)$(CXX) $(CXX_CFLAGS) -c -o $@ $<

$(call objects,$(PG_SRCS)): $(BUILD)/%.o: src/%.c $(BUILD)/flags.pg
	@mkdir -p $(@D)
	$(call say,CC)
	$(QUIET)$(CC) $(PG_CFLAGS) -c -o $@ $<

# Another compiler, server or flag means other objects.
define flags_rule
$(BUILD)/flags.$(1): FORCE
	@mkdir -p $$(@D)
	@printf '%s\n' '$(2)' | cmp -s - $$@ || printf '%s\n' '$(2)' >$$@
endef
$(eval $(call flags_rule,core,$(CC) $(CORE_CFLAGS)))
$(eval $(call flags_rule,cxx,$(CXX) $(CXX_CFLAGS)))
$(eval $(call flags_rule,pg,$(CC) $(PG_CFLAGS)))
$(eval $(call flags_rule,asan,$(CC) $(CXX) $(CORE_CFLAGS)))
$(eval $(call flags_rule,tsan,$(CC) $(CXX) $(CORE_CFLAGS)))
$(eval $(call flags_rule,fuzz,$(FUZZ_CC) $(CORE_CFLAGS)))

# --- unit tests of core, with sanitizers --------------------------------------
SANITIZE_asan = -fsanitize=address,undefined -fno-sanitize-recover=all
# Fences stand between atomic operations, in which TSan sees no races without them, too.  GCC warns of a fence where it inlines one.
SANITIZE_tsan = -fsanitize=thread -DWC_TSAN $(if $(findstring clang,$(CC)),,-Wno-tsan)

# Of C++ objects the sanitizer would want the type information that there is none of.
SANITIZE_CXX_asan = $(SANITIZE_asan) -fno-sanitize=vptr
SANITIZE_CXX_tsan = $(SANITIZE_tsan)

# The fuzz targets' corpora, replayed; no threads, so not under TSan.
UNIT_ALSO_asan = $(FUZZ_REPLAY)
$(BUILD)/asan/test/fuzz/test_corpus: $(patsubst %.c,$(BUILD)/asan/%.o,$(FUZZ_SRCS) test/fuzz/fuzz.c)

# $(1): asan or tsan.  The core library once more, then one program a test file.
define unit_rules
UNIT_CORE_$(1) := $$(patsubst src/%.c,$(BUILD)/$(1)/%.o,$$(CORE_SRCS))
UNIT_CXX_$(1) := $$(patsubst src/%.cc,$(BUILD)/$(1)/%.o,$$(CXX_SRCS))
UNIT_SHARED_$(1) := $$(patsubst test/%.c,$(BUILD)/$(1)/test/%.o,$$(UNIT_SHARED))
UNIT_TESTS_$(1) := $$(patsubst test/%.c,$(BUILD)/$(1)/test/%,$$(UNIT_SRCS) $$(UNIT_ALSO_$(1)))
UNIT_CFLAGS_$(1) := -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer $$(COMMON) $$(CORE_WARNINGS) $$(SANITIZE_$(1))
UNIT_CXXFLAGS_$(1) := $$(CXX_STD) -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer $$(COMMON) $$(CXX_WARNINGS) $$(SANITIZE_CXX_$(1))

$(BUILD)/$(1)/libwidecol_core.a: $$(UNIT_CORE_$(1)) $$(UNIT_CXX_$(1)) $(BUILD)/core.list
	$$(call say,AR)
	$$(QUIET)rm -f $$@
	$$(QUIET)$$(AR) rcs $$@ $$(filter %.o,$$^)

$$(UNIT_CORE_$(1)): $(BUILD)/$(1)/%.o: src/%.c $(BUILD)/flags.$(1)
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(QUIET)$$(CC) $$(UNIT_CFLAGS_$(1)) -c -o $$@ $$<

$$(UNIT_CXX_$(1)): $(BUILD)/$(1)/%.o: src/%.cc $(BUILD)/flags.$(1)
	@mkdir -p $$(@D)
	$$(call say,CXX)
	$$(QUIET)$$(CXX) $$(UNIT_CXXFLAGS_$(1)) -c -o $$@ $$<

$(BUILD)/$(1)/test/%.o: test/%.c $(BUILD)/flags.$(1)
	@mkdir -p $$(@D)
	$$(call say,CC)
	$$(QUIET)$$(CC) $$(UNIT_CFLAGS_$(1)) -Wno-missing-prototypes -c -o $$@ $$<

$$(UNIT_TESTS_$(1)): %: %.o $$(UNIT_SHARED_$(1)) $(BUILD)/$(1)/libwidecol_core.a
	$$(call say,LD)
	$$(QUIET)$$(CC) $$(SANITIZE_$(1)) -pthread $$(WC_LDFLAGS) -o $$@ $$(filter %.o,$$^) $$(filter %.a,$$^) -lcmocka $$(ROCKSDB_LIBS) $$(PCRE2_LIBS) -lm

.PHONY: unit-$(1)-build
.PRECIOUS: $(BUILD)/$(1)/test/%.o
unit-$(1)-build: $$(UNIT_TESTS_$(1))
	@printf '%s\n' $$(UNIT_TESTS_$(1)) >$(BUILD)/$(1)/tests

unit-$(1): unit-$(1)-build
	sh test/unit.sh $(BUILD)/$(1)
endef
$(eval $(call unit_rules,asan))
$(eval $(call unit_rules,tsan))

unit: unit-asan unit-tsan

# --- fuzzing of core's decoders: clang with libFuzzer (test/fuzz/README) ------------
ifeq ($(origin FUZZ_CC),undefined)
# Debian 12's, else Debian 13's.
FUZZ_CC := $(shell for version in 14 19; do command -v clang-$$version && exit; done; echo clang-14)
endif
FUZZ_SANITIZE = address,undefined -fno-sanitize-recover=all
FUZZ_CFLAGS = -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer $(COMMON) $(CORE_WARNINGS)
FUZZ_CORE_SRCS := $(call files,base model rowkey filterlang $(WIRE_DIRS) thrift $(READ_DIRS)) src/engine/rocks/cellkey.c \
  src/engine/store/gone.c src/engine/source/storedrow.c
FUZZ_CORE := $(patsubst src/%.c,$(BUILD)/fuzz/%.o,$(FUZZ_CORE_SRCS))
FUZZ_TARGETS := $(patsubst test/%.c,$(BUILD)/fuzz/test/%,$(FUZZ_SRCS))

$(FUZZ_CORE): $(BUILD)/fuzz/%.o: src/%.c $(BUILD)/flags.fuzz
	@mkdir -p $(@D)
	$(call say,CC)
	$(QUIET)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -c -o $@ $<

$(BUILD)/fuzz/test/%.o: test/%.c $(BUILD)/flags.fuzz
	@mkdir -p $(@D)
	$(call say,CC)
	$(QUIET)$(FUZZ_CC) $(FUZZ_CFLAGS) -fsanitize=fuzzer-no-link,$(FUZZ_SANITIZE) -c -o $@ $<

$(FUZZ_TARGETS): %: %.o $(BUILD)/fuzz/test/fuzz/fuzz.o $(FUZZ_CORE)
	$(call say,LD)
	$(QUIET)$(FUZZ_CC) -fsanitize=fuzzer,$(FUZZ_SANITIZE) -pthread $(WC_LDFLAGS) -o $@ $^ $(ROCKSDB_LIBS) $(PCRE2_LIBS) -lm

.PRECIOUS: $(BUILD)/fuzz/test/%.o
fuzz: $(FUZZ_TARGETS)
	@printf '%s\n' $(FUZZ_TARGETS) >$(BUILD)/fuzz/targets

# --- installation -------------------------------------------------------------
install: all
	$(INSTALL) -d '$(DESTDIR)$(pkglibdir)' '$(DESTDIR)$(extensiondir)'
	$(INSTALL) -m 755 $(MODULES) '$(DESTDIR)$(pkglibdir)/'
	$(INSTALL) -m 644 $(EXTENSION_FILES) '$(DESTDIR)$(extensiondir)/'

uninstall:
	rm -f $(addprefix '$(DESTDIR)$(pkglibdir)'/,$(notdir $(MODULES)))
	rm -f $(addprefix '$(DESTDIR)$(extensiondir)'/,$(EXTENSION_FILES))

# --- tests --------------------------------------------------------------------
# Against a running server that has shared_preload_libraries = 'widecol'
# (PGHOST, PGPORT, PGUSER name it).
installcheck:
	@mkdir -p $(BUILD)/regress
	$(pgxsdir)/src/test/regress/pg_regress --bindir='$(bindir)' --inputdir=. --outputdir=$(BUILD)/regress \
	  --dbname=contrib_regression --encoding=UTF8 --no-locale --schedule=test/schedule $(EXTRA_REGRESS_OPTS)

# On a temporary server that they make.
check:
	PG_CONFIG='$(PG_CONFIG)' CC='$(CC)' sh test/check.sh

check-all:
	PG_CONFIG='$(PG_CONFIG)' CC='$(CC)' sh test/check.sh --all

# Foreign tables over a real HBase, which it fetches and starts (test/hbase/README); status 77: it cannot.
check-hbase: all
	PG_CONFIG='$(PG_CONFIG)' CC='$(CC)' sh test/hbase/check.sh

lint: all
	CC='$(CC)' PG_CONFIG='$(PG_CONFIG)' sh test/lint.sh

# --- for developers -----------------------------------------------------------
format:
	$(CLANG_FORMAT) -i $(sort $(wildcard src/*.[ch] src/*/*.[ch] src/*/*/*.[ch] $(CXX_SRCS) test/*/*.[ch]))

# For clangd and other tools that want to know each file's flags.
compile_commands.json: Makefile $(CORE_SRCS) $(CXX_SRCS) $(PG_SRCS) $(UNIT_SRCS)
	@{ echo '['; separator=; \
	  for file in $(CORE_SRCS); do printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' "$$separator" '$(CURDIR)' $$file '$(CC) $(CORE_CFLAGS)' $$file; separator=',\n'; done; \
	  for file in $(CXX_SRCS); do printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' "$$separator" '$(CURDIR)' $$file '$(CXX) $(CXX_CFLAGS)' $$file; separator=',\n'; done; \
	  for file in $(PG_SRCS); do printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' "$$separator" '$(CURDIR)' $$file '$(CC) $(PG_CFLAGS)' $$file; separator=',\n'; done; \
	  for file in $(UNIT_SRCS); do printf '%s{"directory": "%s", "file": "%s", "command": "%s -c %s"}' "$$separator" '$(CURDIR)' $$file '$(CC) $(UNIT_CFLAGS_asan)' $$file; separator=',\n'; done; \
	  echo ']'; } | sed 's/\\n/\n/g' >$@

clean:
	rm -rf $(BUILD) compile_commands.json

-include $(wildcard $(BUILD)/*.d $(BUILD)/*/*.d $(BUILD)/*/*/*.d $(BUILD)/*/*/*/*.d)
