/** Building blocks of the document's schemas (JSON Schema 2020-12, as in OpenAPI 3.1). */

export type Schema = Readonly<Record<string, unknown>>;

export const text = (description?: string, more: Schema = {}): Schema => ({
  type: "string",
  ...described(description),
  ...more,
});
export const whole = (description?: string): Schema => ({ type: "integer", ...described(description) });
export const number = (description?: string): Schema => ({ type: "number", ...described(description) });
export const flag = (description?: string): Schema => ({ type: "boolean", ...described(description) });
/** Money is never a JSON number, since binary fractions are inexact. */
export const money = (description = "Amount as a decimal string.", example = "0.25"): Schema =>
  text(description, { pattern: "^-?\\d+\\.\\d{2,}$", examples: [example] });
export const moment = (description?: string): Schema => text(description, { format: "date-time" });
export const choice = (...values: readonly string[]): Schema => ({ type: "string", enum: values });
export const always = (value: string): Schema => ({ const: value });
export const list = (items: Schema, description?: string): Schema => ({
  type: "array",
  items,
  ...described(description),
});
export const map = (values: Schema, description?: string): Schema => ({
  type: "object",
  additionalProperties: values,
  ...described(description),
});
export const any = (description?: string): Schema => ({ ...described(description) });
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });

/** The schema, or null. */
export function orNull(schema: Schema): Schema {
  return typeof schema.type === "string" && schema.enum === undefined
    ? { ...schema, type: [schema.type, "null"] }
    : { oneOf: [schema, { type: "null" }] };
}

/** An object with exactly these fields. The compiler checks that they are the fields of the type `T`. */
export function exactly<T>(fields: { readonly [K in keyof T]-?: Schema }, how?: Closed): Schema {
  return closed(fields, how);
}

interface Closed {
  description?: string;
  /** Fields that may be absent. */
  optional?: readonly string[];
}

/** An object with exactly these fields. */
export function closed(
  fields: Readonly<Record<string, Schema>>,
  { description, optional = [] }: Closed = {},
): Schema {
  const required = Object.keys(fields).filter((name) => !optional.includes(name));
  return { ...object(fields, { required, description }), additionalProperties: false };
}

/** An object that has at least the required fields, and may have others. */
export function object(
  fields: Readonly<Record<string, Schema>>,
  { required = [], description }: { required?: readonly string[]; description?: string } = {},
): Schema {
  return {
    type: "object",
    properties: fields,
    ...(required.length > 0 && { required }),
    ...described(description),
  };
}

/** A page of a list. */
export const page = (items: Schema): Schema =>
  closed({
    data: list(items),
    next_cursor: orNull(text("Value of `cursor` for the next page. Null: this is the last page.")),
  });

/** A page of a list in the store. While the store is unavailable it has the entries that this process knows. */
export const storedPage = (items: Schema, more: Readonly<Record<string, Schema>> = {}): Schema =>
  closed({
    data: list(items),
    next_cursor: orNull(text("Value of `cursor` for the next page. Null: this is the last page.")),
    store: {
      ...always("away"),
      description: "The store is unavailable; the list contains what this process knows.",
    },
    since: orNull(
      moment("In lists of calls and audit entries: the time from which this process knows them."),
    ),
    ...more,
  }, { optional: ["store", "since", ...Object.keys(more)] });

function described(description: string | undefined): Schema {
  return description === undefined ? {} : { description };
}
