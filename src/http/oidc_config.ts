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
    "Issuer, exactly as the identity provider names it. Its endpoints and signing keys are read from `/.well-known/openid-configuration` below this URL.",
  ),
  client_id: nonBlank(512, "an id").describe(
    "Id of the client registered at the identity provider for Sluice, with the redirect URI `…/console/oidc/callback`.",
  ),
  client_secret: nonBlank(1024, "a secret").nullable().prefault(null).describe(
    "Secret of the client. Null: a public client without a secret.",
  ),
  client_auth: choice("basic", "post").prefault("basic").describe(
    "How the secret is sent to the identity provider: `basic` in the `Authorization` header, `post` in the body.",
  ),
  scopes: listOf(matching(/^[!#-[\]-~]{1,128}$/, "a scope"), "scopes").prefault([
    "openid",
    "profile",
    "email",
  ])
    .describe("Requested scopes. `openid` is always added."),
  roles: fields({
    claim: nonBlank(256, "a claim").describe(
      "Name of the claim that determines the role, or a path such as `realm_access.roles`. Its value is a string or a list of strings.",
    ),
    map: named(nonBlank(512, "a value"), choice(...ROLES)).describe(
      "The role for each value of the claim. A person with several roles gets the most powerful one. A person without a role is refused.",
    ),
  }).describe("How the role of a person is determined."),
  team_claim: nonBlank(256, "a claim").nullable().prefault(null).describe(
    "Name or path of the claim that contains the team of a member. The first value that is the name of a team is used; a leading slash is ignored. Null: members have no team and cannot create keys.",
  ),
  member_keys: whole(0, 1000).prefault(10).describe("Maximum number of keys of one member."),
  member_spend_limit: SPEND_LIMIT.nullable().prefault(null).describe(
    "Spend limit of each key of a member. Null: only the limit of the team applies.",
  ),
})
  .nullable();

/** Sign-in with an identity provider. */
export type OidcConfig = NonNullable<Value<typeof OIDC>>;
