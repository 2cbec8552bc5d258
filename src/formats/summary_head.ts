/** The text before the summary of a compacted conversation. */
export const SUMMARY_HEAD = "Summary of the conversation up to here, whose messages were left out:\n\n";
