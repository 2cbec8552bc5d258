/**
 * Administration endpoints of keys, usage, generations and the audit log. They exist only if `admin_key` or
 * an identity provider is configured. Bodies and answers are those of the accounts' administration, in snake
 * case.
 */
import { STATUS_CODE } from "@std/http/status.js";
import { TRAIT_PARAMETERS } from "../accounts/administration/trait_query.ts";
import type { Endpoint, Parameter } from "../http/endpoint.ts";
import { USAGE_DIMENSIONS } from "../store/mod.ts";
import { auditQuery, generationQuery, keyQuery, overlapSeconds, usageQuery } from "./administration_input.ts";
import {
  AUDIT_COLUMNS,
  GENERATION_COLUMNS,
  KEY_COLUMNS,
  KEY_MODEL_COLUMNS,
  usageColumns,
} from "./columns.ts";
import { modelsOfKey } from "./key_models.ts";
import { body, endpoint, list, PAGE, query, queryOf } from "./operations.ts";
import { PAYLOAD } from "./payload.ts";
import { pricesUsed } from "./prices_used.ts";

const KEY: Parameter = { name: "key", in: "path", description: "The key's id or name." };
const FROM = query(
  "from",
  "Only from this time on. Dates, and times without a time zone, are in UTC.",
  { type: "date-time" },
);
const TO = query("to", "Only before this time.", { type: "date-time" });

/**
 * Sums of an export that are read at once. Each page sums up all anew, and between two pages calls that end change the order: a sum
 * would be told twice, or not at all.
 */
const EXPORTED_SUMS = 20_000;

const DIMENSION = `(?:${USAGE_DIMENSIONS.join("|").replace("tag:NAME", "tag:[A-Za-z0-9_.:/\\-]{1,64}")})`;

export const ADMINISTRATION: readonly Endpoint[] = [
  list(
    "/admin/keys",
    "Lists the keys: those of the configuration, then those of the store, newest first.",
    "KeyList",
    ({ request, administration }, page) =>
      administration.listKeys({ ...keyQuery(queryOf(request)), ...page }),
    [
      query("search", "Only keys whose name contains this text."),
      query("team", "Only of this team."),
      ...PAGE,
    ],
    "read_own",
    KEY_COLUMNS,
  ),
  endpoint(
    "POST",
    "/admin/keys",
    "Creates a key. Only this answer contains its secret.",
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
  list(
    "/admin/keys/{key}/models",
    "Lists the models that are visible to a key, and whether its policies permit each of them.",
    "KeyModelList",
    async ({ administration, state, parameters }, page) =>
      modelsOfKey(await administration.keyOf(parameters.key), state, page),
    [KEY, ...PAGE],
    "read_own",
    KEY_MODEL_COLUMNS,
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
    "Creates a new secret for a key. Only this answer contains it. The old secret stays valid for `overlap_seconds`.",
    "KeyWithSecret",
    async ({ request, administration, parameters }) => {
      const options = {
        overlapSeconds: overlapSeconds(await body(request, { optional: true, fields: ["overlap_seconds"] })),
      };
      const { key, secret } = await administration.rotateKey(parameters.key, options);
      return { ...key, secret };
    },
    { access: "change_own", parameters: [KEY], request: "KeyRotation" },
  ),
  list(
    "/admin/usage",
    "Sums of usage and cost, grouped by key, model, day and other dimensions.",
    "UsageList",
    ({ request, administration }, { exported, ...page }) =>
      administration.usage({
        ...usageQuery(queryOf(request)),
        ...page,
        ...(exported && { most: EXPORTED_SUMS }),
      }),
    [
      query("by", `What to sum by: ${USAGE_DIMENSIONS.join(", ")}, or two of them joined by a comma.`, {
        pattern: `^${DIMENSION}(?:,${DIMENSION})?$`,
      }),
      FROM,
      TO,
      ...PAGE,
    ],
    "read_own",
    (request) => usageColumns(usageQuery(queryOf(request)).by),
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
      ...TRAIT_PARAMETERS.map(([name, text, more]) => query(name, text, more)),
      FROM,
      TO,
      ...PAGE,
    ],
    "read_own",
    GENERATION_COLUMNS,
  ),
  endpoint(
    "GET",
    "/admin/generations/{id}",
    "Shows the record of a generation.",
    "GenerationDetails",
    async ({ administration, state, parameters }) => {
      const found = await administration.generation(parameters.id);
      const model = state.kit.catalog.models.find(({ id }) => id === found.model);
      const kept = found.prices ?? [];
      const prices = pricesUsed(model, found.price_version)
        .filter(({ version }) => kept.every((one) => one.version !== version));
      return { ...found, prices: [...kept, ...prices] };
    },
    { access: "read_own", parameters: [{ name: "id", in: "path", description: "The generation's id." }] },
  ),
  PAYLOAD,
  list(
    "/admin/audit",
    "Lists the audit log, newest first: findings of data-loss prevention and changes by administrators.",
    "AuditList",
    ({ request, administration }, page) =>
      administration.auditEntries({ ...auditQuery(queryOf(request)), ...page }),
    [
      query("kind", "Only of this kind.", { values: ["dlp", "admin"] }),
      query("key", "Only of this key, by id or name."),
      FROM,
      TO,
      ...PAGE,
    ],
    "read",
    AUDIT_COLUMNS,
  ),
];
