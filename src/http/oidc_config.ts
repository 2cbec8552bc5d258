/** The section `oidc` of the configuration: sign-in with an identity provider, and the rights of people. */
import { SPEND_LIMIT } from "../accounts/config.ts";
import { ROLES } from "../accounts/mod.ts";
import {
  choice,
  fields,
  listOf,
  matching,
  named,
  nonBlank,
  says,
  stringField,
  type Value,
  whole,
} from "../schema/fields.ts";

const ISSUER = "an https:// address without user, query or fragment; http:// on the own machine";

function isIssuer(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, username, password, search, hash } = new URL(text);
  const own = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
  return username + password + search + hash === "" && (protocol === "https:" || protocol === "http:" && own);
}

export const OIDC = fields({
  issuer: stringField(ISSUER).refine(isIssuer, says(ISSUER)).describe(
    "Issuer, exactly as the provider names itself. Its addresses and keys are read from `/.well-known/openid-configuration` below it.",
  ),
  client_id: nonBlank(512, "an id").describe(
    "Id of the client that the provider has registered for Sluice, with the redirect address `…/console/oidc/callback`.",
  ),
  client_secret: nonBlank(1024, "a secret").nullable().prefault(null).describe(
    "Secret of the client. Null: a public client, which has none.",
  ),
  client_auth: choice("basic", "post").prefault("basic").describe(
    "How the secret is sent to the provider: `basic` in the header, `post` in the body.",
  ),
  scopes: listOf(matching(/^[!#-[\]-~]{1,128}$/, "a scope"), "scopes").prefault([
    "openid",
    "profile",
    "email",
  ])
    .describe("Scopes that are asked for. `openid` is always among them."),
  roles: fields({
    claim: nonBlank(256, "a claim").describe(
      "Claim that says what somebody may do, by its name or as a path: `realm_access.roles`. Its value is a text or a list of texts.",
    ),
    map: named(nonBlank(512, "a value"), choice(...ROLES)).describe(
      "Roles by values of the claim. Who has several gets the one that may most; who has none is refused.",
    ),
  }).describe("Which role somebody gets."),
  team_claim: nonBlank(256, "a claim").nullable().prefault(null).describe(
    "Claim that names the team of a member, likewise; the first value that is a team counts, and a slash at its beginning does not. Null: members have no team, and make no keys.",
  ),
  member_keys: whole(0, 1000).prefault(10).describe("Keys that one member may have at once."),
  member_spend_limit: SPEND_LIMIT.nullable().prefault(null).describe(
    "The most that each key of a member may spend. Null: the team's limit alone.",
  ),
})
  .nullable();

/** Sign-in with an identity provider. */
export type OidcConfig = NonNullable<Value<typeof OIDC>>;
