/** The prefix of the gateway's API keys. */
export const KEY_PREFIX = "sk_live_";
