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
    ({ state }, page) => state.administration.listKeys(page),
    PAGE,
  ),
  endpoint(
    "POST",
    "/admin/keys",
    "Makes a key and shows its secret, this once.",
    "KeyWithSecret",
    async ({ request, state }) => {
      const { key, secret } = await state.administration.createKey(await body(request));
      return { ...key, secret };
    },
    { request: "KeyInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "GET",
    "/admin/keys/{key}",
    "Shows a key.",
    "Key",
    ({ state, parameters }) => state.administration.getKey(parameters.key),
    { parameters: [KEY] },
  ),
  endpoint(
    "PATCH",
    "/admin/keys/{key}",
    "Changes fields of a key.",
    "Key",
    async ({ request, state, parameters }) =>
      state.administration.patchKey(parameters.key, await body(request)),
    { parameters: [KEY], request: "KeyPatch" },
  ),
  endpoint(
    "DELETE",
    "/admin/keys/{key}",
    "Revokes a key.",
    "Key",
    ({ state, parameters }) => state.administration.revokeKey(parameters.key),
    { parameters: [KEY] },
  ),
  endpoint(
    "POST",
    "/admin/keys/{key}/rotate",
    "Gives a key a new secret and shows it, this once; the old one stays valid for overlap_seconds.",
    "KeyWithSecret",
    async ({ request, state, parameters }) => {
      const options = { overlapSeconds: overlapSeconds(await body(request, { optional: true })) };
      const { key, secret } = await state.administration.rotateKey(parameters.key, options);
      return { ...key, secret };
    },
    { parameters: [KEY], request: "KeyRotation" },
  ),
  list(
    "/admin/teams",
    "Lists the teams of the configuration with what they spent.",
    "TeamList",
    ({ state }, page) => state.administration.teams(page),
    PAGE,
  ),
  endpoint(
    "GET",
    "/admin/teams/{team}",
    "Shows a team.",
    "Team",
    ({ state, parameters }) => state.administration.team(parameters.team),
    { parameters: [{ name: "team", in: "path", description: "The team's name." }] },
  ),
  endpoint(
    "GET",
    "/admin/accounts/{account}/credits",
    "Shows what an account was granted, spent and has left.",
    "Credits",
    ({ state, parameters }) => state.administration.credits(parameters.account),
    { parameters: [ACCOUNT] },
  ),
  endpoint(
    "POST",
    "/admin/accounts/{account}/credits",
    "Adds credits to an account.",
    "Credits",
    async ({ request, state, parameters }) => {
      const { amount, note } = await body<{ amount?: unknown; note?: unknown }>(request);
      if (typeof amount !== "string") {
        throw refusedField("amount", "a decimal string", amount, "string_type");
      }
      const options = typeof note === "string" ? { note } : undefined;
      return await state.administration.addCredits(parameters.account, amount, options);
    },
    { parameters: [ACCOUNT], request: "CreditsInput" },
  ),
  {
    method: "GET",
    path: "/admin/accounts/{account}/statement",
    surface: OPERATION,
    credential: "admin_key",
    summary: "Lists what an account used in a month, with sums and prices, as JSON or CSV.",
    parameters: [
      ACCOUNT,
      query("month", "The month, as YYYY-MM, in UTC."),
      query("by", "A line for each generation, or for each day and model: generation (the default) or day."),
    ],
    answer: { schema: "Statement", types: ["application/json", "text/csv"] },
    async handle({ request, state, parameters }) {
      const { month, by } = statementQuery(queryOf(request));
      const statement = await state.administration.statement({ account: parameters.account, month, by });
      return await statementResponse(statement, wantsTable(request) ? "csv" : "json");
    },
  },
  list(
    "/admin/usage",
    "Sums usage and cost by key, model, day and the like.",
    "UsageList",
    ({ request, state }, page) => state.administration.usage({ ...usageQuery(queryOf(request)), ...page }),
    [
      query("by", `What to sum by: ${USAGE_DIMENSIONS.join(", ")}, or two of them joined by a comma.`),
      FROM,
      TO,
      ...PAGE,
    ],
  ),
  list(
    "/admin/generations",
    "Lists generations, newest first.",
    "GenerationList",
    ({ request, state }, page) =>
      state.administration.generations({ ...generationQuery(queryOf(request)), ...page }),
    [
      query("key", "Only of this key, by id or name."),
      query("model", "Only of this model of the catalog."),
      query("account", "Only of this account."),
      query("session", "Only of this session."),
      FROM,
      TO,
      ...PAGE,
    ],
  ),
  endpoint(
    "GET",
    "/admin/generations/{id}",
    "Shows the record of a generation.",
    "Generation",
    ({ state, parameters }) => state.administration.generation(parameters.id),
    { parameters: [{ name: "id", in: "path", description: "The generation's id." }] },
  ),
  list(
    "/admin/audit",
    "Lists what data-loss prevention found and what administrators changed, newest first.",
    "AuditList",
    ({ request, state }, page) =>
      state.administration.auditEntries({ ...auditQuery(queryOf(request)), ...page }),
    [
      query("kind", "Only of this kind: dlp or admin."),
      query("key", "Only of this key, by id or name."),
      FROM,
      TO,
      ...PAGE,
    ],
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
    { request: "DlpScanInput" },
  ),
  endpoint(
    "GET",
    "/admin/providers",
    "Lists the providers with their health and circuit breakers.",
    "ProviderList",
    ({ state }) => ({ data: state.kit.providers.health() }),
  ),
];
