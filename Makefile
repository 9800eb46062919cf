# Shortcuts; meson and ninja do the work.
BUILD ?= build
MESON ?= meson
NINJA ?= ninja

all: $(BUILD)/build.ninja
	$(NINJA) -C $(BUILD)

$(BUILD)/build.ninja:
	$(MESON) setup $(BUILD) $(MESON_ARGS)

check: all
	@if [ -x tests/run ]; then BUILD=$(BUILD) tests/run $(TESTS); \
	else $(MESON) test -C $(BUILD) --print-errorlogs; fi

unit: all
	$(MESON) test -C $(BUILD) --print-errorlogs --suite unit

bench fuzz realdata: all
	@found=; for script in $@/run tests/$@/run; do \
		if [ -x $$script ]; then found=1; BUILD=$(BUILD) $$script $(ARGS); break; fi; \
	done; [ -n "$$found" ] || { echo "there is no $@/run yet" >&2; exit 1; }

install: all
	$(MESON) install -C $(BUILD)

# Headers are laid out by hand: one contract a line reads better than what the tool makes of it.
format:
	clang-format -i $$(git ls-files '*.c')

clean:
	rm -rf $(BUILD)

.PHONY: all check unit bench fuzz realdata install format clean
