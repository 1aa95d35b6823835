//! The studies that come with the product.

/// Name and text of each.
pub const SHIPPED: &[(&str, &str)] = &[
    ("block-size-and-caching", include_str!("../studies/block-size-and-caching.toml")),
    ("copy-buffer-sizes", include_str!("../studies/copy-buffer-sizes.toml")),
    ("many-files", include_str!("../studies/many-files.toml")),
    ("overlay-metacopy", include_str!("../studies/overlay-metacopy.toml")),
    ("read-vs-mmap", include_str!("../studies/read-vs-mmap.toml")),
];
