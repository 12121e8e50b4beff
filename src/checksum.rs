//! SHA-256 of files, and the `SHA256SUMS` file that lies beside a model's files and tells where they came from.
//!
//! The format is the one that `sha256sum -c` reads: `<hash>  <name>` per line, comments after `#`.

use std::fs::File;
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

/// The name of the list of hashes inside a folder.
pub const SUMS_FILE: &str = "SHA256SUMS";

/// The SHA-256 of some bytes, in lower-case hexadecimal.
pub fn of_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// The SHA-256 of a file, in lower-case hexadecimal, read in pieces.
///
/// # Errors
/// Whatever reading the file says.
pub fn of_file(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut hasher = Sha256::new();
    let mut piece = vec![0; 1 << 20];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hex(&hasher.finalize())),
            read => hasher.update(piece.get(..read).unwrap_or_default()),
        }
    }
}

fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// What a folder's files should hash to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sums {
    /// Where the files came from, as a person would say it.
    pub source: String,
    /// Hash and name, relative to the folder, of each file.
    pub files: Vec<(String, String)>,
}

impl Sums {
    /// Hashes the named files of a folder.
    ///
    /// # Errors
    /// Whatever reading the files says.
    pub fn of_folder(folder: &Path, source: &str, names: &[String]) -> io::Result<Self> {
        let files = names
            .iter()
            .map(|name| Ok((of_file(&folder.join(name))?, name.clone())))
            .collect::<io::Result<_>>()?;
        Ok(Self { source: source.to_owned(), files })
    }

    /// Writes the list into the folder.
    ///
    /// # Errors
    /// Whatever writing the file says.
    pub fn write(&self, folder: &Path) -> io::Result<()> {
        let mut file = File::create(folder.join(SUMS_FILE))?;
        writeln!(file, "# {}", self.source)?;
        for (hash, name) in &self.files {
            writeln!(file, "{hash}  {name}")?;
        }
        file.sync_all()
    }

    /// Reads a folder's list; `None` if it has none, as folders made by others do.
    ///
    /// # Errors
    /// Whatever reading the file says.
    pub fn read(folder: &Path) -> io::Result<Option<Self>> {
        let text = match std::fs::read_to_string(folder.join(SUMS_FILE)) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let source = text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default().to_owned();
        let files = text
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(|line| line.split_once("  "))
            .map(|(hash, name)| (hash.to_owned(), name.to_owned()))
            .collect();
        Ok(Some(Self { source, files }))
    }

    /// The hash that the file called `name` should have.
    pub fn expected(&self, name: &str) -> Option<&str> {
        self.files.iter().find(|(_, listed)| listed == name).map(|(hash, _)| hash.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folders_hashes_survive_the_round_trip() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("模型.bin"), "记忆").unwrap();
        assert_eq!(Sums::read(folder.path()).unwrap(), None);
        let sums = Sums::of_folder(folder.path(), "a test", &["模型.bin".to_owned()]).unwrap();
        assert_eq!(sums.expected("模型.bin"), Some(of_bytes("记忆".as_bytes()).as_str()));
        sums.write(folder.path()).unwrap();
        assert_eq!(Sums::read(folder.path()).unwrap(), Some(sums));
    }

    #[test]
    fn the_hash_is_sha_256() {
        assert_eq!(of_bytes(b"abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    }
}
