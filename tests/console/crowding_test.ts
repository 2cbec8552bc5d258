/** What somebody could do to others, and to the gateway, by asking for much of what they may have. */
import { assert, assertEquals } from "@std/assert";
import { admin, withPeople } from "./people.ts";

Deno.test("a member who asks again and again is refused, and nobody else is", () =>
  withPeople(async ({ ask, member }) => {
    const ada = await member("ada");
    const bob = await member("bob");
    const statuses = new Set<number>();
    // A minute that ends meanwhile begins the count anew.
    for (let i = 0; i < 1000 && !statuses.has(429); i++) {
      statuses.add((await ask("GET", "/admin/keys?limit=1", { headers: ada })).status);
    }
    assertEquals([...statuses], [200, 429]);
    assertEquals((await ask("GET", "/admin/keys", { headers: bob })).status, 200);
    assertEquals((await ask("GET", "/admin/keys", { headers: admin })).status, 200);
  }));

Deno.test("a member watches a bounded number of times at once, and others still can", () =>
  withPeople(async ({ gateway, member }) => {
    const ada = await member("ada");
    const bob = await member("bob");
    const watch = (headers: Record<string, string>, query = "") =>
      gateway.gateway.handle(new Request(`http://gateway/admin/live${query}`, { headers }));
    const streams: Response[] = [];
    for (let i = 0; i < 20; i++) streams.push(await watch(ada, `?model=m${i}`));
    assert(streams.every(({ status }) => status === 200));
    const more = await watch(ada);
    assertEquals([more.status, more.headers.has("retry-after")], [429, true]);
    await more.body?.cancel();
    for (const headers of [bob, admin]) {
      const one = await watch(headers);
      assertEquals(one.status, 200);
      streams.push(one);
    }
    await streams[0].body!.cancel();
    const again = await watch(ada);
    assertEquals(again.status, 200, "one has left");
    streams.push(again);
    for (const { body } of streams.slice(1)) await body!.cancel();
  }));

Deno.test("cells of exports that a spreadsheet would run are text, in every list that holds what others have named", () =>
  withPeople(async ({ ask, member }) => {
    const cells = ["=cmd()", "+1", "-1", "@SUM(A1)", "＝1", "＠x"];
    for (const name of cells) {
      const made = await ask("POST", "/admin/keys", { headers: admin, body: { name } });
      assertEquals(made.status, 201, made.text);
      await ask("POST", "/v1/chat/completions", {
        headers: { authorization: `Bearer ${made.json.secret}`, "x-svc-session": encodeURIComponent(name) },
        body: { model: "demo/model", max_tokens: 5, messages: [{ role: "user", content: "hi" }] },
      });
      await ask("POST", "/admin/tokens", { headers: admin, body: { name, role: "auditor" } });
    }
    await member("=HYPERLINK(1)");
    for (
      const path of [
        "keys",
        "generations",
        "usage?by=key",
        "tokens",
        "audit",
        "sessions",
        "usage?by=session,key",
      ]
    ) {
      const { text, status } = await ask("GET", `/admin/${path}`, {
        headers: { ...admin, accept: "text/csv" },
      });
      assertEquals(status, 200, path);
      const run = text.split(/[,\r\n]/).filter((cell) => /^"?[=+\-@＝＋－＠]/.test(cell));
      assertEquals(run, [], path);
    }
  }));
