/** What calls are told apart by in the sums of spans of time. */
export const DIMENSIONS = ["model", "provider", "key", "team", "tag"] as const;

export type Dimension = typeof DIMENSIONS[number];
