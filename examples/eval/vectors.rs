//! Vectors kept between runs, by model and text.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use ocmemd::embed::Embedder;
use ocmemd::memory::Redacted;
use sha2::{Digest, Sha256};

/// Texts embedded between two writes.
const BATCH: usize = 256;

type Key = [u8; 32];

/// A file of records: SHA-256 of the text, the number of its parts, the parts.
pub struct Vectors {
    known: HashMap<Key, Vec<Vec<f32>>>,
    file: Option<PathBuf>,
}

impl Vectors {
    /// What `folder` holds for that model; nothing is kept without a folder.
    pub fn open(folder: Option<&Path>, embedder: &Embedder) -> Result<Self> {
        let Some(folder) = folder else { return Ok(Self { known: HashMap::new(), file: None }) };
        fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        let file = folder.join(format!("{}.vectors", embedder.identity().hash));
        let bytes = fs::read(&file).unwrap_or_default();
        Ok(Self { known: records(&bytes, embedder.dimension()), file: Some(file) })
    }

    /// The vectors of `texts`, part by part, in their order.
    pub async fn of(&mut self, embedder: &Embedder, texts: &[Redacted]) -> Result<Vec<Vec<Vec<f32>>>> {
        let missing: Vec<Redacted> =
            texts.iter().filter(|text| !self.known.contains_key(&key(text))).cloned().collect();
        for (done, batch) in missing.chunks(BATCH).enumerate() {
            eprint!("\r{} of {} embedded ", done * BATCH, missing.len());
            let vectors = embedder.passages(batch.to_vec()).await?;
            let mut bytes = Vec::new();
            for (text, parts) in batch.iter().zip(vectors) {
                bytes.extend(key(text));
                bytes.push(u8::try_from(parts.len())?);
                bytes.extend(parts.iter().flatten().flat_map(|number| number.to_le_bytes()));
                self.known.insert(key(text), parts);
            }
            if let Some(file) = &self.file {
                OpenOptions::new().create(true).append(true).open(file)?.write_all(&bytes)?;
            }
        }
        Ok(texts.iter().map(|text| self.known.get(&key(text)).cloned().unwrap_or_default()).collect())
    }
}

fn key(text: &Redacted) -> Key {
    Sha256::digest(text.as_str()).into()
}

/// The whole records; one that was cut short ends the file.
fn records(bytes: &[u8], dimension: usize) -> HashMap<Key, Vec<Vec<f32>>> {
    let mut known = HashMap::new();
    let mut rest = bytes;
    while let Some((head, tail)) = rest.split_at_checked(33) {
        let size = usize::from(head[32]) * dimension * 4;
        let Some((body, tail)) = tail.split_at_checked(size) else { break };
        let numbers: Vec<f32> =
            body.as_chunks::<4>().0.iter().map(|number| f32::from_le_bytes(*number)).collect();
        let mut key = [0; 32];
        key.copy_from_slice(&head[..32]);
        known.insert(key, numbers.chunks(dimension).map(<[f32]>::to_vec).collect());
        rest = tail;
    }
    known
}
