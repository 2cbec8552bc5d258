/** Requests that are sent again, and streams that are read again: they join what is there, and cost nothing. */
import { assert, assertEquals } from "@std/assert";
import type { Driver } from "./driver.ts";
import type { Key } from "./model.ts";
import type { Answer } from "./requests.ts";

interface Repeatable {
  key: Key;
  send(secret: string): Promise<Answer>;
  /** Until then it is kept. */
  until: number;
  id: string;
  stream: boolean;
  text: string;
}

export class Repeats {
  readonly #driver: Driver;
  #known: Repeatable[] = [];

  constructor(driver: Driver) {
    this.#driver = driver;
  }

  add(one: Repeatable): void {
    this.#known.push(one);
  }

  /** A node was killed, or the clock was set back: nobody knows which answers are still there. */
  forget(): void {
    this.#known = [];
  }

  async come(): Promise<void> {
    const driver = this.#driver;
    this.#known = this.#known.filter(({ until, key }) =>
      until > driver.now && !key.revoked && key.expires > driver.now + 2000
    );
    if (this.#known.length === 0) return;
    const { key, send, id, stream, text } = driver.pick(this.#known);
    const { secret } = key.secrets.at(-1)!;
    if (stream && driver.chance(0.5)) {
      const again = await this.#resume(id, secret);
      assertEquals([again.status, again.text], [200, text], `resumed: ${id}`);
      driver.count("resumed");
      return;
    }
    const got = await send(secret);
    assertEquals([got.status, got.joined, got.id], [200, true, id], `joined: ${got.text}`);
    driver.count("joined");
  }

  /** Reads a stream that has ended once more, at any node. */
  async #resume(id: string, secret: string): Promise<{ status: number; text: string }> {
    const { url } = this.#driver.pick(this.#driver.nodes);
    const response = await fetch(`${url}/v1/generations/${id}/stream`, {
      headers: { authorization: `Bearer ${secret}` },
    });
    return { status: response.status, text: await response.text() };
  }

  /** Of two equal requests at once, one joins the other. */
  joined(first: Answer, second: Answer, nonce: string): void {
    const what = `${nonce}: ${JSON.stringify(first)} and ${JSON.stringify(second)}`;
    if (first.status !== 200 || second.status !== 200) {
      assert(first.status !== 200 && second.status !== 200, what);
      return;
    }
    assertEquals([first.id, [first.joined, second.joined].sort()], [second.id, [false, true]], what);
    this.#driver.count("twins");
  }
}
