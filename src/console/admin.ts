/**
 * The administration routes: keys, usage, generations, credits, providers. Bearer `admin_key`; without one configured the
 * routes do not exist. Bodies and answers are those of the accounts' administration, in snake case.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Administration } from "../accounts/administration.ts";
import type { KeyInput } from "../accounts/input.ts";
import { Failure } from "../exchange/failure.ts";
import { isObject } from "../exchange/json.ts";
import { readJson } from "../http/body.ts";
import { bearerToken } from "../http/credentials.ts";
import { nameIn } from "../http/path.ts";

export interface AdminParts {
  accounts: Administration;
  adminKey: string | null;
  /** Health of the providers, as `GET /admin/providers` shows it. */
  providers(): unknown;
}

/** Largest body of an administration call, in bytes. */
const MAX_BODY = 1 << 20;

/** Answers a route under `/admin`; null when there is no administration, or no such route. */
export async function admin(request: Request, path: string, parts: AdminParts): Promise<Response | null> {
  if (parts.adminKey === null || !path.startsWith("/admin/")) return null;
  if (!isAdmin(request, parts.adminKey)) {
    const sent = request.headers.has("authorization");
    throw sent ? new Failure("invalid_api_key", "The admin key is not valid.") : new Failure(
      "authentication_required",
      "The admin key is required: send it as Authorization: Bearer <admin_key>.",
    );
  }
  const [area, id, action, ...more] = path.slice("/admin/".length).split("/").map(nameIn);
  if (more.length > 0) return null;
  const query = new URL(request.url).searchParams;
  const { accounts } = parts;
  const method = request.method === "HEAD" ? "GET" : request.method;

  if (area === "keys" && id === undefined) {
    if (method === "GET") return json({ data: await accounts.listKeys(), next_cursor: null });
    if (method === "POST") {
      const { key, secret } = await accounts.createKey(await body(request) as unknown as KeyInput);
      return json({ ...key, secret }, 201);
    }
    throw notAllowed(method, "GET, POST");
  }
  if (area === "keys" && id !== undefined && action === undefined) {
    if (method === "GET") return json(await accounts.getKey(id));
    if (method === "PATCH") return json(await accounts.patchKey(id, await body(request)));
    if (method === "DELETE") return json(await accounts.revokeKey(id));
    throw notAllowed(method, "GET, PATCH, DELETE");
  }
  if (area === "keys" && action === "rotate") {
    if (method !== "POST") throw notAllowed(method, "POST");
    const { overlap_seconds } = await body(request, true);
    const overlapSeconds = readOverlap(overlap_seconds);
    const { key, secret } = await accounts.rotateKey(id, { overlapSeconds });
    return json({ ...key, secret });
  }
  if (area === "accounts" && action === "credits") {
    if (method === "GET") return json(await accounts.credits(id));
    if (method !== "POST") throw notAllowed(method, "GET, POST");
    const { amount, note } = await body(request);
    if (typeof amount !== "string") {
      throw new Failure(
        "validation_error",
        `Cannot read amount: expected a decimal string, got ${typeof amount}.`,
        {
          param: "amount",
          errors: [{ type: "string_type", loc: ["amount"], msg: "Input should be a decimal string" }],
        },
      );
    }
    return json(await accounts.addCredits(id, amount, typeof note === "string" ? { note } : undefined));
  }
  if (action !== undefined) return null;
  if (area === "usage" && id === undefined) {
    onlyGet(method);
    return table(request, await accounts.usage(usageQuery(query)));
  }
  if (area === "generations") {
    onlyGet(method);
    if (id !== undefined) return json(await accounts.generation(id));
    return table(request, await accounts.generations(generationQuery(query)));
  }
  if (area === "providers" && id === undefined) {
    onlyGet(method);
    return json({ data: parts.providers() });
  }
  return null;
}

/** Compares hashes, so that neither length nor content of the key shows in the time it takes. */
export function isAdmin(request: Request, adminKey: string): boolean {
  const given = bearerToken(request.headers.get("authorization"));
  const hash = (text: string) => createHash("sha256").update(text).digest();
  return given !== null && timingSafeEqual(hash(given), hash(adminKey));
}

