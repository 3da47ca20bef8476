//! Pages, each a view model and the templates of its sections.

pub mod run;
