/** Store functions for administration, alerts and payloads, loaded on first use. */
export * as alerts from "./alerts.ts";
export * as audit from "./audit.ts";
export { keyUse } from "./key_use.ts";
export * as near from "./near_limits.ts";
export * as places from "./payload_places.ts";
export * as rollups from "./rollups.ts";
export * as sessions from "./console_sessions.ts";
export { sumUsage } from "./usage.ts";
