/** A member's overview, live view and what needs a look: own keys' calls alone, whatever is asked for. */
import { assert, assertEquals } from "@std/assert";
import { admin, withPeople } from "./people.ts";
import { tomorrow } from "./rig.ts";

const CHAT = (model: string) => ({ model, max_tokens: 5, messages: [{ role: "user", content: "hi" }] });
/** Whatever stands for others in an answer. */
const THEIRS = /zebra|secret-project|key_config|plain/i;

Deno.test("a member's overview sums up own calls alone, in every range and by every dimension", () =>
  withPeople(async ({ ask, member, used }) => {
    const ada = await member("ada");
    const zebra = await member("zebra", { groups: ["sales"] });
    await used(ada, { name: "laptop" });
    await used(ada, { name: "desk" });
    const others = await used(zebra, { name: "stripes" });
    const plain = await ask("POST", "/admin/keys", { headers: admin, body: { name: "plain" } });
    for (let i = 0; i < 3; i++) {
      await ask("POST", "/v1/chat/completions", {
        body: CHAT("demo/model"),
        headers: { authorization: `Bearer ${plain.json.secret}`, "x-svc-tags": "project=secret-project" },
      });
    }
    for (const range of ["15m", "1h", "6h", "24h", "7d", "30d", "90d", "1y"]) {
      for (const by of ["model", "provider", "key", "team", "tag"]) {
        const label = `${range} by ${by}`;
        const { status, json, text } = await ask("GET", `/admin/overview?range=${range}&by=${by}`, {
          headers: ada,
        });
        assertEquals(status, 200, text);
        assertEquals([json.total.requests, json.store, json.complete], [2, true, true], label);
        const sum = (values: number[]) => values.reduce((n, value) => n + value, 0);
        assertEquals(sum(json.series.requests), 2, label);
        const values = json.groups.map(({ value }: { value: string }) => value).sort();
        assertEquals(
          values,
          {
            model: ["demo/model"],
            provider: ["demo"],
            key: ["ada/desk", "ada/laptop"],
            team: ["research"],
            tag: [],
          }[by],
          label,
        );
        for (const group of json.groups) assert(group.requests <= 2, label);
        assert(!THEIRS.test(text) && !text.includes(others.key), `${label}: ${text}`);
      }
    }
    // For comparison: there is more that others may see.
    const all = await ask("GET", "/admin/overview?range=1h&by=key", { headers: admin });
    assertEquals(all.json.total.requests, 6);
  }));

Deno.test("a name that somebody else's key had before brings no sums along", () =>
  withPeople(async ({ ask, member, used }) => {
    // A key of the same name, made by an administrator and revoked.
    const before = await used(admin, { name: "ada/laptop" });
    await ask("DELETE", `/admin/keys/${before.key}`, { headers: admin });
    const ada = await member("ada");
    await used(ada, { name: "laptop" });
    for (const range of ["1h", "30d"]) {
      const { json } = await ask("GET", `/admin/overview?range=${range}&by=key`, { headers: ada });
      assertEquals(
        [json.total.requests, json.groups.map((g: { requests: number }) => g.requests)],
        [1, [1]],
        range,
      );
    }
  }));

Deno.test("a member's live view tells of own calls alone, whatever it asks for", () =>
  withPeople(async ({ ask, gateway, member, used }) => {
    const ada = await member("ada");
    const zebra = await member("zebra");
    await used(ada, { name: "laptop" });
    const theirs = await used(zebra, { name: "stripes" });
    const watch = async (query: string, headers: Record<string, string>) => {
      const { body, status } = await gateway.gateway.handle(
        new Request(`http://gateway/admin/live${query}`, { headers }),
      );
      assertEquals(status, 200);
      return body!.pipeThrough(new TextDecoderStream()).getReader();
    };
    const seen: string[] = [];
    const queries = [
      "",
      "?key=zebra/stripes",
      `?key=${theirs.key}`,
      "?model=demo/model",
      "?team=research",
      "?format=chat_completions",
    ];
    const readers = await Promise.all(queries.map((query) => watch(query, ada)));
    for (const reader of readers) seen.push((await reader.read()).value!);
    const [hello] = seen;
    assertEquals(JSON.parse(/data: (.*)/.exec(hello)![1]).recent.map((call: { key: string }) => call.key), [
      "ada/laptop",
    ]);
    await used(zebra, { name: "herd" });
    const { generation } = await used(ada, { name: "desk" });
    // What comes next for each of these is of the last call.
    for (const [i, reader] of readers.entries()) {
      if (i === 1 || i === 2) continue;
      for (let text = ""; !text.includes(generation);) seen.push(text = (await reader.read()).value!);
    }
    for (const text of seen) assert(!THEIRS.test(text) && !text.includes(theirs.key), text);
    for (const reader of readers) await reader.cancel();
    // An administrator is told of all.
    const all = await watch("", admin);
    assert(/zebra/.test((await all.read()).value!));
    await all.cancel();
    assertEquals((await ask("GET", "/admin/live", { headers: {} })).status, 401);
  }));

Deno.test("a member's list of what needs a look has own keys alone", () =>
  withPeople(async ({ ask, gateway, member, used }) => {
    const ada = await member("ada");
    const zebra = await member("zebra");
    const soon = tomorrow();
    await used(ada, { name: "laptop", expires_at: soon });
    await used(zebra, {
      name: "stripes",
      expires_at: soon,
      spend_limit: { amount: "0.000001", period: "total" },
    });
    await used(admin, { name: "plain", expires_at: soon });
    const names = async (headers: Record<string, string>) => {
      const { json, text, status } = await ask("GET", "/admin/attention", { headers });
      assertEquals(status, 200, text);
      return [
        json.data.map(({ kind, name }: { kind: string; name: string }) => `${kind} ${name}`).sort(),
        text,
      ];
    };
    const [own, text] = await names(ada);
    assertEquals(own, ["key ada/laptop"]);
    assert(!THEIRS.test(text));
    const [all] = await names(admin);
    for (const one of ["key ada/laptop", "key plain", "key zebra/stripes"]) {
      assert(all.includes(one), all.join());
    }
    // What concerns the gateway as a whole is not a member's affair.
    gateway.gateway.notReloaded(new Error("made up"));
    assert((await names(admin))[0].some((one: string) => one.startsWith("configuration")));
    assertEquals((await names(ada))[0], ["key ada/laptop"]);
  }));
