/** `GET /admin/live`: starts and ends of calls as server-sent events, until the client disconnects. */
import { VALUES } from "../accounts/administration/trait_query.ts";
import type { LiveFilter } from "../accounts/mod.ts";
import type { Endpoint } from "../http/endpoint.ts";
import { OPERATION } from "../http/surfaces.ts";
import { textOf } from "./administration_input.ts";
import { query, queryOf } from "./operations.ts";

export const LIVE: readonly Endpoint[] = [{
  method: "GET",
  path: "/admin/live",
  surface: OPERATION,
  credential: "admin_key",
  access: "read_own",
  summary:
    "Tells of calls as they begin and end, until the connection is closed: to a member of those of own keys. Calls of other processes are told a second later.",
  parameters: [
    query("key", "Only of this key, by id or name."),
    query("account", "Only of this account."),
    query("team", "Only of this team."),
    query("session", "Only of this session."),
    query("model", "Only of this model."),
    query("provider", "Only of this provider; then only ends are told."),
    query(
      "status",
      "Only those that ended so; then only ends are told.",
      { values: VALUES.status },
    ),
    query("format", "Only of this format.", { values: VALUES.format }),
    query("tag", "Only with this tag, as name=value, or name alone."),
  ],
  answer: { types: ["text/event-stream"] },
  async handle({ request, state, administration, stillMay }) {
    const get = textOf(queryOf(request));
    const filter: LiveFilter = {
      key: get("key"),
      account: get("account"),
      team: get("team"),
      session: get("session"),
      model: get("model"),
      provider: get("provider"),
      status: get("status"),
      format: get("format"),
      tag: get("tag"),
    };
    const headers = {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    };
    if (request.method === "HEAD") return new Response(null, { headers });
    const events = await administration.watch({ filter, stillMay: () => stillMay() && state.ready() });
    return new Response(events, { headers });
  },
}];
