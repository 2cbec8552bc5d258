/** Building blocks of administration endpoints: values and lists as responses, bodies and queries of requests. */
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import { readJson } from "../http/body.ts";
import type { Access } from "../accounts/mod.ts";
import type {
  AdministrationContext,
  AdministrationEndpoint,
  Endpoint,
  IncomingRequest,
  Parameter,
} from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { pageQuery, refuseUnknown } from "./administration_input.ts";
import { LINES, type ListPage, table, wantsLines, wantsTable, wholeLines, wholeTable } from "./table.ts";

/** Maximum size of a request body, in bytes. */
const MAX_BODY = 1 << 20;
/** Rows per read of an export: other reads run in between. */
const EXPORT_ROWS = 1000;

/** Which rows of a list. */
export interface AskedPage {
  limit?: number;
  cursor?: string;
  /** The whole list is read, page by page. */
  exported?: boolean;
}

type Row = Omit<AdministrationEndpoint, "surface" | "credential" | "handle" | "summary" | "answer">;

/** An endpoint that returns a value as JSON, or the bytes of its JSON if it is large. */
export const endpoint = (
  method: Row["method"],
  path: string,
  summary: string,
  schema: string,
  answer: (context: AdministrationContext) => unknown,
  { status, ...row }: Partial<Row> & { access: Access; status?: number },
): Endpoint => ({
  method,
  path,
  surface: OPERATION,
  credential: "admin_key",
  summary,
  answer: { schema, status },
  async handle(context) {
    return json(await answer(context), status);
  },
  ...row,
});

/**
 * An endpoint that returns a list: one page as JSON; or CSV, if requested, without a limit all rows; or all
 * rows as JSON lines.
 *
 * @param columns of the CSV: all fields that a row may have, so that an empty list has a header, and rows of
 * later pages have all of their fields
 */
export const list = (
  path: string,
  summary: string,
  schema: string,
  rows: (context: AdministrationContext, page: AskedPage) => Promise<ListPage>,
  parameters: readonly Parameter[],
  access: Access,
  columns: readonly string[] | ((request: IncomingRequest) => readonly string[]),
): Endpoint => ({
  method: "GET",
  path,
  surface: OPERATION,
  credential: "admin_key",
  access,
  summary,
  parameters,
  answer: { schema, types: ["application/json", "text/csv", LINES] },
  async handle(context) {
    const page = pageQuery(queryOf(context.request));
    const pages = ({ cursor = page.cursor }: { cursor?: string }) =>
      rows(context, { cursor, limit: EXPORT_ROWS, exported: true });
    if (wantsLines(context.request)) return await wholeLines(pages);
    if (!wantsTable(context.request)) return json(await rows(context, page));
    const names = typeof columns === "function" ? columns(context.request) : columns;
    if (page.limit !== undefined) return table(await rows(context, page), names);
    return await wholeTable(pages, names);
  },
});

export const query = (name: string, description: string, more: Partial<Parameter> = {}): Parameter => ({
  name,
  in: "query",
  description,
  ...more,
});

/** The page parameters of a list. */
export const PAGE = [
  query("limit", "Maximum number of entries, at most 1000.", { type: "integer", least: 1, most: 1000 }),
  query("cursor", "The `next_cursor` of the previous page."),
];

/** The query of a request's URL. */
export function queryOf(request: IncomingRequest): URLSearchParams {
  return new URL(request.url).searchParams;
}

/** Reads a JSON object. Types of fields, and the set of fields if none is given, are validated by the caller. */
export async function body<T extends object>(
  request: IncomingRequest,
  { optional = false, fields }: { optional?: boolean; fields?: readonly (keyof T & string)[] } = {},
): Promise<T> {
  const value = await readJson(request, MAX_BODY, optional ? { empty: {} } : {});
  if (!isObject(value)) {
    throw new Failure("validation_error", "Cannot read the request body: expected a JSON object.");
  }
  if (fields !== undefined) refuseUnknown(value, fields);
  return value as T;
}

/** Responses contain secrets, spend and names, so they must not be cached. */
function json(value: unknown, status = 200): Response {
  const headers = { "cache-control": "no-store", "content-type": "application/json" };
  const body = value instanceof Uint8Array ? value as Uint8Array<ArrayBuffer> : JSON.stringify(value);
  return new Response(body, { status, headers });
}
