/** What the store does for administration, alerts and payloads: loaded when the first of it is asked for. */
export * as alerts from "./alerts.ts";
export * as audit from "./audit.ts";
export { keyUse } from "./key_use.ts";
export * as near from "./near_limits.ts";
export * as places from "./payload_places.ts";
export * as rollups from "./rollups.ts";
export * as sessions from "./console_sessions.ts";
export { sumUsage } from "./usage.ts";
