/**
 * What one administration call leaves in the audit log: who asked for which change of what, and how that ended. Entries of what
 * was changed are written before the answer.
 *
 * A change that nobody noted in detail leaves an entry all the same, as does one that was refused.
 */
import { Failure } from "../../exchange/failure.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Principal } from "../keys/roles.ts";
import type { AuditEntry } from "../types.ts";

export interface Change {
  /** What was done: `key.changed`. */
  action: string;
  key?: AuditEntry["key"];
  account?: string;
  /** Id or name of what was changed. */
  target?: string;
  /** What was given, by field. */
  fields?: object;
  /** What those fields were before. */
  before?: object;
}

export interface TrailOptions {
  audit: Pick<AuditLog, "add" | "flush">;
  principal: Principal;
  /** `PATCH /admin/keys/{key}`; null: no endpoint was called. */
  route: string | null;
  /** Values of the path's placeholders. */
  parameters?: Readonly<Record<string, string>>;
}

const MOST_TEXT = 500;

export class Trail {
  readonly #options: TrailOptions;
  #noted = false;

  constructor(options: TrailOptions) {
    this.#options = options;
  }

  get principal(): Principal {
    return this.#options.principal;
  }

  /** Tells of a change that has been made. */
  async note(change: Change): Promise<void> {
    this.#noted = true;
    await this.#write(change, "done");
  }

  /** The call has ended well. */
  async done(): Promise<void> {
    if (!this.#noted) await this.#write(this.#plain(), "done");
  }

  /** The call has been refused, or has failed. */
  async failed(thrown: unknown): Promise<void> {
    if (!this.#noted) await this.#write(this.#plain(), Failure.from(thrown).code);
  }

  #plain(): Change {
    const { parameters = {} } = this.#options;
    const target = Object.values(parameters).join(" ");
    return { action: "called", ...(target !== "" && { target }) };
  }

  async #write(
    { action, key = null, account, target, fields, before }: Change,
    result: string,
  ): Promise<void> {
    const { audit, principal: { by, role, name, credential }, route } = this.#options;
    audit.add({
      kind: "admin",
      key,
      ...(account !== undefined && { account }),
      data: {
        by,
        role,
        name,
        credential,
        route,
        action,
        target: target ?? key?.id ?? account ?? null,
        ...(fields !== undefined && { fields: withoutSecrets(fields) }),
        ...(before !== undefined && { before: withoutSecrets(before) }),
        result,
      },
    });
    await audit.flush();
  }
}

/** Fields by name, without those that hold a secret, and without texts of any length. */
function withoutSecrets(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !/secret|hash|password/i.test(name))
      .map(([name, value]) => [name, typeof value === "string" ? value.slice(0, MOST_TEXT) : value]),
  );
}
