/**
 * The administration endpoints: keys, usage, generations, credits, providers. Bearer `admin_key`; without one configured they
 * do not exist. Bodies and answers are those of the accounts' administration, in snake case.
 */
import { STATUS_CODE } from "@std/http/status.js";
import type { Loose } from "../exchange/json.ts";
import type { Endpoint, Parameter } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { USAGE_DIMENSIONS } from "../store/mod.ts";
import {
  auditQuery,
  generationQuery,
  overlapSeconds,
  refusedField,
  statementQuery,
  usageQuery,
} from "./administration_input.ts";
import { body, endpoint, list, PAGE, query, queryOf } from "./operations.ts";
import { PAYLOAD } from "./payload.ts";
import { statementResponse } from "./statement.ts";
import { wantsTable } from "./table.ts";

const KEY: Parameter = { name: "key", in: "path", description: "The key's id or name." };
const ACCOUNT: Parameter = { name: "account", in: "path", description: "The account's name." };
const FROM = query("from", "Only from this time on.", { type: "date-time" });
const TO = query("to", "Only before this time.", { type: "date-time" });

export const ADMINISTRATION: readonly Endpoint[] = [
  list(
    "/admin/keys",
    "Lists the keys: those of the configuration, then those of the store, newest first.",
    "KeyList",
    ({ administration }, page) => administration.listKeys(page),
    PAGE,
    "read_own",
  ),
  endpoint(
    "POST",
    "/admin/keys",
    "Makes a key and shows its secret, this once.",
    "KeyWithSecret",
    async ({ request, administration }) => {
      const { key, secret } = await administration.createKey(await body(request));
      return { ...key, secret };
    },
    { access: "change_own", request: "KeyInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "GET",
    "/admin/keys/{key}",
    "Shows a key.",
    "Key",
    ({ administration, parameters }) => administration.getKey(parameters.key),
    { access: "read_own", parameters: [KEY] },
  ),
  endpoint(
    "PATCH",
    "/admin/keys/{key}",
    "Changes fields of a key.",
    "Key",
    async ({ request, administration, parameters }) =>
      administration.patchKey(parameters.key, await body(request)),
    { access: "change", parameters: [KEY], request: "KeyPatch" },
  ),
  endpoint(
    "DELETE",
    "/admin/keys/{key}",
    "Revokes a key.",
    "Key",
    ({ administration, parameters }) => administration.revokeKey(parameters.key),
    { access: "change_own", parameters: [KEY] },
  ),
  endpoint(
    "POST",
    "/admin/keys/{key}/rotate",
    "Gives a key a new secret and shows it, this once; the old one stays valid for overlap_seconds.",
    "KeyWithSecret",
    async ({ request, administration, parameters }) => {
      const options = { overlapSeconds: overlapSeconds(await body(request, { optional: true })) };
      const { key, secret } = await administration.rotateKey(parameters.key, options);
      return { ...key, secret };
    },
    { access: "change_own", parameters: [KEY], request: "KeyRotation" },
  ),
  list(
    "/admin/teams",
    "Lists the teams of the configuration with what they spent.",
    "TeamList",
    ({ administration }, page) => administration.teams(page),
    PAGE,
    "read",
  ),
  endpoint(
    "GET",
    "/admin/teams/{team}",
    "Shows a team.",
    "Team",
    ({ administration, parameters }) => administration.team(parameters.team),
    { access: "read", parameters: [{ name: "team", in: "path", description: "The team's name." }] },
  ),
  endpoint(
    "GET",
    "/admin/accounts/{account}/credits",
    "Shows what an account was granted, spent and has left.",
    "Credits",
    ({ administration, parameters }) => administration.credits(parameters.account),
    { access: "read", parameters: [ACCOUNT] },
  ),
  endpoint(
    "POST",
    "/admin/accounts/{account}/credits",
    "Adds credits to an account.",
    "Credits",
    async ({ request, administration, parameters }) => {
      const { amount, note } = await body<{ amount?: unknown; note?: unknown }>(request);
      if (typeof amount !== "string") {
        throw refusedField("amount", "a decimal string", amount, "string_type");
      }
      const options = typeof note === "string" ? { note } : undefined;
      return await administration.addCredits(parameters.account, amount, options);
    },
    { access: "change", parameters: [ACCOUNT], request: "CreditsInput" },
  ),
  {
    method: "GET",
    path: "/admin/accounts/{account}/statement",
    surface: OPERATION,
    credential: "admin_key",
    access: "read",
    summary: "Lists what an account used in a month, with sums and prices, as JSON or CSV.",
    parameters: [
      ACCOUNT,
      query("month", "The month, as YYYY-MM, in UTC."),
      query("by", "A line for each generation, or for each day and model: generation (the default) or day."),
    ],
    answer: { schema: "Statement", types: ["application/json", "text/csv"] },
    async handle({ request, administration, parameters }) {
      const { month, by } = statementQuery(queryOf(request));
      const statement = await administration.statement({ account: parameters.account, month, by });
      return await statementResponse(statement, wantsTable(request) ? "csv" : "json");
    },
  },
  list(
    "/admin/usage",
    "Sums usage and cost by key, model, day and the like.",
    "UsageList",
    ({ request, administration }, page) => administration.usage({ ...usageQuery(queryOf(request)), ...page }),
    [
      query("by", `What to sum by: ${USAGE_DIMENSIONS.join(", ")}, or two of them joined by a comma.`),
      FROM,
      TO,
      ...PAGE,
    ],
    "read_own",
  ),
  list(
    "/admin/generations",
    "Lists generations, newest first.",
    "GenerationList",
    ({ request, administration }, page) =>
      administration.generations({ ...generationQuery(queryOf(request)), ...page }),
    [
      query("key", "Only of this key, by id or name."),
      query("model", "Only of this model of the catalog."),
      query("account", "Only of this account."),
      query("session", "Only of this session."),
      FROM,
      TO,
      ...PAGE,
    ],
    "read_own",
  ),
  endpoint(
    "GET",
    "/admin/generations/{id}",
    "Shows the record of a generation.",
    "Generation",
    ({ administration, parameters }) => administration.generation(parameters.id),
    { access: "read_own", parameters: [{ name: "id", in: "path", description: "The generation's id." }] },
  ),
  PAYLOAD,
  list(
    "/admin/audit",
    "Lists what data-loss prevention found and what administrators changed, newest first.",
    "AuditList",
    ({ request, administration }, page) =>
      administration.auditEntries({ ...auditQuery(queryOf(request)), ...page }),
    [
      query("kind", "Only of this kind: dlp or admin."),
      query("key", "Only of this key, by id or name."),
      FROM,
      TO,
      ...PAGE,
    ],
    "read",
  ),
  endpoint(
    "POST",
    "/admin/dlp/scan",
    "Screens a text or a request as a policy would, and tells the findings; nothing is sent or kept.",
    "DlpScan",
    async ({ request, state }) => {
      const { dryScan } = await import("../pipeline/dry_scan.ts");
      return await dryScan(await body<Loose>(request), state.kit);
    },
    { access: "read", request: "DlpScanInput" },
  ),
  endpoint(
    "GET",
    "/admin/providers",
    "Lists the providers with their health and circuit breakers.",
    "ProviderList",
    ({ state }) => ({ data: state.kit.providers.health() }),
    { access: "read" },
  ),
];
