//! The tables, as numbered steps over `user_version`; and how a connection is set up.

use std::fs;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::time::Duration;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::StoreError;

/// One step a version; step 0 makes version 1. A step that was released is never edited.
pub(super) const STEPS: &[&str] = &[include_str!("schema_1.sql"), include_str!("schema_2.sql")];

/// The version of the schema that this program writes.
pub const SCHEMA: u32 = STEPS.len() as u32;

/// How long a connection waits for another process before it says [`StoreError::Busy`].
const PATIENCE: Duration = Duration::from_secs(5);

/// Opens a connection with everything every connection needs.
pub(super) fn connect(path: &Path) -> Result<Connection, StoreError> {
    register_vectors();
    let connection = Connection::open(path)?;
    connection.busy_timeout(PATIENCE)?;
    connection.set_prepared_statement_cache_capacity(128);
    connection.execute_batch(
        "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;",
    )?;
    Ok(connection)
}

/// Opens a connection that cannot write.
pub(super) fn connect_reading(path: &Path) -> Result<Connection, StoreError> {
    let connection = connect(path)?;
    connection.pragma_update(None, "query_only", true)?;
    Ok(connection)
}

/// Makes sqlite-vec part of every connection opened from now on.
#[allow(unsafe_code)]
fn register_vectors() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: `sqlite3_vec_init` is compiled in and has the signature of an extension's entry point; its Rust
        // declaration merely leaves the arguments out. SQLite keeps the pointer, and a function lives for ever.
        unsafe {
            let entry: rusqlite::auto_extension::RawAutoExtension =
                std::mem::transmute(sqlite_vec::sqlite3_vec_init as *const ());
            // Cannot fail but for want of memory, and then the first use of `vec0` says so.
            let _ = rusqlite::auto_extension::register_auto_extension(entry);
        }
    });
}

/// Brings the database at `path` to the newest schema. Before an older one is touched, a copy is put beside it.
pub(super) fn migrate(connection: &mut Connection, path: &Path, steps: &[&str]) -> Result<(), StoreError> {
    let known = u32::try_from(steps.len()).unwrap_or(u32::MAX);
    let found = version(connection)?;
    if found > 0 && found < known {
        back_up(connection, &backup_path(path, found))?;
    }
    loop {
        // The version is read again inside: another process may be migrating too.
        let step = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let found = version(&step)?;
        if found > known {
            return Err(StoreError::SchemaTooNew { found, known });
        }
        let Some(sql) = steps.get(found as usize) else { return Ok(()) };
        apply(step, sql, found + 1)?;
    }
}

/// A step and its stamp are one transaction: a crash between them leaves the version before.
fn apply(step: Transaction<'_>, sql: &str, version: u32) -> Result<(), StoreError> {
    step.execute_batch(sql)?;
    step.pragma_update(None, "user_version", version)?;
    Ok(step.commit()?)
}

fn version(connection: &Connection) -> Result<u32, StoreError> {
    Ok(connection.pragma_query_value(None, "user_version", |row| row.get(0))?)
}

/// Where the copy of a database with an older schema is put.
pub(super) fn backup_path(path: &Path, version: u32) -> PathBuf {
    beside(path, &format!(".schema-{version}.bak"))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// Copies the database under another name first, so that a copy cut short never looks like a whole one.
fn back_up(connection: &Connection, target: &Path) -> Result<(), StoreError> {
    let unfinished = beside(target, ".tmp");
    let _ = fs::remove_file(&unfinished);
    create_private(&unfinished)?;
    connection.execute("VACUUM INTO ?1", [unfinished.to_string_lossy()])?;
    fs::rename(&unfinished, target).map_err(|error| StoreError::file(target, &error))
}

/// Makes the folder, for its owner alone, if there is none.
pub(super) fn create_private_folder(folder: &Path) -> Result<(), StoreError> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| StoreError::file(folder, &error))
}

/// Makes the file readable and writable for its owner alone; SQLite gives its side files the same mode.
pub(super) fn create_private(path: &Path) -> Result<(), StoreError> {
    let private = fs::OpenOptions::new().create(true).truncate(false).write(true).mode(0o600).open(path);
    private
        .and_then(|file| file.set_permissions(fs::Permissions::from_mode(0o600)))
        .map_err(|error| StoreError::file(path, &error))
}
