//! Scripts, their language, and the tables of other TCPs behind the C interface.

mod hostile;
mod language;
mod library;
mod suites;
