/// Addresses that a page of the registry leads to.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RunLinks {
    /// The page's own address for ever, absolute.
    pub permalink: String,
    /// The measurements as CSV.
    pub csv: String,
    /// The run document.
    pub json: String,
    /// Parameters of the page's address that sorting keeps, encoded: `lang=zh-CN`.
    /// Empty where there are none.
    pub kept: String,
}
