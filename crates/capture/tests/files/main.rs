//! Files, link layers and connections, judged by writers and readers of others.

mod flows;
mod formats;
mod make;
