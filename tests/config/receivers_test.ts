/** The URL of a webhook often authorizes posting to it: no message shows more of it than the host. */
import { assert, assertEquals } from "@std/assert";
import { least, load, mistakesOf } from "./example.ts";

const SECRET = "T0123/B4567/canary";

Deno.test("a mistaken URL of a receiver is shown without its path", () => {
  const cases: [written: string, shown: string][] = [
    [`htps://discord.example/api/${SECRET}`, '"htps://discord.example/…"'],
    [`https://user:canary@discord.example/${SECRET}`, '"https://…@discord.example/…"'],
    [`ftp://discord.example?key=${SECRET}`, '"ftp://discord.example/…"'],
    [`discord.example/${SECRET}`, "another value (not shown)"],
    ["canary", "another value (not shown)"],
    ["", '""'],
  ];
  for (const [written, shown] of cases) {
    const found = mistakesOf(() =>
      load({
        ...least(),
        webhooks: [{ url: written, secret: "s" }],
        alerts: [{ name: "a", when: { metric: "error_rate" }, to: [{ webhook: written, secret: "s" }] }],
      })
    );
    assertEquals(found.map((mistake) => /got (.*)$/.exec(mistake)?.[1]), [shown, shown], written);
    assert(!JSON.stringify(found).includes("canary"));
  }
});
