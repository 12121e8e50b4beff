//! Writes the first configuration, and changes one key of an existing one without touching the rest.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

use super::error::{Origin, Problem};
use super::layers::line_of;
use super::{Config, ConfigError, Workspace};

/// Every key with its default and reason.
const TEMPLATE: &str = include_str!("../../config/ocmemd.toml");

impl Config {
    /// Writes a first configuration: the workspaces, and every other key as a comment, so that defaults may improve.
    ///
    /// # Errors
    /// Where the file exists already, or cannot be written.
    pub fn write_initial(path: &Path, workspaces: &[Workspace]) -> Result<(), ConfigError> {
        let mut text: String = TEMPLATE.lines().map(commented).collect();
        for workspace in workspaces {
            let path = toml::Value::from(workspace.path.to_string_lossy().into_owned());
            let owner = toml::Value::from(workspace.owner.as_str());
            text.push_str(&format!("\n[[workspace]]\npath = {path}\nowner = {owner}\n"));
        }
        let write = || {
            create_parent(path)?;
            let mut file = OpenOptions::new().write(true).create_new(true).open(path)?;
            file.write_all(text.as_bytes())?;
            file.sync_all()
        };
        write().map_err(|error| Problem::Write(path.to_owned(), error).into())
    }

    /// Adds a workspace to an existing file; everything else stays as it is.
    ///
    /// # Errors
    /// Where the file cannot be read, parsed or replaced.
    pub fn add_workspace(path: &Path, workspace: &Workspace) -> Result<(), ConfigError> {
        change(path, |document| {
            let mut block = Table::new();
            block["path"] = value(workspace.path.to_string_lossy().into_owned());
            block["owner"] = value(workspace.owner.as_str());
            let blocks = document.entry("workspace").or_insert(Item::ArrayOfTables(ArrayOfTables::new()));
            if let Some(inline) = blocks.as_array_mut() {
                inline.push(block.into_inline_table());
            } else if let Some(blocks) = blocks.as_array_of_tables_mut() {
                blocks.push(block);
            }
        })
    }

    /// Sets `storage.embedding_model`; comments and all other keys stay as they are. Makes the file where it is missing.
    ///
    /// # Errors
    /// Where the file cannot be read, parsed or replaced.
    pub fn set_embedding_model(path: &Path, model: &str) -> Result<(), ConfigError> {
        change(path, |document| document["storage"]["embedding_model"] = value(model))
    }
}

/// Reads the file as it is written, changes it, and puts it back.
fn change(path: &Path, edit: impl FnOnce(&mut DocumentMut)) -> Result<(), ConfigError> {
    let text = match fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        Err(error) => return Err(Problem::Read(path.to_owned(), error).into()),
    };
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        let before = error.span().map_or(0, |span| span.start);
        let origin = Origin::File(path.to_owned(), line_of(&text, before));
        Problem::Syntax(origin, error.message().to_owned())
    })?;
    edit(&mut document);
    replace(path, &document.to_string()).map_err(|error| Problem::Write(path.to_owned(), error).into())
}

/// A line of the template with its key turned into a comment; sections stay.
fn commented(line: &str) -> String {
    let key = line.starts_with(|first: char| first.is_ascii_lowercase());
    format!("{}{line}\n", if key { "# " } else { "" })
}

/// Puts `text` in the file's place at once: whoever reads sees the old file or the new one. A link stays a link.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    create_parent(&target)?;
    let temporary: PathBuf = target.with_extension(format!("toml.{}", std::process::id()));
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).open(&temporary)?;
    file.write_all(text.as_bytes())?;
    if let Ok(old) = fs::metadata(&target) {
        file.set_permissions(old.permissions())?;
    }
    file.sync_all()?;
    fs::rename(&temporary, &target)
}

/// Makes the folder of a file for the user alone, as the XDG specification asks; one that is there stays as it is.
fn create_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |folder| fs::DirBuilder::new().recursive(true).mode(0o700).create(folder))
}
