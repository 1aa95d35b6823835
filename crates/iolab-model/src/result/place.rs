//! What a place turned out to be: asked for, and read back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The facts of a place, each read back from the kernel where it can be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlaceFacts {
    /// As written: `ext2:noatime`.
    pub asked: String,
    /// The file system's name in mountinfo.
    pub file_system: String,
    /// The driver that serves it: ext2 and ext3 usually run on ext4's.
    pub driver: String,
    /// Options of the mount, as mountinfo shows them.
    pub mount_options: String,
    /// Options of the file system, as mountinfo shows them.
    pub file_system_options: String,
    /// The command that made the file system, word by word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mkfs: Vec<String>,
    /// Size of the image in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub image_bytes: Option<u64>,
    /// How often it was made in the run; absent: once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub makings: Option<u32>,
    /// Whether the loop device bypasses the cache of the file under it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loop_direct_io: Option<bool>,
    /// The places that it is made on: `lower`, `upper`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub layers: Vec<PlaceFacts>,
    /// What is worth knowing, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}
