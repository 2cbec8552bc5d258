/** What a member learns of others by what can be asked for: every parameter of every endpoint, cursors, pivots and forms. */
import { assert, assertEquals } from "@std/assert";
import { ENDPOINTS } from "../../src/assemble.ts";
import { USAGE_DIMENSIONS } from "../../src/store/mod.ts";
import { ACCESS } from "../../src/accounts/mod.ts";
import { admin, withPeople } from "./people.ts";

const READ = (await ENDPOINTS.all()).filter((e) =>
  e.credential === "admin_key" && e.method === "GET" &&
  (ACCESS[e.access] as readonly string[]).includes("member")
);

/** The first piece of an endless answer, else all of it. */
async function textOf(response: Response): Promise<string> {
  if (!response.headers.get("content-type")?.startsWith("text/event-stream")) return await response.text();
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  await reader.cancel();
  return new TextDecoder().decode(value);
}

Deno.test("a member learns nothing of others by any parameter with any of their values, in any form", () =>
  withPeople(async ({ ask, gateway, member, used }) => {
    const zebra = await member("zebra");
    const other = await used(zebra, { name: "stripes" });
    const plain = await used(admin, { name: "zebra-plain", team: "sales" });
    const cursorOf = async (path: string) => (await ask("GET", path, { headers: admin })).json.next_cursor;
    const values = [
      ...[other, plain].flatMap(({ key, generation }) => [key, generation]),
      "zebra",
      "zebra/stripes",
      "zebra-plain",
      "sales",
      "default",
      "demo",
      "%",
      "' OR '1'='1",
      "member=zebra",
      await cursorOf("/admin/keys?limit=1"),
      await cursorOf("/admin/generations?limit=1"),
      await cursorOf("/admin/usage?by=key&limit=1"),
    ];
    const secret = ["zebra", "stripes", other.key, other.generation, plain.key, plain.generation];
    const ids: Record<string, string[]> = {
      key: [other.key, plain.key, "zebra-plain", "zebra/stripes"],
      id: [other.generation, plain.generation],
    };
    let asked = 0;
    /** Paths that told of own keys or calls. */
    const shown = new Set<string>();
    let own: Record<string, string> = {};
    let laptop = { key: "", generation: "" };
    for (const { path, parameters = [] } of READ) {
      const names = [
        ...new Set([
          ...parameters.flatMap((p) => path.includes(`{${p.name}}`) ? [] : [p.name]),
          "cursor",
          "member",
          "owner",
        ]),
      ];
      const asks = names.flatMap((name) => values.map((value) => new URLSearchParams({ [name]: value })));
      asks.push(...names.map((name) => new URLSearchParams(values.map((value) => [name, value]))));
      asks.push(new URLSearchParams());
      const slot = /\{(\w+)\+?\}/.exec(path)?.[1];
      const paths = slot === undefined
        ? [path]
        : (ids[slot] ?? ["zebra"]).map((id) => path.replace(/\{\w+\+?\}/, encodeURIComponent(id)));
      for (const filled of paths) {
        for (const [i, query] of asks.entries()) {
          // What one person may ask for in a minute is bounded.
          if (asked++ % 250 === 0) {
            own = await member(`ada${asked}`);
            laptop = await used(own, { name: "laptop" });
          }
          const accept = ["application/json", "text/csv", "application/x-ndjson"][i % 3];
          const response = await gateway.gateway.handle(
            new Request(`http://gateway${filled}?${query}`, { headers: { ...own, accept } }),
          );
          const text = await textOf(response);
          assert(
            response.status < 500 && response.status !== 429,
            `${filled}?${query}: ${response.status} ${text}`,
          );
          if (text.includes(laptop.key) || text.includes(laptop.generation)) shown.add(path);
          // What was asked for may stand in what refuses it.
          if (response.status >= 400) continue;
          assertEquals(
            secret.filter((one) => text.includes(one)),
            [],
            `${filled}?${query} as ${accept}: ${text}`,
          );
        }
      }
    }
    assert(asked > 1000, `${asked} asked`);
    for (const path of ["/admin/keys", "/admin/generations", "/admin/live"]) assert(shown.has(path), path);
  }));

Deno.test("a member's sums by every pair of dimensions are those of own calls", () =>
  withPeople(async ({ ask, member, used }) => {
    const own = await member("ada");
    await used(own, { name: "laptop" });
    await used(await member("zebra"), { name: "stripes" });
    await used(admin, { name: "zebra-plain", team: "sales" });
    const dimensions = USAGE_DIMENSIONS.map((name) => name === "tag:NAME" ? "tag:customer" : name);
    for (const one of dimensions) {
      for (const two of dimensions) {
        const by = one === two ? one : `${one},${two}`;
        const { status, json, text } = await ask("GET", `/admin/usage?by=${encodeURIComponent(by)}`, {
          headers: own,
        });
        assertEquals(status, 200, `${by}: ${text}`);
        const calls = json.data.reduce(
          (sum: number, { generations }: { generations: number }) => sum + generations,
          0,
        );
        assertEquals(calls, 1, `${by}: ${text}`);
        assert(!/zebra|sales/.test(text), `${by}: ${text}`);
      }
    }
  }));
