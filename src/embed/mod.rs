//! Text into vectors: any sentence-transformers BERT folder, loaded once and shared by the threads that use it.
//!
//! [`ModelFolder`] reads and checks the files, [`Model`] computes, [`Embedder`] puts two threads around it: one
//! answers queries, the other indexes at low priority, so that a query never waits for a batch.

mod bert;
mod embedder;
mod error;
mod folder;
mod model;
mod ops;
mod tokenizer;
mod unigram;
mod weights;

#[cfg(test)]
mod tests;

pub use embedder::{Embedder, Options};
pub use error::EmbedError;
pub use folder::{Identity, ModelFolder, Pooling};
pub use model::{Model, Precision, Precisions};
