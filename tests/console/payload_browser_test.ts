/** A payload in the console: read on demand, by keyboard and by screen reader as well. */
import { assert, assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { assertFine, signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "a payload is shown when somebody asks for it, masked as it was sent, in places that scroll by keyboard",
  async () => {
    const folder = await Deno.makeTempDir({ prefix: "sluice-payloads-" });
    const gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
      admin_key: ADMIN,
      dlp_policies: { cards: { mode: "mask" } },
      payloads: { to: `file:${folder}`, key: btoa("k".repeat(32)) },
      keys: [{ name: "shop", secret: SECRET, dlp_policy: "cards", payloads: true }],
    });
    const browser = await startBrowser();
    try {
      const content = `card 4111 1111 1111 1111 ${"and a line\n".repeat(200)}`;
      const answer = await gateway.post("/v1/chat/completions", {
        model: "demo/model",
        messages: [
          { role: "user", content },
          { role: "user", content },
          ...Array(40).fill({ role: "user", content: "more" }),
        ],
      });
      assertEquals(answer.status, 200, await answer.text());
      const id = answer.headers.get("x-request-id");
      await eventually(async () => {
        const kept = await fetch(`${gateway.url}/admin/generations/${id}/payload`, {
          headers: { authorization: `Bearer ${ADMIN}` },
        });
        await kept.body?.cancel();
        return kept.ok;
      });
      const page = await browser.page();
      await signIn(page, gateway.url);
      await to(page, "Explore");
      await page.click("main tbody a");
      await page.shows("from the payload log");
      assert(!page.requests.some((url) => url.endsWith("/payload")), "not before it is asked for");
      await page.click("dialog button", "Show");
      await page.until("document.querySelectorAll('pre.payload').length === 2");
      const text: string = await page.evaluate("document.querySelector('dialog').innerText");
      assert(text.includes("<CREDIT_CARD_1>") && !text.includes("4111"), text.slice(0, 2000));
      assert(
        await page.evaluate(
          "(({ scrollHeight, clientHeight }) => scrollHeight > clientHeight)(document.querySelector('pre.payload'))",
        ),
      );
      await page.evaluate("document.querySelector('pre.payload').focus()");
      assertEquals(
        await page.evaluate(
          "[...document.querySelectorAll('pre.payload')].map((e) => [e === document.activeElement, e.ariaLabel])",
        ),
        [[true, "Request"], [false, "Answer"]],
      );
      await assertFine(page, "a payload");
      assertEquals(page.mistakes, []);
    } finally {
      await browser.close();
      await gateway.close();
      await Deno.remove(folder, { recursive: true });
    }
  },
);
