/** Dimensions of the metrics by time span. */
export const DIMENSIONS = ["model", "provider", "key", "team", "tag"] as const;

export type Dimension = typeof DIMENSIONS[number];
