//! The resident models: the one whose vectors answer and, while another's are being built, that one.

use std::path::{Path, PathBuf};

use tokio::sync::watch;

use crate::config::{Config, EmbeddingModel};
use crate::embed::{EmbedError, Embedder, Identity, ModelFolder, Options};
use crate::hub::Spec;
use crate::memory::Scope;
use crate::memory::entry::ContentHash;
use crate::service::recall::Recall;
use crate::store::{Generation, GenerationState, Store, StoreError};

/// A loaded model and the generation of vectors that are its.
#[derive(Clone)]
pub struct Resident {
    /// The model.
    pub embedder: Embedder,
    /// Its vectors.
    pub generation: i64,
}

/// What is resident.
#[derive(Clone)]
pub struct Models {
    /// Recall with the answering model, or by words alone.
    pub recall: Recall,
    /// Answers queries.
    pub answering: Option<Resident>,
    /// Is being built, and answers once it is complete.
    pub building: Option<Resident>,
    /// Why the configured model is not among them.
    pub trouble: Option<Trouble>,
}

impl Models {
    /// No model yet: `recall` goes by words alone.
    pub fn none(recall: &Recall) -> Self {
        let trouble = Trouble::Loading;
        let recall = recall.with_model(Err(trouble.to_string()));
        Self { recall, answering: None, building: None, trouble: Some(trouble) }
    }

    /// Says why there is no model.
    fn be_without(&mut self, trouble: Trouble) {
        self.recall = self.recall.with_model(Err(trouble.to_string()));
        self.trouble = Some(trouble);
    }

    /// Lets `answering` answer, while `building` is built.
    fn become_resident(&mut self, recall: Recall, answering: Option<Resident>, building: Option<Resident>) {
        self.recall = recall;
        (self.answering, self.building, self.trouble) = (answering, building, None);
    }

    /// Recall as it will be with that model answering.
    fn recall_with(&self, answering: Option<&Resident>) -> Recall {
        let embedder = answering.map(|resident| resident.embedder.clone());
        self.recall.with_model(embedder.ok_or_else(|| REBUILDING.to_owned()))
    }

    /// Lets the model that was being built answer from now on.
    pub fn switch(&mut self) {
        let built = self.building.take();
        self.become_resident(self.recall_with(built.as_ref()), built, None);
    }

    /// Lets go of every model, and gives them back.
    pub fn let_go(&mut self) -> Vec<Resident> {
        let all = self.answering.iter().chain(&self.building).cloned().collect();
        self.become_resident(self.recall_with(None), None, None);
        all
    }

    /// Whether any model is there.
    pub fn is_resident(&self) -> bool {
        self.answering.is_some() || self.building.is_some()
    }
}

/// Why meaning is not searched although the model is there.
pub const REBUILDING: &str = "the model's vectors are being made, and the model before is gone";

/// Why there is no model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Trouble {
    /// It is being loaded.
    Loading,
    /// Its folder is not there.
    Missing(String),
    /// It could not be loaded, or its vectors could not be kept.
    Failed(String),
}

/// What kept the models from being loaded.
#[derive(Debug, thiserror::Error)]
pub enum ModelsError {
    /// The folder.
    #[error(transparent)]
    Embed(#[from] EmbedError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The configured dimension is not the model's.
    #[error(transparent)]
    Dimension(#[from] WrongDimension),
    /// A fault of ours.
    #[error("loading the model failed")]
    Panicked,
}

/// The dimension that is configured is not the model's.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "long_term.vector_dim is {configured}, but the model {model} makes vectors of {actual} dimensions: \
     set it to {actual}, or leave it out"
)]
pub struct WrongDimension {
    configured: u32,
    model: String,
    actual: usize,
}

/// Where the configured model's folder is, or would be.
pub fn folder(config: &Config, models_dir: &Path) -> PathBuf {
    let spec = match &config.storage.embedding_model {
        EmbeddingModel::Folder(folder) => Spec::Folder(folder.clone()),
        EmbeddingModel::Hub(name) => Spec::Repository(name.clone()),
    };
    spec.folder(models_dir)
}

