/**
 * `/admin/tokens`: administration tokens, each with a role and an expiry; and `/admin/sessions`: who is
 * signed in to the console.
 */
import { STATUS_CODE } from "@std/http/status.js";
import type { Endpoint, Parameter } from "../http/endpoint.ts";
import { refusedField, textOf } from "./administration_input.ts";
import { SESSION_COLUMNS, TOKEN_COLUMNS } from "./columns.ts";
import { body, endpoint, list, PAGE, query, queryOf } from "./operations.ts";

const SESSION: Parameter = { name: "id", in: "path", description: "The session's id." };
const TOKEN: Parameter = { name: "id", in: "path", description: "The token's id." };

export const PEOPLE: readonly Endpoint[] = [
  list(
    "/admin/tokens",
    "Lists the administration tokens, newest first, without their secrets.",
    "TokenList",
    ({ administration }, page) => administration.listTokens(page),
    PAGE,
    "read_people",
    TOKEN_COLUMNS,
  ),
  endpoint(
    "POST",
    "/admin/tokens",
    "Creates an administration token. Only this answer contains its secret.",
    "TokenWithSecret",
    async ({ request, administration }) => await administration.createToken(await body(request)),
    { access: "change_people", request: "TokenInput", status: STATUS_CODE.Created },
  ),
  endpoint(
    "DELETE",
    "/admin/tokens/{id}",
    "Revokes an administration token, on every node.",
    "Token",
    ({ administration, parameters }) => administration.revokeToken(parameters.id),
    { access: "change_people", parameters: [TOKEN] },
  ),
  list(
    "/admin/sessions",
    "Lists the active console sessions, newest first: person, time and method of the sign-in.",
    "SessionList",
    ({ request, administration }, page) =>
      administration.sessions({ member: textOf(queryOf(request))("member"), ...page }),
    [query("member", "Only of this person, as issuer and subject of the sign-in."), ...PAGE],
    "read_people",
    SESSION_COLUMNS,
  ),
  endpoint(
    "DELETE",
    "/admin/sessions/{id}",
    "Ends a console session, on every node.",
    "SessionView",
    ({ administration, parameters }) => administration.endSession(parameters.id),
    { access: "change_people", parameters: [SESSION] },
  ),
  endpoint(
    "DELETE",
    "/admin/sessions",
    "Ends all sessions of a person and lists them.",
    "EndedSessions",
    async ({ request, administration }) => {
      const member = textOf(queryOf(request))("member");
      if (!member) {
        throw refusedField("member", "the person, as GET /admin/sessions names them", member, "missing");
      }
      return { data: await administration.endSessionsOf(member) };
    },
    {
      access: "change_people",
      parameters: [query("member", "The person, as issuer and subject of the sign-in.", { required: true })],
    },
  ),
];
