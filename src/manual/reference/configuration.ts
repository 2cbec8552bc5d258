/** The reference page of the configuration, from its JSON Schema: a section for each object, a row for each field. */
import { configJsonSchema } from "../../config/schema.ts";
import { code, head, markdownTable } from "./markdown.ts";

/** The parts of JSON Schema that the schema of the configuration uses. */
export interface Schema {
  type?: string | readonly string[];
  /** A description of the allowed values. */
  title?: string;
  description?: string;
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: readonly string[];
  additionalProperties?: Schema | false;
  items?: Schema;
  anyOf?: readonly Schema[];
  enum?: readonly string[];
  const?: unknown;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: number;
}

const INTRODUCTION =
  `The configuration is one JSON file with comments (JSONC). It is validated as a whole at the start: all mistakes are reported together, each with its path, the value found and what is allowed. A field that is not listed here is a mistake. \`\${NAME}\` inside a string is replaced by the environment variable of that name. Only \`providers\` is required; \`models\` is required if no provider's list of models is requested.

If the file names the JSON Schema at \`GET /config.schema.json\`, editors complete and check the fields:

\`\`\`jsonc
{ "$schema": "http://127.0.0.1:8787/config.schema.json" }
\`\`\`

In headings, \`NAME\` stands for a name of your choice, and \`[]\` for each entry of a list. Times in fields that end with \`_seconds\` may be fractions. The column "Default" is empty if a field has no default; its meaning then says what applies.`;

interface Section {
  path: string;
  schema: Schema;
}

export function configurationPage(): string {
  const sections: Section[] = [];
  collect("", configJsonSchema() as Schema, sections);
  const text = sections.map(({ path, schema }) => {
    const title = path === "" ? "## The file" : `${heading(path)} \`${path}\``;
    const intro = path !== "" && schema.description ? `\n\n${schema.description}` : "";
    return `${title}${intro}\n\n${fieldTable(schema)}`;
  });
  return `${head("Configuration", "the schemas of the sections", INTRODUCTION)}\n\n${text.join("\n\n")}\n`;
}

function heading(path: string): string {
  const depth = path.split(".").filter((name) => name !== "NAME").length;
  return "#".repeat(depth + 1);
}

/** Collects the sections in the order of the schema, each before its subsections. */
function collect(path: string, schema: Schema, sections: Section[]): void {
  if (schema.properties === undefined) return;
  sections.push({ path, schema });
  for (const [name, field] of Object.entries(schema.properties)) {
    const inner = objectIn(field);
    if (inner === null) continue;
    const description = field.description ?? inner.schema.description;
    collect(
      `${path === "" ? "" : `${path}.`}${name}${inner.suffix}`,
      { ...inner.schema, description },
      sections,
    );
  }
}

/** The object in a field: its value, the values of its names, or the items of its list. Null: none. */
function objectIn(field: Schema): { schema: Schema; suffix: string } | null {
  const schema = withoutNull(field);
  if (schema.properties) return { schema, suffix: "" };
  if (schema.additionalProperties && schema.additionalProperties.properties) {
    return { schema: schema.additionalProperties, suffix: ".NAME" };
  }
  if (schema.items?.properties) return { schema: schema.items, suffix: "[]" };
  return null;
}

function withoutNull(schema: Schema): Schema {
  const others = schema.anyOf?.filter((s) => s.type !== "null");
  return others?.length === 1
    ? { ...others[0], description: schema.description ?? others[0].description }
    : schema;
}

function fieldTable(schema: Schema): string {
  const rows = Object.entries(schema.properties!).map(([name, field]) => [
    code(name),
    allowed(field),
    defaultOf(name, field, schema.required ?? []),
    field.description ?? withoutNull(field).description ?? "",
  ]);
  return markdownTable(["Field", "Value", "Default", "Meaning"], rows);
}

/** A description of the allowed values. */
export function allowed(schema: Schema): string {
  const { type } = schema;
  const choices = schema.anyOf ??
    (typeof type === "string" ? undefined : type?.map((t) => ({ ...schema, type: t })));
  if (choices) {
    const all = [...new Set(choices.map(allowed))];
    // Omit `null` if another alternative already ends with "or null".
    const alternatives = all.some((words) => words.endsWith("or null"))
      ? all.filter((words) => words !== "`null`")
      : all;
    return alternatives.join(alternatives.some((words) => words.includes(",")) ? "; or " : " or ");
  }
  if (schema.enum) return schema.enum.map(code).join(", ");
  if (schema.const !== undefined) return code(String(schema.const));
  // If the items of a list are an enumeration, its values are listed instead.
  if (schema.title && !schema.items?.enum) return schema.title;
  switch (type) {
    case "integer":
      return `whole number${range(schema)}`;
    case "number":
      return `number${range(schema)}`;
    case "boolean":
      return "`true`, `false`";
    case "array":
      return `list of ${schema.items ? plural(allowed(schema.items)) : "values"}`;
    case "object":
      return schema.properties ? "object" : "object of named entries";
    case "null":
      return "`null`";
    default:
      return type === undefined ? "any value" : String(type);
  }
}

function plural(words: string): string {
  return /^(?:string|object)$/.test(words) ? `${words}s` : words;
}

function range({ minimum, maximum, exclusiveMinimum }: Schema): string {
  const text = (n: number) => n.toLocaleString("en", { maximumFractionDigits: 9 });
  if (minimum !== undefined && maximum !== undefined) return `, ${text(minimum)} to ${text(maximum)}`;
  if (exclusiveMinimum !== undefined) return ` above ${text(exclusiveMinimum)}`;
  return minimum === undefined ? "" : ` from ${text(minimum)}`;
}

function defaultOf(name: string, field: Schema, required: readonly string[]): string {
  // The fields of the object have their own defaults.
  if (JSON.stringify(field.default) === "{}") return "";
  if (field.default !== undefined) return code(JSON.stringify(field.default));
  return required.includes(name) ? "required" : "";
}
