//! What does this Python program do, and can it do harm? Untrusted code in fenced, warm workers.
