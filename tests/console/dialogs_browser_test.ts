/** Dialogs of the console in a real browser: how they end, whatever is drawn meanwhile, and what is there afterwards. */
import { assertEquals } from "@std/assert";
import { type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { testGateway } from "../support/gateway.ts";
import { signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

const OPEN = "[...document.querySelectorAll('dialog')].map((d) => [d.open, d.querySelector('h2').innerText])";

async function withKeys(test: (page: BrowserPage) => Promise<void>): Promise<void> {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
  await using browser = await startBrowser();
  for (const name of ["first", "second", TURNED]) {
    const made = await fetch(`${gateway.url}/admin/keys`, {
      method: "POST",
      headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
      body: JSON.stringify({ name }),
    });
    assertEquals(made.status, 201);
    await made.body?.cancel();
  }
  const page = await browser.page();
  await signIn(page, gateway.url);
  await to(page, "Keys");
  await test(page);
  assertEquals(page.mistakes, []);
}

/** A name that is written from right to left. */
const TURNED = "\u05d0\u05d7\u05ea";

const only = (title: string) => `JSON.stringify(${OPEN}) === '${JSON.stringify([[true, title]])}'`;
const BOTH = `${OPEN}.filter(([open]) => open).length === 2`;
const NONE = "document.querySelector('dialog') === null";

browserTest(
  "a dialog is gone after Escape and after its button also while nothing of the page is drawn",
  () =>
    withKeys(async (page) => {
      await page.click("main tbody a", "first");
      await page.until(only("first"));
      await page.hide();
      await page.press("Escape");
      await page.until(NONE);
      assertEquals(await page.evaluate("location.hash"), "#/keys");
      await page.click("button", "New key");
      await page.until(only("New key"));
      await page.click("dialog header button", "Close");
      await page.until(NONE);
    }),
);

browserTest(
  "a dialog that another has taken the place of is there again when that one is closed",
  () =>
    withKeys(async (page) => {
      await page.click("main tbody a", "first");
      await page.click("dialog button", "Change limits");
      await page.until(only("Change first"));
      await page.press("Escape");
      await page.until(only("first"));
      await page.press("Escape");
      await page.until(NONE);
      await page.click("main tbody a", "first");
      await page.until(only("first"));
    }),
);

browserTest(
  "a question is open as soon as it is asked: Escape before its first frame is for it",
  () =>
    withKeys(async (page) => {
      await page.click("main tbody a", "first");
      await page.until(only("first"));
      const open = await page.evaluate(`(() => {
        [...document.querySelectorAll("dialog button")].find((e) => e.innerText === "Revoke").click();
        return document.querySelectorAll("dialog[open]").length;
      })()`);
      assertEquals(open, 2);
      await page.press("Escape");
      await page.until(only("first"));
    }),
);

browserTest(
  "a question is answered with no by going back, and closes alone by Escape",
  () =>
    withKeys(async (page) => {
      await page.click("main tbody a", "first");
      await page.click("dialog button", "Revoke");
      await page.until(BOTH);
      await page.press("Escape");
      await page.until(only("first"));
      await page.click("dialog button", "Revoke");
      await page.until(BOTH);
      await page.evaluate("history.back()");
      await page.until(NONE);
      await page.click("main tbody a", "first");
      await page.until(only("first"));
      await page.until("document.querySelector('dialog .danger')?.ariaBusy === null");
    }),
);

browserTest(
  "a name that is written from right to left does not turn the question around it",
  () =>
    withKeys(async (page) => {
      await page.click("main tbody a", TURNED);
      await page.click("dialog button", "Revoke");
      await page.until(BOTH);
      const left = (text: string) =>
        page.evaluate(`(() => {
          const question = [...document.querySelectorAll("dialog")].find((d) => d.innerText.includes("cannot be undone"));
          const walker = document.createTreeWalker(question, NodeFilter.SHOW_TEXT);
          while (walker.nextNode()) {
            const at = walker.currentNode.data.indexOf(${JSON.stringify(text)});
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(walker.currentNode, at);
            range.setEnd(walker.currentNode, at + ${text.length});
            return range.getBoundingClientRect().left;
          }
        })()`);
      const places = [await left("Calls"), await left(TURNED), await left("are"), await left("refused")];
      assertEquals(places.toSorted((a, b) => a - b), places);
    }),
);

browserTest(
  "the focus goes back to where it was when a dialog, a question or a secret is closed",
  () =>
    withKeys(async (page) => {
      const focused = (what: string) =>
        page.until(`document.activeElement?.innerText === ${JSON.stringify(what)}`);
      const focus = (selector: string, text: string) =>
        page.evaluate(
          `[...document.querySelectorAll("${selector}")].find((e) => e.innerText === "${text}").focus()`,
        );
      await focus("main button", "New key");
      await page.press("Enter");
      await page.until(only("New key"));
      await page.fill("dialog input[name=name]", "third");
      await page.press("Enter");
      await page.until(only("The secret of third"));
      await page.press("Escape");
      await page.until(NONE);
      await focused("New key");
      await focus("main tbody a", "first");
      await page.press("Enter");
      await page.until(only("first"));
      await focus("dialog button", "Revoke");
      await page.press("Enter");
      await page.until(BOTH);
      await page.press("Escape");
      await page.until(only("first"));
      await focused("Revoke");
      await page.press("Escape");
      await page.until(NONE);
      await focused("first");
    }),
);
