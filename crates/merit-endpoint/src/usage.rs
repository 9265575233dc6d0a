//! What an answer cost, in the spellings of several servers.

use crate::answer::Usage;
use crate::field::{At, BadField};

/// The cost that an answer or a chunk tells. Absent: it tells none.
pub(crate) fn read(top: &At<'_>) -> Result<Option<Usage>, BadField> {
    let told = top.get("usage").map(|usage| counted(&usage)).transpose()?;
    let timed = top.get("timings").map(|timings| timed(&timings)).transpose()?.flatten();
    Ok(match (told, timed) {
        // llama.cpp tells what it had kept beside the times only.
        (Some(told), Some(timed)) => {
            Some(Usage { cached_tokens: told.cached_tokens.max(timed.cached_tokens), ..told })
        }
        (told, timed) => told.or(timed),
    })
}

fn counted(usage: &At<'_>) -> Result<Usage, BadField> {
    let details = |place: &str, name: &str| {
        let details = usage.get(place);
        details.as_ref().and_then(|details| details.get(name)).map(|count| count.count()).transpose()
    };
    let count = |name: &str| usage.get(name).map_or(Ok(0), |count| count.count());
    let cached = details("prompt_tokens_details", "cached_tokens")?;
    // SGLang tells it without the details.
    let reasoning = details("completion_tokens_details", "reasoning_tokens")?;
    Ok(Usage {
        prompt_tokens: count("prompt_tokens")?,
        cached_tokens: cached.unwrap_or_default(),
        completion_tokens: count("completion_tokens")?,
        reasoning_tokens: reasoning.map_or_else(|| count("reasoning_tokens"), Ok)?,
    })
}

/// The counts beside llama.cpp's times: tokens read now, tokens kept from before, tokens drawn.
fn timed(timings: &At<'_>) -> Result<Option<Usage>, BadField> {
    let count = |name: &str| timings.get(name).map(|count| count.count()).transpose();
    let (read, drawn) = (count("prompt_n")?, count("predicted_n")?);
    let (Some(read), Some(drawn)) = (read, drawn) else { return Ok(None) };
    let cached = count("cache_n")?.unwrap_or_default();
    Ok(Some(Usage {
        prompt_tokens: read.saturating_add(cached),
        cached_tokens: cached,
        completion_tokens: drawn,
        reasoning_tokens: 0,
    }))
}
