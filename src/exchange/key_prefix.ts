/** How every API key of the gateway begins. */
export const KEY_PREFIX = "sk_live_";
