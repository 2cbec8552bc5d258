/** Administration endpoints of teams and accounts. */
import { STATUS_CODE } from "@std/http/status.js";
import type { AccountInput, TeamChange, TeamInput } from "../accounts/mod.ts";
import type { Endpoint, Parameter } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { refusedField, statementQuery } from "./administration_input.ts";
import { ACCOUNT_COLUMNS, TEAM_COLUMNS } from "./columns.ts";
import { body, endpoint, list, PAGE, query, queryOf } from "./operations.ts";
import { statementResponse } from "./statement.ts";
import { wantsTable } from "./table.ts";

const TEAM: Parameter = { name: "team", in: "path", description: "The team's name." };
const ACCOUNT: Parameter = { name: "account", in: "path", description: "The account's name." };

export const TEAMS_AND_ACCOUNTS: readonly Endpoint[] = [
  list(
    "/admin/teams",
    "Lists the teams with what they spent: those of the configuration, then the others by name.",
    "TeamList",
    ({ administration }, page) => administration.teams(page),
    PAGE,
    "read",
    TEAM_COLUMNS,
  ),
  endpoint(
    "GET",
    "/admin/teams/{team}",
    "Shows a team.",
    "Team",
    ({ administration, parameters }) => administration.team(parameters.team),
    { access: "read", parameters: [TEAM] },
  ),
  endpoint(
    "POST",
    "/admin/teams",
    "Creates a team.",
    "Team",
    async ({ request, administration }) => await administration.createTeam(await body<TeamInput>(request)),
    { access: "change", request: "TeamInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "PATCH",
    "/admin/teams/{team}",
    "Changes fields of a team. Teams of the configuration file cannot be changed here.",
    "Team",
    async ({ request, administration, parameters }) =>
      await administration.changeTeam(parameters.team, await body<TeamChange>(request)),
    { access: "change", parameters: [TEAM], request: "TeamPatch" },
  ),
  endpoint(
    "DELETE",
    "/admin/teams/{team}",
    "Deletes a team. Teams that have keys, and teams of the configuration file, cannot be deleted.",
    "Team",
    ({ administration, parameters }) => administration.removeTeam(parameters.team),
    { access: "change", parameters: [TEAM] },
  ),
  list(
    "/admin/accounts",
    "Lists the accounts by name, with granted, spent and remaining credits.",
    "AccountList",
    ({ administration }, page) => administration.accounts(page),
    PAGE,
    "read",
    ACCOUNT_COLUMNS,
  ),
  endpoint(
    "POST",
    "/admin/accounts",
    "Creates an account.",
    "Credits",
    async ({ request, administration }) =>
      await administration.createAccount(await body<AccountInput>(request)),
    { access: "change", request: "AccountInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "GET",
    "/admin/accounts/{account}/credits",
    "Shows the granted, spent and remaining credits of an account.",
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
      const fields = ["amount", "note"] as const;
      const { amount, note } = await body<{ amount?: unknown; note?: unknown }>(request, { fields });
      if (typeof amount !== "string") {
        throw refusedField("amount", "a decimal string", amount, "string_type");
      }
      if (note !== undefined && note !== null && typeof note !== "string") {
        throw refusedField("note", "a text", note, "string_type");
      }
      return await administration.addCredits(parameters.account, amount, { note: note ?? undefined });
    },
    { access: "change", parameters: [ACCOUNT], request: "CreditsInput" },
  ),
  {
    method: "GET",
    path: "/admin/accounts/{account}/statement",
    surface: OPERATION,
    credential: "admin_key",
    access: "read",
    summary: "The usage of an account in a month, with sums and prices, as JSON or CSV.",
    parameters: [
      ACCOUNT,
      query("month", "The month, as YYYY-MM, in UTC.", {
        pattern: String.raw`^\d{4}-(?:0[1-9]|1[0-2])$`,
        required: true,
      }),
      query(
        "by",
        "One line for each generation (the default), or for each day and model.",
        {
          values: ["generation", "day"],
        },
      ),
    ],
    answer: { schema: "Statement", types: ["application/json", "text/csv"] },
    async handle({ request, administration, parameters }) {
      const { month, by } = statementQuery(queryOf(request));
      const statement = await administration.statement({ account: parameters.account, month, by });
      return await statementResponse(statement, wantsTable(request) ? "csv" : "json");
    },
  },
];
