# Shortcuts; meson and ninja do the work.
#   make check TESTS='-k once'     some of the tests          make bench MEMORIES=10000   a short run
#   make check BUILD=build-asan MESON_ARGS='-Db_sanitize=address,undefined -Db_lundef=false'
#   make realdata DIR=folder       the product over a folder of transcripts
BUILD ?= build
MESON ?= meson
NINJA ?= ninja
export BUILD

all: $(BUILD)/build.ninja
	$(NINJA) -C $(BUILD)

$(BUILD)/build.ninja:
	$(MESON) setup $(BUILD) $(MESON_ARGS)

# What the tests need is fetched first: system packages here, the rest by tests/run. Real model servers are built meanwhile, once.
check:
	packaging/packages --tests
	[ "$$REMANENCE_TEST_E2E" = 0 ] || { tests/ollama background; tests/llama background; }
	$(MAKE) all
	tests/run $(TESTS)

bench: all
	bench/run $(ARGS)

realdata: all
	bench/realdata $(if $(DIR),"$(DIR)",$(error say which folder: make realdata DIR=folder))

fuzz:
	tests/fuzz/run $(ARGS)

install: all
	$(MESON) install -C $(BUILD)

# Headers are laid out by hand: one contract a line reads better than what the tool makes of it.
format:
	clang-format -i $$(git ls-files '*.c')

clean:
	rm -rf $(BUILD)

.PHONY: all check bench fuzz realdata install format clean
