/** The console on a slow line. */
import { assertEquals } from "@std/assert";
import { browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { signIn } from "./pages.ts";
import { ADMIN } from "./rig.ts";

browserTest(
  "a page that asks again and again waits for an answer that takes longer than the time between",
  async () => {
    await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
    await using browser = await startBrowser();
    const page = await browser.page();
    // What the page asks for every 15 seconds it asks for every 20 ms here; each answer waits until another twenty were due.
    await page.send("Page.addScriptToEvaluateOnNewDocument", {
      source: `
          const every = setInterval, ask = fetch;
          let due = 0, watched = [];
          globalThis.setInterval = (work, ms) => every(() => {
            if (ms === 15000) {
              due++;
              watched = watched.filter((look) => !look());
            }
            work();
          }, ms === 15000 ? 20 : ms);
          globalThis.fetch = (url, init) => String(url).includes("/admin/overview")
            ? new Promise((resolve, reject) => {
                const from = due;
                init?.signal?.addEventListener("abort", () => reject(init.signal.reason));
                watched.push(() => due > from + 20 && (resolve(ask(url, init)), true));
              })
            : ask(url, init);
        `,
    });
    await signIn(page, gateway.url);
    await page.until("document.querySelector('.stats')");
    assertEquals(page.mistakes, []);
  },
);
