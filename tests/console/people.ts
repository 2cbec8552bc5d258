/** A gateway with an identity provider, and people who sign in with it as members. */
import { assertEquals } from "@std/assert";
import { CLIENT, type OidcProvider, oidcProvider } from "../support/oidc_provider.ts";
import type { TestGateway } from "../support/gateway.ts";
import { ADMIN, type Ask, cookieOf, withConsole } from "./rig.ts";

export const admin = { authorization: `Bearer ${ADMIN}` };
const CHAT = { model: "demo/model", max_tokens: 5, messages: [{ role: "user", content: "hi" }] };

export interface People {
  ask: Ask;
  gateway: TestGateway;
  provider: OidcProvider;
  /** Headers of a session of this person. */
  member(name: string, more?: Record<string, unknown>): Promise<Record<string, string>>;
  /** Makes a key and a generation with it; answers the ids of both. */
  used(
    headers: Record<string, string>,
    body: Record<string, unknown>,
  ): Promise<{ key: string; generation: string }>;
}

export async function withPeople(
  test: (rig: People) => Promise<void>,
  config: Record<string, unknown> = {},
  oidc: Record<string, unknown> = {},
): Promise<void> {
  const provider = await oidcProvider();
  try {
    await withConsole(async (ask, gateway) => {
      await test({
        ask,
        gateway,
        provider,
        async member(name, more = {}) {
          provider.person = {
            sub: name,
            preferred_username: name,
            roles: ["dev"],
            groups: ["research"],
            ...more,
          };
          const start = await ask("GET", "/console/oidc/start");
          const back = await provider.authorize(start.headers.get("location")!);
          const { pathname, search } = new URL(back);
          const signedIn = await ask("GET", pathname + search, { headers: { cookie: cookieOf(start) } });
          assertEquals(signedIn.status, 303, signedIn.text);
          const cookie = cookieOf(signedIn);
          const shown = await ask("GET", "/console/session", { headers: { cookie } });
          return { cookie, "x-svc-csrf": shown.json.csrf };
        },
        async used(headers, body) {
          const made = await ask("POST", "/admin/keys", { body, headers });
          assertEquals(made.status, 201, made.text);
          const { status, headers: answered, text } = await ask("POST", "/v1/chat/completions", {
            body: CHAT,
            headers: { authorization: `Bearer ${made.json.secret}` },
          });
          assertEquals(status, 200, text);
          return { key: made.json.id, generation: answered.get("x-request-id")! };
        },
      });
    }, {
      config: {
        teams: [{ name: "research" }, { name: "sales" }],
        oidc: {
          issuer: provider.issuer,
          client_id: CLIENT.id,
          client_secret: CLIENT.secret,
          roles: { claim: "roles", map: { dev: "member" } },
          team_claim: "groups",
          ...oidc,
        },
        ...config,
      },
    });
  } finally {
    await provider.close();
  }
}