function readOverlap(value: unknown): number {
  if (value === undefined || value === null) return 0;
  if (typeof value === "number" && Number.isInteger(value) && value >= 0) return value;
  throw new Failure(
    "validation_error",
    `Cannot read overlap_seconds: expected a whole number of at least 0, got ${JSON.stringify(value)}.`,
    {
      param: "overlap_seconds",
      errors: [{
        type: "int_parsing",
        loc: ["overlap_seconds"],
        msg: "Input should be a whole number of at least 0",
      }],
    },
  );
}

function usageQuery(query: URLSearchParams): { by: "key" | "model" | "day"; from?: string; to?: string } {
  const by = query.get("by") ?? "key";
  if (by !== "key" && by !== "model" && by !== "day") {
    throw new Failure(
      "validation_error",
      `Cannot read by: expected key, model or day, got ${JSON.stringify(by)}.`,
      {
        param: "by",
        errors: [{ type: "literal_error", loc: ["by"], msg: "Input should be 'key', 'model' or 'day'" }],
      },
    );
  }
  return { by, from: query.get("from") ?? undefined, to: query.get("to") ?? undefined };
}

function generationQuery(query: URLSearchParams) {
  const get = (name: string) => {
    const value = query.get(name) ?? undefined;
    // PostgreSQL has no text with a NUL in it.
    // deno-lint-ignore no-control-regex
    if (value === undefined || !/[\0-\x1f]/.test(value)) return value;
    throw new Failure("validation_error", `Cannot read ${name}: expected printable text.`, { param: name });
  };
  const limit = get("limit");
  if (limit !== undefined && !/^\d{1,6}$/.test(limit)) {
    throw new Failure(
      "validation_error",
      `Cannot read limit: expected a whole number, got ${JSON.stringify(limit)}.`,
      {
        param: "limit",
        errors: [{ type: "int_parsing", loc: ["limit"], msg: "Input should be a whole number" }],
      },
    );
  }
  return {
    key: get("key"),
    model: get("model"),
    account: get("account"),
    from: get("from"),
    to: get("to"),
    cursor: get("cursor"),
    limit: limit === undefined ? undefined : Number(limit),
  };
}

async function body(request: Request, optional = false): Promise<Record<string, unknown>> {
  const value = await readJson(request, MAX_BODY, optional ? { empty: {} } : {});
  if (isObject(value)) return value;
  throw new Failure("validation_error", "Cannot read the request body: expected a JSON object.");
}

function onlyGet(method: string): void {
  if (method !== "GET") throw notAllowed(method, "GET");
}

function notAllowed(method: string, allow: string): Failure {
  return new Failure("method_not_allowed", `Cannot ${method} here: expected ${allow}.`, {
    details: { allow },
  });
}

function json(value: unknown, status = 200): Response {
  return Response.json(value, { status });
}

/** A list as JSON, or as CSV for who asks for that. */
function table(request: Request, list: { data: readonly object[]; next_cursor?: string | null }): Response {
  if (!request.headers.get("accept")?.includes("text/csv")) return json(list);
  const headers: Record<string, string> = { "content-type": "text/csv; charset=utf-8" };
  if (list.next_cursor) headers["x-next-cursor"] = list.next_cursor;
  return new Response(csv(list.data), { headers });
}

/** Rows as RFC 4180 CSV; a nested value is JSON. A cell that a spreadsheet would run as a formula gets a quote before it. */
export function csv(rows: readonly object[]): string {
  if (rows.length === 0) return "";
  const names = Object.keys(rows[0]);
  const cell = (value: unknown) => {
    if (value === null || value === undefined) return "";
    const text = typeof value === "object" ? JSON.stringify(value) : String(value);
    const safe = typeof value === "string" && /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  const line = (row: object) => names.map((name) => cell((row as Record<string, unknown>)[name])).join(",");
  return [names.join(","), ...rows.map(line)].join("\r\n") + "\r\n";
}
