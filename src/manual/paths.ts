/** URL paths of the manual. */
export const ROOT = "/docs";
export const OPENAPI = "/openapi.json";
export const SCHEMA = "/config.schema.json";
