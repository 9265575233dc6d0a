//! What did other people's agents do? Recorded episodes of other formats, read into the record.
