/** The files in which AWS's own programs keep logins. Renewed logins are written back for them, and kept in memory in any case. */
import { type Loose, object, parse, string } from "../../../exchange/json.ts";
import type { Surroundings } from "../surroundings.ts";

/** The time before its end at which a login is renewed, as by AWS's libraries. */
export const BEFORE_MS = 300_000;

/** Renewed logins, by path of their file: it may not be writable. */
const renewedLogins = new WeakMap<Surroundings, Map<string, Loose>>();

export class LoginFile {
  readonly #path: string;
  readonly #surroundings: Surroundings;
  readonly #endOf: (login: Loose) => number;

  /** @param endOf the time at which a login ends, in milliseconds; NaN: unknown */
  constructor(path: string, surroundings: Surroundings, endOf: (login: Loose) => number) {
    this.#path = path;
    this.#surroundings = surroundings;
    this.#endOf = endOf;
  }

  /** The login in the file, or a renewed one that ends later. Empty: there is none. */
  async read(): Promise<Loose> {
    const written = object(parse(await this.#surroundings.readText(this.#path).catch(() => "")));
    const own = renewedLogins.get(this.#surroundings)?.get(this.#path);
    return own !== undefined && !(this.#endOf(written) > this.#endOf(own)) ? own : written;
  }

  async keep(login: Loose): Promise<void> {
    const own = renewedLogins.get(this.#surroundings) ?? new Map<string, Loose>();
    renewedLogins.set(this.#surroundings, own.set(this.#path, login));
    const { writeText = replaceFile } = this.#surroundings;
    // AWS's own programs would use the refresh token that has been used up. The folder may be read-only.
    await writeText(this.#path, JSON.stringify(login)).catch(() => {});
  }

  /** Milliseconds until a login ends; NaN: unknown. */
  leftOf(login: Loose): number {
    return this.#endOf(login) - this.#surroundings.now();
  }
}

/** A time in a file of AWS's programs. Earlier versions of `aws` write `UTC` in place of `Z`. */
export function momentOf(value: unknown): number {
  return Date.parse((string(value) ?? "").replace(/UTC$/, "Z"));
}

async function replaceFile(path: string, text: string): Promise<void> {
  const draft = `${path}.${crypto.randomUUID().slice(0, 8)}`;
  try {
    await Deno.writeTextFile(draft, text, { mode: 0o600 });
    await Deno.rename(draft, path);
  } catch (thrown) {
    await Deno.remove(draft).catch(() => {});
    throw thrown;
  }
}