/// Refuses a configured dimension that is not the model's.
///
/// # Errors
/// [`WrongDimension`] with both numbers.
pub fn check_dimension(configured: Option<u32>, model: &Identity) -> Result<(), WrongDimension> {
    match configured {
        Some(configured) if configured as usize != model.dimension => {
            Err(WrongDimension { configured, model: model.name.clone(), actual: model.dimension })
        }
        _ => Ok(()),
    }
}

/// Loads the model in `path`, and the one that answers so far where that is another; publishes both, ready to answer the
/// `owners` of the workspaces without delay.
///
/// # Errors
/// [`ModelsError`]; it is published as [`Models::trouble`] too.
pub async fn load(
    store: &Store,
    path: PathBuf,
    dimension: Option<u32>,
    owners: &[Scope],
    published: &watch::Sender<Models>,
) -> Result<(), ModelsError> {
    published.send_modify(|models| models.be_without(Trouble::Loading));
    match load_both(store, &path, dimension).await {
        Ok((answering, building)) => {
            let recall = published.borrow().recall_with(answering.as_ref());
            for owner in owners {
                if let Err(error) = recall.warm(owner).await {
                    tracing::warn!(%error, "the first question will wait for the model's scale");
                }
            }
            published.send_modify(|models| models.become_resident(recall, answering, building));
            Ok(())
        }
        Err(error) => {
            let trouble = match &error {
                ModelsError::Embed(EmbedError::Missing(_)) => Trouble::Missing(error.to_string()),
                _ => Trouble::Failed(error.to_string()),
            };
            published.send_modify(|models| models.be_without(trouble));
            Err(error)
        }
    }
}

/// The models that answer and that are built.
async fn load_both(
    store: &Store,
    path: &Path,
    dimension: Option<u32>,
) -> Result<(Option<Resident>, Option<Resident>), ModelsError> {
    let embedder = load_one(path.to_owned()).await?;
    let identity = embedder.identity().clone();
    check_dimension(dimension, &identity)?;
    let (hash, folder) = (ContentHash(identity.hash.clone()), path.display().to_string());
    let (wanted, active) = store
        .write(move |writer| {
            let wanted = writer.begin_generation(&identity.name, &hash, identity.dimension)?;
            writer.set_meta(&folder_key(&wanted), &folder)?;
            Ok((wanted, writer.active_generation()?))
        })
        .await?;
    let resident = Resident { embedder, generation: wanted.id };
    if wanted.state == GenerationState::Active {
        return Ok((Some(resident), None));
    }
    let answering = match active {
        Some(active) => load_old(store, &active).await,
        None => None,
    };
    Ok((answering, Some(resident)))
}

/// The model that answered so far, if its folder still holds it. Without it, words answer until the new one is built.
async fn load_old(store: &Store, active: &Generation) -> Option<Resident> {
    let key = folder_key(active);
    let folder = store.read(move |reader| reader.meta(&key)).await.ok().flatten()?;
    let embedder = load_one(PathBuf::from(folder)).await.ok()?;
    let same = embedder.identity().hash == active.model_hash;
    same.then_some(Resident { embedder, generation: active.id })
}

async fn load_one(path: PathBuf) -> Result<Embedder, ModelsError> {
    let load = move || {
        let folder = ModelFolder::open(&path)?;
        Ok(Embedder::load(&folder, Options::default())?)
    };
    tokio::task::spawn_blocking(load).await.unwrap_or(Err(ModelsError::Panicked))
}

fn folder_key(generation: &Generation) -> String {
    format!("model_folder.{}", generation.model_hash)
}

impl std::fmt::Display for Trouble {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Loading => f.write_str("the model is being loaded"),
            Self::Missing(reason) => write!(f, "there is no model: {reason}"),
            Self::Failed(reason) => write!(f, "the model failed: {reason}"),
        }
    }
}
