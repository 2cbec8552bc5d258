/** The API's document as a checker of answers. */
import { assert } from "@std/assert";
import { Ajv2020 } from "ajv/dist/2020.js";
import { ENDPOINTS } from "../../src/assemble.ts";
import { openApiDocument } from "../../src/manual/openapi/document.ts";
import manifest from "../../deno.json" with { type: "json" };

// deno-lint-ignore no-explicit-any
export const document = openApiDocument(await ENDPOINTS.all(), manifest) as any;
const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
ajv.addSchema(document, "openapi");

export const pathOf = (path: string) => path.replaceAll("+}", "}");
const pointer = (text: string) => encodeURIComponent(text.replaceAll("~", "~0").replaceAll("/", "~1"));

/** What the document says of an answer, as a checker; null: it says nothing of its JSON. */
function checker(method: string, path: string, status: number) {
  const { responses } = document.paths[path][method.toLowerCase()];
  const found = String(status) in responses ? String(status) : `${String(status)[0]}XX`;
  assert(found in responses, `${method} ${path} answers ${status}, which is not in the document`);
  const response = responses[found];
  const base = response.$ref === undefined
    ? `openapi#/paths/${pointer(path)}/${method.toLowerCase()}/responses/${found}`
    : `openapi${response.$ref}`;
  const { content } = response.$ref === undefined
    ? response
    : document.components.responses[response.$ref.split("/").at(-1)];
  return content?.["application/json"] === undefined
    ? null
    : ajv.getSchema(`${base}/content/application~1json/schema`)!;
}

/** What of an answer is not as the document says. */
export function refused(method: string, path: string, status: number, json: unknown): string[] {
  const check = checker(method, path, status);
  if (check === null || check(json)) return [];
  return check.errors!.map((e) =>
    `${method} ${path} ${status}: ${e.instancePath} ${e.message} ${JSON.stringify(e.params)}`
  );
}

/** Whether the document permits this body. @param schema its name */
export function permits(schema: string, body: unknown): boolean {
  return ajv.getSchema(`openapi#/components/schemas/${schema}`)!(body) as boolean;
}
