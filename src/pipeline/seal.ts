/**
 * Signs proofs for callers of another format: `svc1.<payload>.<mac>`, both base64url. The payload is readable (a proof is
 * not a secret from the caller it was made for); the mac makes sure that only what this gateway issued goes back to a
 * provider. The mac is over the account as well: a proof belongs to the conversation of
 * the account that it was made for, and what another one sends is nobody's proof. So is what was sealed before seals named
 * an account: the reasoning beside it is then left out of the next turn.
 */
import { nodeCrypto } from "../exchange/hashes.ts";
import { Buffer } from "node:buffer";
import { isSealed, type Proof, type Seal, SEAL_PREFIX, type Unseal } from "../exchange/proof.ts";
import { parse } from "../exchange/json.ts";

/** Bytes of the mac that are kept: 128 bits. */
const MAC_BYTES = 16;

/** Seals for one account. */
export interface AccountSealer {
  seal: Seal;
  unseal: Unseal;
  /** Always the same of the same text, and nobody can tell the text from it: 12 hexadecimal digits. */
  fingerprint(text: string): string;
}

export interface Sealer {
  of(account: string): AccountSealer;
}

/** Accounts whose seals are kept ready. */
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
  // Base64url has no point, so payload and account cannot be shifted against each other.
  const mac = (payload: string) =>
    nodeCrypto().createHmac("sha256", secret).update(`${payload}.${account}`).digest().subarray(0, MAC_BYTES);
  return {
    // A payload has no line break.
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
  /** Stops asking for the shared secret. */
  close(): void;
}

/**
 * Seals with a secret of this process until the one that all nodes share is available, for which it asks again and again.
 * What was sealed in the meantime stays readable in this process.
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
