/** Fields of calls that only this format has: the origin of the call, and asynchronous results. */
export const CALL_FIELDS = ["caller", "async"] as const;
