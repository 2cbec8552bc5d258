/** Addresses of the manual. */
export const ROOT = "/docs";
export const SCHEMA = "/config.schema.json";
