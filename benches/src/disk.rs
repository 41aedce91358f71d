//! Measures how long the disk itself takes for a small sync, as a reference for everything that waits for it.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::Instant;

use anyhow::Result;

/// Enough for a 99th percentile: two of them may be slower.
const SYNCS: usize = 200;
/// As much as a small commit of the store writes.
const BYTES: usize = 8 * 1024;

/// The 99th percentile of several syncs in this directory, in milliseconds.
pub(crate) async fn sync_p99_ms(directory: &Path) -> Result<f64> {
    let path = directory.join("sync-probe");
    let measured = tokio::task::spawn_blocking(move || {
        let mut file = File::create(&path)?;
        let mut took = Vec::with_capacity(SYNCS);
        for _ in 0..SYNCS {
            file.write_all(&[0; BYTES])?;
            let begun = Instant::now();
            file.sync_data()?;
            took.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        std::fs::remove_file(&path)?;
        took.sort_by(f64::total_cmp);
        Ok::<_, std::io::Error>(took[SYNCS * 99 / 100 - 1])
    });
    Ok(measured.await??)
}
