/**
 * The audit trail of one administration request: who asked for which change, and the result. Entries about
 * changes are written before the response is sent.
 *
 * A change without a detailed entry, and a refused one, also leave an entry.
 */
import { Failure } from "../../exchange/failure.ts";
import type { AuditLog } from "./audit_log.ts";
import type { Principal } from "../keys/roles.ts";
import type { AuditEntry } from "../types.ts";

export interface Change {
  /** Name of the action: `key.changed`. */
  action: string;
  key?: AuditEntry["key"];
  account?: string;
  /** Id or name of the changed object. */
  target?: string;
  /** New values, by field. */
  fields?: object;
  /** Previous values of these fields. */
  before?: object;
}

export interface TrailOptions {
  audit: Pick<AuditLog, "add" | "flush">;
  principal: Principal;
  /** `PATCH /admin/keys/{key}`; null: not a request to an endpoint. */
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

  /** Records a change that has been made. */
  async note(change: Change): Promise<void> {
    this.#noted = true;
    await this.#write(change, "done");
  }

  /** The request has succeeded. */
  async done(): Promise<void> {
    if (!this.#noted) await this.#write(this.#plain(), "done");
  }

  /** The request was refused, or has failed. */
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

/** Fields by name, without secrets, and without long texts. */
function withoutSecrets(fields: object): object {
  return Object.fromEntries(
    Object.entries(fields).filter(([name]) => !/secret|hash|password/i.test(name))
      .map(([name, value]) => [name, typeof value === "string" ? value.slice(0, MOST_TEXT) : value]),
  );
}
