/** Values of request fields, and what many of them have. */

export interface FieldValue {
  value: unknown;
  /** A text of the value that goes out, wherever the provider's format has it. */
  mark?: string;
}

/** Fields and the values to try; a field is also left out. */
export type FieldTable = Readonly<Record<string, readonly FieldValue[]>>;

/** Values without a mark. */
export const of = (...values: unknown[]): FieldValue[] => values.map((value) => ({ value }));

/** Values that all have this mark. */
export const marked = (mark: string, ...values: unknown[]): FieldValue[] =>
  values.map((value) => ({ value, mark }));

export const OPEN = {
  type: "object",
  properties: { a: { type: "string" }, b: { type: "integer" } },
  required: ["a"],
};
export const CLOSED = { ...OPEN, required: ["a", "b"], additionalProperties: false };
export const IMAGE = "data:image/png;base64,iVBORw0KGgo=";
export const PDF = "data:application/pdf;base64,JVBERi0xLjQK";
export const ASK = { role: "user", content: "Say JSON" };
