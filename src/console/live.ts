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
    "Server-sent events when calls begin and end, until the connection is closed. Members get only the calls of their own keys. Calls of other processes are sent a second later.",
  parameters: [
    query("key", "Only of this key, by id or name."),
    query("account", "Only of this account."),
    query("team", "Only of this team."),
    query("session", "Only of this session."),
    query("model", "Only of this model."),
    query("provider", "Only of this provider. Then only ends of calls are sent."),
    query(
      "status",
      "Only those with this status. Then only ends of calls are sent.",
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
