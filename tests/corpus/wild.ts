/** Looking into JSON of unknown shape: 40 providers share no type. */

export type Wild = { [key: string]: unknown };

export function wild(value: unknown): Wild {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Wild : {};
}
export function list(value: unknown): Wild[] {
  return Array.isArray(value) ? value.map(wild) : [];
}
export function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
export function num(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}
