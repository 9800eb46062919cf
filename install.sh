#!/usr/bin/env bash
# install.sh: system packages, build, install for this user, wire the agents found, take in the history, show a first result.
# Can be run again at any time; needs no network once the packages are there.
set -euo pipefail

usage() {
	cat <<'USAGE'
usage: ./install.sh [--yes] [--prefix DIR] [--no-packages] [--no-agents] [--no-import] [--no-model]

  --yes           install missing system packages without asking
  --prefix DIR    where the programs go (default ~/.local)
  --no-packages   do not look for system packages
  --no-agents     do not change any agent's configuration
  --no-model      do not fetch the model file that finding by meaning needs
  --no-import     do not take in the sessions that are already on disk
USAGE
}

yes='' prefix=${PREFIX:-${HOME:?HOME is not set}/.local} packages=1 agents=1 import=1 model=1
while [ $# -gt 0 ]; do
	case $1 in
	--yes | -y) yes=1 ;;
	--prefix) prefix=${2:?--prefix needs a folder}; shift ;;
	--prefix=*) prefix=${1#*=} ;;
	--no-packages) packages='' ;;
	--no-agents) agents='' ;;
	--no-import) import='' ;;
	--no-model) model='' ;;
	-h | --help) usage; exit 0 ;;
	*) echo "install.sh: unknown option $1" >&2; usage >&2; exit 2 ;;
	esac
	shift
done
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac
top=$(cd "$(dirname "$0")" && pwd)
cd "$top"

bold='' plain=''
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then
	bold=$'\033[1m' plain=$'\033[0m'
fi
step() { printf '%s%s%s\n' "$bold" "$*" "$plain"; }

if [ -n "$packages" ]; then
	if missing=$(packaging/packages --print); then
		if [ -n "$missing" ]; then
			step "System packages needed: $missing"
			if [ -z "$yes" ] && [ "$(id -u)" != 0 ]; then
				if [ ! -t 0 ]; then
					echo "install.sh: run it with --yes to install them, or install them yourself:" >&2
					echo "  sudo apt-get install $missing" >&2
					exit 1
				fi
				printf 'Install them with sudo apt-get? [Y/n] '
				read -r answer
				case $answer in [nN]*) echo "Stopped. Nothing was changed."; exit 1 ;; esac
			fi
			packaging/packages
		fi
	else
		echo "install.sh: then run it again with --no-packages." >&2
		exit 1
	fi
fi

step "Building"
build=$top/build-install
log=$build.log
if ! { { [ -e "$build/build.ninja" ] || meson setup "$build" --buildtype=release --prefix "$prefix"; } &&
	meson configure "$build" -Dprefix="$prefix" && ninja -C "$build"; } >"$log" 2>&1; then
	tail -n 30 "$log" >&2
	echo "install.sh: the build failed; the whole record is in $log" >&2
	exit 1
fi

step "Installing into $prefix"
meson install -C "$build" --no-rebuild --quiet
remanence=$prefix/bin/remanence
"$remanence" --version
case :$PATH: in
*:"$prefix/bin":*) ;;
*) echo "Note: $prefix/bin is not on your PATH; add it to call 'remanence' by its name." ;;
esac

# With the default prefix the model lies in the data folder, which is for its owner only, whoever makes it first.
data=${XDG_DATA_HOME:-$HOME/.local/share}/remanence
mkdir -p "$data"
chmod 700 "$data"

if [ -n "$model" ]; then
	step "Getting the model file for finding by meaning (32 MB)"
	if tools/model-get "$prefix/share/remanence"; then
		:
	elif [ $? = 3 ]; then
		echo "Note: finding by meaning stays off until it is there; everything else works. Later: tools/model-get '$prefix/share/remanence'"
	else
		echo "Note: the model file could not be made; finding by meaning stays off, everything else works."
	fi
fi

if [ -n "$agents" ]; then
	step "Wiring the agents found"
	"$remanence" install || echo "Some agents could not be wired; 'remanence doctor' says which and why."
fi

if [ -n "$import" ]; then
	step "Taking in the sessions on disk"
	"$remanence" welcome || echo "The history could not be taken in; 'remanence doctor' says why, 'remanence import' tries again."
fi
