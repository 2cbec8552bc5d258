/**
 * Signs proofs for callers of another format: `svc1.<payload>.<mac>`, both base64url. The payload is readable, since a proof is not secret
 * from its caller. The MAC ensures that only proofs issued by this gateway are sent to a provider. It includes the account, so a proof is
 * valid only for the account for which it was issued. Invalid proofs, including those from versions whose seals had no account, are
 * dropped together with their reasoning.
 */
import { nodeCrypto } from "../exchange/hashes.ts";
import { Buffer } from "node:buffer";
import { isSealed, type Proof, type Seal, SEAL_PREFIX, type Unseal } from "../exchange/proof.ts";
import { parse } from "../exchange/json.ts";

/** Length of the truncated MAC in bytes: 128 bits. */
const MAC_BYTES = 16;

/** Seals for one account. */
export interface AccountSealer {
  seal: Seal;
  unseal: Unseal;
  /** A keyed hash of the text: 12 hexadecimal digits. */
  fingerprint(text: string): string;
}

export interface Sealer {
  of(account: string): AccountSealer;
}

/** Maximum number of cached sealers, one for each account. */
const MOST_KNOWN = 1000;

/** @param secret at least 32 bytes, the same on every node */
export function sealer(secret: Uint8Array): Sealer {
  const known = new Map<string, AccountSealer>();
  return {
    of(account) {
      let made = known.get(account);
      if (made === undefined) {
        if (known.size >= MOST_KNOWN) known.clear();
        known.set(account, made = accountSealer(secret, account));
      }
      return made;
    },
  };
}

function accountSealer(secret: Uint8Array, account: string): AccountSealer {
  // Base64url has no ".", so the boundary between payload and account is unambiguous.
  const mac = (payload: string) =>
    nodeCrypto().createHmac("sha256", secret).update(`${payload}.${account}`).digest().subarray(0, MAC_BYTES);
  return {
    // Payloads contain no line break, so a fingerprint cannot be used as the MAC of one.
    fingerprint: (text) => mac(`fingerprint\n${text}`).toString("hex").slice(0, 12),
    seal(proof) {
      const fields = [
        proof.api,
        proof.kind,
        proof.data,
        proof.id ?? null,
        proof.call ?? null,
        proof.on ?? null,
      ];
      const payload = Buffer.from(JSON.stringify(fields)).toString("base64url");
      return `${SEAL_PREFIX}${payload}.${mac(payload).toString("base64url")}`;
    },
    unseal(text) {
      if (!isSealed(text)) return null;
      const dot = text.lastIndexOf(".");
      const payload = text.slice(SEAL_PREFIX.length, dot);
      const given = Buffer.from(text.slice(dot + 1), "base64url");
      if (given.length !== MAC_BYTES || !nodeCrypto().timingSafeEqual(given, mac(payload))) return null;
      const fields = parse(Buffer.from(payload, "base64url").toString());
      if (!Array.isArray(fields)) return null;
      const [api, kind, data, id, call, on] = fields as [
        Proof["api"],
        Proof["kind"],
        string,
        string | null,
        string | null,
        Proof["on"] | null,
      ];
      return {
        api,
        kind,
        data,
        ...(id !== null && { id }),
        ...(call !== null && { call }),
        ...(on && { on }),
      };
    },
  };
}

export interface LateSealer extends Sealer {
  /** Stops requesting the shared secret. */
  close(): void;
}

/**
 * Seals with a secret of this process until the secret shared by all nodes is available, which it requests repeatedly. Seals made in the
 * meantime remain valid in this process.
 */
export function lateSealer(own: Uint8Array, shared: () => Promise<Uint8Array>, retryMs = 2000): LateSealer {
  const temporary = sealer(own);
  let known: Sealer | null = null;
  let closed = false;
  let timer = setTimeout(ask, retryMs);
  async function ask(): Promise<void> {
    try {
      known = sealer(await shared());
    } catch {
      if (!closed) timer = setTimeout(ask, retryMs);
    }
  }
  return {
    of: (account) => ({
      seal: (proof) => (known ?? temporary).of(account).seal(proof),
      fingerprint: (text) => (known ?? temporary).of(account).fingerprint(text),
      unseal: (text) => known?.of(account).unseal(text) ?? temporary.of(account).unseal(text),
    }),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}
