/** An OpenID provider on loopback that lets everybody in, and that can be told to misbehave in one way. */
import * as jose from "jose";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";

export const CLIENT = { id: "sluice", secret: "client-secret-of-a-test" };

export interface Mischief {
  /** Replaces claims of the ID token. */
  claims?: Record<string, unknown>;
  /** Replaces the ID token. */
  token?(claims: Record<string, unknown>, issuer: string): string | Promise<string>;
  /** Replaces what discovery answers. */
  metadata?: Record<string, unknown>;
  /** A code can be used again. */
  replays?: boolean;
  /** Parameters of the answer that the browser brings back. */
  answer?: Record<string, string>;
  /** Subject that userinfo tells. */
  userinfo?: Record<string, unknown>;
  /** The token endpoint's answer takes forever. */
  silent?: boolean;
}

export interface OidcProvider extends AsyncDisposable {
  issuer: string;
  /** What the next one who signs in is. */
  person: Record<string, unknown>;
  mischief: Mischief;
  /** Names of the endpoints that were asked. */
  asked: string[];
  /** Follows the gateway's redirect as a browser would: answers the address that the provider sends it back to. */
  authorize(url: string): Promise<string>;
  /** Signs with another key from then on, which replaces the one before. */
  rotate(kid: string | undefined): Promise<void>;
  /** A token that another key has signed. */
  forge(claims: Record<string, unknown>): Promise<string>;
  close(): Promise<void>;
}

interface Grant {
  challenge: string;
  nonce: string;
  redirectUri: string;
}

/**
 * @param host a name for the address that it listens on: another site than 127.0.0.1 for browsers
 * @param client that it knows, with the access token that it gives out
 */
export async function oidcProvider(
  host: "127.0.0.1" | "localhost" = "127.0.0.1",
  client = { ...CLIENT, token: "access-token-of-a-test" },
): Promise<OidcProvider> {
  const keyPair = async (kid: string | undefined) => {
    const { privateKey, publicKey } = await jose.generateKeyPair("RS256", { extractable: true });
    const named = { alg: "RS256", ...(kid !== undefined && { kid }) };
    return { privateKey, named, jwk: { ...await jose.exportJWK(publicKey), ...named, use: "sig" } };
  };
  let own = await keyPair("k1");
  const other = await jose.generateKeyPair("RS256");
  const codes = new Map<string, Grant>();
  const sign = (claims: Record<string, unknown>, key = own.privateKey) =>
    new jose.SignJWT(claims as jose.JWTPayload).setProtectedHeader(own.named).sign(key);
  const provider = {
    person: {} as Record<string, unknown>,
    mischief: {} as Mischief,
    asked: [] as string[],
  };

  async function token(request: Request): Promise<Response> {
    const form = new URLSearchParams(await request.text());
    const basic = Buffer.from(request.headers.get("authorization")?.slice("Basic ".length) ?? "", "base64")
      .toString();
    const secret = basic === ""
      ? `${form.get("client_id")}:${form.get("client_secret")}`
      : decodeURIComponent(basic);
    if (secret !== `${client.id}:${client.secret}`) {
      return Response.json({ error: "invalid_client" }, { status: 401 });
    }
    const code = form.get("code") ?? "";
    const grant = codes.get(code);
    const challenge = createHash("sha256").update(form.get("code_verifier") ?? "").digest("base64url");
    if (
      grant === undefined || grant.challenge !== challenge || grant.redirectUri !== form.get("redirect_uri")
    ) {
      return Response.json({ error: "invalid_grant" }, { status: 400 });
    }
    if (!provider.mischief.replays) codes.delete(code);
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: client.id,
      iat: now,
      exp: now + 300,
      nonce: grant.nonce,
      ...provider.person,
      ...provider.mischief.claims,
    };
    return Response.json({
      access_token: client.token,
      token_type: "Bearer",
      expires_in: 300,
      id_token: await provider.mischief.token?.(claims, issuer) ?? await sign(claims),
    });
  }

  let issuer = "";
  async function handle(request: Request): Promise<Response> {
    const url = new URL(request.url);
    provider.asked.push(url.pathname);
    switch (url.pathname) {
      case "/.well-known/openid-configuration":
        return Response.json({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/jwks`,
          userinfo_endpoint: `${issuer}/userinfo`,
          end_session_endpoint: `${issuer}/logout`,
          id_token_signing_alg_values_supported: ["RS256"],
          ...provider.mischief.metadata,
        });
      case "/authorize": {
        const query = (name: string) => url.searchParams.get(name) ?? "";
        if (query("code_challenge_method") !== "S256" || query("client_id") !== client.id) {
          return new Response("refused", { status: 400 });
        }
        const code = crypto.randomUUID();
        codes.set(code, {
          challenge: query("code_challenge"),
          nonce: query("nonce"),
          redirectUri: query("redirect_uri"),
        });
        const back = new URL(query("redirect_uri"));
        const answer = { code, state: query("state"), ...provider.mischief.answer };
        for (const [name, value] of Object.entries(answer)) back.searchParams.set(name, value);
        return new Response(null, { status: 302, headers: { location: back.href } });
      }
      case "/token":
        return await token(request);
      case "/jwks":
        return Response.json({ keys: [own.jwk] });
      case "/userinfo":
        return Response.json({ sub: provider.person.sub, ...provider.mischief.userinfo });
      default:
        return new Response(null, { status: 404 });
    }
  }
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, handle);
  issuer = `http://${host}:${server.addr.port}`;
  return Object.assign(provider, {
    issuer,
    async authorize(url: string) {
      const response = await fetch(url, { redirect: "manual" });
      await response.body?.cancel();
      return response.headers.get("location") ?? "";
    },
    async rotate(kid: string | undefined) {
      own = await keyPair(kid);
    },
    forge: (claims: Record<string, unknown>) => sign(claims, other.privateKey),
    close: () => server.shutdown(),
    [Symbol.asyncDispose]: () => server.shutdown(),
  });
}
