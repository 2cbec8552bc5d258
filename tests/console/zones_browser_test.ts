/** The console in other time zones, and addresses that somebody else has sent, or a program has cut. */
import { assertEquals, assertMatch } from "@std/assert";
import { type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { SECRET, testGateway } from "../support/gateway.ts";
import { eventually } from "../support/time.ts";
import { ROWS, signIn } from "./pages.ts";
import { ADMIN } from "./rig.ts";

/** Two calls: before and after midnight of UTC, when it is still the day before in New York. */
const TIMES = ["2026-11-22T23:30:00Z", "2026-11-23T00:30:00Z"];

async function inNewYork(test: (page: BrowserPage, url: string) => Promise<void>): Promise<void> {
  let now = Date.parse(TIMES[0]);
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, {
    admin_key: ADMIN,
    keys: [{ name: "shop", secret: SECRET }],
  }, { now: () => now });
  await using browser = await startBrowser();
  const messages = [{ role: "user", content: "hello" }];
  for (const time of TIMES) {
    now = Date.parse(time);
    await (await gateway.post("/v1/chat/completions", { model: "demo/model", messages })).text();
  }
  const page = await browser.page();
  await page.send("Emulation.setTimezoneOverride", { timezoneId: "America/New_York" });
  await signIn(page, gateway.url);
  await test(page, gateway.url);
  assertEquals(page.mistakes, []);
}

async function follow(page: BrowserPage, hash: string): Promise<void> {
  await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
}

browserTest(
  "moments of a search stand in the address as those of UTC, and in the fields as the reader's",
  () =>
    inNewYork(async (page) => {
      await follow(page, "#/explore?from=2026-11-23T00%3A00%3A00.000Z&to=2026-11-23T01%3A00%3A30.000Z");
      await page.until(`${ROWS}.length === 1`);
      const field = (name: string) => page.evaluate(`document.querySelector("input[name=${name}]").value`);
      assertEquals([await field("from"), await field("to")], ["2026-11-22T19:00", "2026-11-22T20:00"]);
      // What nobody has touched stays as it was, to the second.
      await page.fill("input[name=key]", "shop");
      await page.click("button", "Search");
      await page.until("location.hash.includes('key=shop')");
      const address = decodeURIComponent(await page.evaluate("location.hash"));
      assertMatch(address, /from=2026-11-23T00:00:00\.000Z&to=2026-11-23T01:00:30\.000Z/);
      await page.until(`document.querySelector("input[name=key]")?.value === "shop"`);
      await page.evaluate(`document.querySelector("input[name=from]").value = "2026-11-22T18:00"`);
      await page.click("button", "Search");
      await page.until(`decodeURIComponent(location.hash).includes("from=2026-11-22T23:00:00.000Z")`);
      await page.until(`${ROWS}.length === 2`);
    }),
);

browserTest(
  "days of charts are those of UTC, as in the table beside them, wherever the reader is",
  () =>
    inNewYork(async (page) => {
      await follow(
        page,
        "#/explore?view=usage&by=day&and=none&measure=generations&from=2026-11-22&to=2026-11-24",
      );
      await page.until("document.querySelector('.plot canvas')");
      const days = await page.evaluate("[...document.querySelectorAll('tbody th')].map((d) => d.innerText)");
      assertEquals(days, ["2026-11-23", "2026-11-22"]);
      const { x, y } = await page.evaluate(
        "(() => { const r = document.querySelector('.u-over').getBoundingClientRect(); return { x: r.right - 5, y: r.top + 50 }; })()",
      );
      await page.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
      assertMatch(await page.until("document.querySelector('.tip:not([hidden])')?.innerText"), /^23 Nov\n/);
      await page.click("tbody th a", "2026-11-23");
      await page.until(`location.hash.includes("from") && ${ROWS}.length === 1`);
    }),
);

browserTest(
  "an address that was cut, and one of a key that there is not, show what they can and say what is not there",
  () =>
    inNewYork(async (page, url) => {
      await follow(page, "#/keys?key=key_there_is_not");
      await page.shows("There is no such key");
      page.mistakes.splice(0);
      await follow(page, "#/keys?key=shop");
      await page.until("document.querySelector('dialog[open] h2')?.innerText === 'shop'");
      for (const hash of ["#/explore/%E0%A4%", "#/%"]) {
        await page.open("about:blank");
        await page.open(`${url}/console${hash}`);
        await page.until(
          "document.querySelector('nav a') && document.querySelector('main h1')?.innerText !== ''",
        );
      }
      assertEquals(page.mistakes.filter((mistake) => mistake.includes("URIError")), []);
      page.mistakes.splice(0);
    }),
);

browserTest(
  "a search that is repeated asks again, and a view that one tab keeps is in the other",
  () =>
    inNewYork(async (page) => {
      await follow(page, "#/explore?key=shop");
      await page.until(`${ROWS}.length === 2 && document.querySelector("input[name=key]")?.value === "shop"`);
      const asked = () => page.requests.filter((one) => one.includes("/admin/generations?")).length;
      const before = asked();
      await page.click("button", "Search");
      await eventually(() => asked() > before);
      await page.evaluate(`
        globalThis.frame = document.body.appendChild(document.createElement("iframe"));
        undefined;
      `);
      // Another document of the same origin is another tab to the storage.
      await page.evaluate(`localStorage.setItem("sluice.views.explore", "[]")`);
      const views = JSON.stringify([{ name: "mine", query: { key: "shop" } }]);
      await page.evaluate(
        `frame.contentWindow.localStorage.setItem("sluice.views.explore", ${JSON.stringify(views)})`,
      );
      await page.until("document.querySelector('.view a')?.innerText === 'mine'");
    }),
);
