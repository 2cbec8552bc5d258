/** Fields of a call that only this format has: who made it, and whether its result may come later. */
export const CALL_FIELDS = ["caller", "async"] as const;
