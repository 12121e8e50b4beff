//! Real SQLite in a temporary folder.
