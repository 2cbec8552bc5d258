/** Two tabs of one browser, which share a session, and the end of a session. */
import { assert, assertEquals } from "@std/assert";
import { type Browser, type BrowserPage, browserTest, startBrowser } from "../support/browser.ts";
import { type TestGateway, testGateway } from "../support/gateway.ts";
import { signIn, to } from "./pages.ts";
import { ADMIN } from "./rig.ts";

async function withTabs(
  test: (rig: { browser: Browser; gateway: TestGateway; first: BrowserPage }) => Promise<void>,
) {
  await using gateway = await testGateway({ demo: { api: "demo", url: "" } }, { admin_key: ADMIN });
  await using browser = await startBrowser();
  const first = await browser.page();
  await signIn(first, gateway.url);
  await test({ browser, gateway, first });
}

const ROLE = "document.querySelector('.who small')?.innerText";
const AWAY = "document.querySelector('input[name=secret]') !== null";

browserTest(
  "a tab knows who has signed in with another one, and changes what it shows with that session",
  () =>
    withTabs(async ({ browser, gateway, first }) => {
      const made = await fetch(`${gateway.url}/admin/tokens`, {
        method: "POST",
        headers: { authorization: `Bearer ${ADMIN}`, "content-type": "application/json" },
        body: JSON.stringify({ name: "reader", role: "auditor" }),
      });
      const { secret } = await made.json();
      await to(first, "Keys");
      const second = await browser.page(first);
      await second.open(`${gateway.url}/console`);
      await second.until(`${ROLE} === "owner"`);
      await second.until("document.querySelector('.stats') && document.querySelector('.strip')");
      await second.click("button", "Sign out");
      await second.until(AWAY);
      await first.until(AWAY);
      await second.fill("input[name=secret]", secret);
      await second.press("Enter");
      await second.until(`${ROLE} === "auditor"`);
      await first.until(`${ROLE} === "auditor"`);
      // The page of the address, without what an auditor may not do.
      await first.until("document.querySelector('main h1')?.innerText === 'Keys'");
      await first.until("document.querySelector('main .waiting') === null");
      const buttons = await first.evaluate(
        "[...document.querySelectorAll('main button')].map((b) => b.innerText)",
      );
      assert(!buttons.includes("New key"), buttons.join());
      assertEquals([...first.mistakes, ...second.mistakes], []);
    }),
);

browserTest(
  "who cannot be signed out is told, and stays in; whose session has ended meanwhile is out",
  () =>
    withTabs(async ({ gateway, first }) => {
      await first.send("Network.emulateNetworkConditions", {
        offline: true,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      });
      await first.click("button", "Sign out");
      await first.until("document.querySelector('.toast.bad')");
      assertEquals(await first.evaluate(ROLE), "owner");
      await first.send("Network.emulateNetworkConditions", {
        offline: false,
        latency: 0,
        downloadThroughput: -1,
        uploadThroughput: -1,
      });
      first.mistakes.splice(0);
      const cookies = (await first.send("Network.getCookies", { urls: [gateway.url] })).cookies;
      const cookie = cookies.map(({ name, value }: Record<string, string>) => `${name}=${value}`).join("; ");
      const { csrf } = await (await fetch(`${gateway.url}/console/session`, { headers: { cookie } })).json();
      const ended = await fetch(`${gateway.url}/console/session`, {
        method: "DELETE",
        headers: { cookie, "x-svc-csrf": csrf },
      });
      await ended.body?.cancel();
      assertEquals(ended.status, 200);
      await first.click("button", "Sign out");
      await first.until(AWAY);
      assertEquals(await first.evaluate("document.querySelectorAll('.toast').length"), 1, "that of before");
    }),
);
