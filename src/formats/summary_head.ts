/** What stands before the summary of a compacted conversation, where a model reads it as text. */
export const SUMMARY_HEAD = "Summary of the conversation up to here, whose messages were left out:\n\n";
