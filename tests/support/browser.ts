/**
 * A real Chromium, driven by its DevTools protocol: what a person sees and does on a page. Where there is no Chromium, tests
 * say that they are skipped.
 */
import { assertEquals } from "@std/assert";
import { eventually } from "./time.ts";

const CANDIDATES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Null: this machine has none. */
export const CHROMIUM = CANDIDATES.find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}) ?? null;

if (CHROMIUM === null) console.warn("Skipped: there is no Chromium on this machine.");

type Fields = Record<string, unknown>;

/** Time for anything that a test waits for; a slow machine takes some of it. */
const PATIENCE_MS = 120_000;

/** What stands where it stood so many looks before stands still. */
const STILL = 3;

class Protocol {
  readonly #socket: WebSocket;
  readonly #waiting = new Map<number, { resolve(value: Fields): void; reject(error: Error): void }>();
  #next = 1;
  onEvent: (method: string, parameters: Fields, session: string | undefined) => void = () => {};

  constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const { id, method, params, result, error, sessionId } = JSON.parse(data);
      if (id === undefined) return this.onEvent(method, params, sessionId);
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      if (error) waiting?.reject(new Error(`${error.message} ${error.data ?? ""}`));
      else waiting?.resolve(result);
    };
  }

  static async connect(url: string): Promise<Protocol> {
    const socket = new WebSocket(url);
    await new Promise((resolve, reject) => {
      socket.onopen = resolve;
      socket.onerror = reject;
    });
    return new Protocol(socket);
  }

  // deno-lint-ignore no-explicit-any
  send(method: string, params: Fields = {}, sessionId?: string): Promise<any> {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#socket.send(JSON.stringify({ id, method, params, sessionId }));
    });
  }

  async close(): Promise<void> {
    const closed = new Promise((resolve) => this.#socket.onclose = resolve);
    this.#socket.close();
    await closed;
  }
}

export class BrowserPage {
  /** Messages of the console that are mistakes, exceptions, and what a policy refused. */
  readonly mistakes: string[] = [];
  /** Addresses asked for. */
  readonly requests: string[] = [];
  readonly #protocol: Protocol;
  readonly #session: string;
  /** Pages of one profile share cookies and storage. */
  readonly profile: string;

  constructor(protocol: Protocol, session: string, profile: string) {
    this.#protocol = protocol;
    this.#session = session;
    this.profile = profile;
  }

  // deno-lint-ignore no-explicit-any
  send(method: string, params: Fields = {}): Promise<any> {
    return this.#protocol.send(method, params, this.#session);
  }

  observe(method: string, parameters: Fields): void {
    // deno-lint-ignore no-explicit-any
    const told = parameters as any;
    if (method === "Runtime.exceptionThrown") {
      const { text, exception } = told.exceptionDetails;
      this.mistakes.push(`${text} ${exception?.description ?? ""}`);
    } else if (method === "Log.entryAdded" && told.entry.level === "error") {
      this.mistakes.push(`${told.entry.text} ${told.entry.url ?? ""}`);
    } else if (method === "Runtime.consoleAPICalled" && told.type === "error") {
      this.mistakes.push(told.args.map((one: Fields) => one.value ?? one.description).join(" "));
    } else if (method === "Network.requestWillBeSent") {
      this.requests.push(told.request.url);
    }
  }

  async open(url: string): Promise<void> {
    await this.send("Page.navigate", { url });
    await this.until("document.readyState === 'complete'");
  }

  /** What an expression of the page's comes to. */
  // deno-lint-ignore no-explicit-any
  async evaluate(expression: string): Promise<any> {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression,
      awaitPromise: true,
      returnByValue: true,
    });
    if (exceptionDetails) {
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    }
    return result.value;
  }

  /** Waits until an expression comes to something true, and `judge` takes it, and answers it. */
  // deno-lint-ignore no-explicit-any
  async until(expression: string, judge: (value: any) => boolean = () => true): Promise<any> {
    try {
      const look = async () => {
        const value = await this.evaluate(expression).catch(() => undefined);
        return value && judge(value) ? value : undefined;
      };
      return await eventually(look, {
        within: PATIENCE_MS,
        what: expression,
      });
    } catch (error) {
      const text = await this.evaluate("document.body.innerText.slice(0, 1500)").catch(() => "");
      throw new Error(`${error}\n${text}\n${this.mistakes.join("\n")}`);
    }
  }

  /** Waits until the page shows a text. */
  async shows(text: string): Promise<void> {
    await this.until(`document.body.innerText.includes(${JSON.stringify(text)})`);
  }

  /**
   * Presses the mouse on an element found by a selector, and by its text where that is given: when it has stood in the same
   * place for some looks and nothing lies over it. A press beside it would be nobody's.
   */
  async click(selector: string, text?: string): Promise<void> {
    const found = `[...document.querySelectorAll(${
      JSON.stringify(selector)
    })].find((e) => e.offsetParent !== null && ${
      text === undefined
        ? "true"
        : `(e.innerText.trim() === ${JSON.stringify(text)} || e.ariaLabel === ${JSON.stringify(text)})`
    })`;
    const place = `(() => {
      const e = ${found};
      if (!e || e.disabled || e.ariaDisabled === "true") return null;
      e.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
      const { x, y, width, height } = e.getBoundingClientRect();
      const at = { x: x + width / 2, y: y + height / 2 };
      const hit = document.elementFromPoint(at.x, at.y);
      const met = hit === e || e.contains(hit) || [...e.labels ?? []].some((one) => one.contains(hit));
      return met ? at : null;
    })()`;
    let [before, alike] = ["", 0];
    const { x, y } = await this.until(place, (now) => {
      const at = JSON.stringify(now);
      alike = at === before ? alike + 1 : 0;
      before = at;
      return alike === STILL;
    });
    for (const type of ["mousePressed", "mouseReleased"] as const) await this.mouse(type, { x, y });
  }

  async mouse(
    type: "mousePressed" | "mouseMoved" | "mouseReleased",
    at: { x: number; y: number },
  ): Promise<void> {
    await this.send("Input.dispatchMouseEvent", { type, ...at, button: "left", buttons: 1, clickCount: 1 });
  }

  /** Types into a field, over what stands there. */
  async fill(selector: string, text: string): Promise<void> {
    await this.until(`(() => {
      const e = document.querySelector(${JSON.stringify(selector)});
      if (!e) return false;
      e.focus();
      e.select?.();
      return document.activeElement === e;
    })()`);
    await this.send("Input.insertText", { text });
  }

  async press(key: string): Promise<void> {
    const more = key === "Enter"
      ? { text: "\r", windowsVirtualKeyCode: 13 }
      : key === "Tab"
      ? { windowsVirtualKeyCode: 9 }
      : key === "Escape"
      ? { windowsVirtualKeyCode: 27 }
      : {};
    await this.send("Input.dispatchKeyEvent", { type: "keyDown", key, code: key, ...more });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", key, code: key, ...more });
  }

  async size(width: number, height = 900): Promise<void> {
    await this.send("Emulation.setDeviceMetricsOverride", {
      width,
      height,
      deviceScaleFactor: 1,
      mobile: false,
    });
  }

  async colours(scheme: "light" | "dark"): Promise<void> {
    await this.send("Emulation.setEmulatedMedia", {
      features: [{ name: "prefers-color-scheme", value: scheme }, {
        name: "prefers-reduced-motion",
        value: "reduce",
      }],
    });
  }

  /** Nothing of the page is drawn any more, as in a tab that is not to be seen. */
  async hide(): Promise<void> {
    const { windowId } = await this.send("Browser.getWindowForTarget");
    await this.send("Browser.setWindowBounds", { windowId, bounds: { windowState: "minimized" } });
    await this.until("document.visibilityState === 'hidden'");
  }

  async screenshot(path: string): Promise<void> {
    const { data } = await this.send("Page.captureScreenshot", { format: "png" });
    await Deno.writeFile(path, Uint8Array.from(atob(data), (c) => c.charCodeAt(0)));
  }

  /** What axe finds wrong with the page as it stands, each as its rule and where. */
  async axe(): Promise<string[]> {
    axeSource ??= await axeCore();
    await this.evaluate(axeSource);
    return await this.evaluate(
      `axe.run(document, { resultTypes: ["violations"] }).then(({ violations }) =>
        violations.map((v) => v.id + ": " + v.nodes.map((n) => n.target.join(" ") + " " + (n.any[0]?.message ?? "")).join("; ")))`,
    );
  }

  /** The page itself must not scroll sideways. */
  async assertFits(): Promise<void> {
    const [inside, outside] = await this.evaluate(
      "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
    );
    assertEquals(inside <= outside, true, `the page is ${inside} px wide in a window of ${outside}`);
  }
}

let axeSource: string | undefined;

async function axeCore(): Promise<string> {
  const { default: axe } = await import("axe-core");
  return axe.source;
}

export interface Browser extends AsyncDisposable {
  /** @param beside a page whose profile it shares; absent: it has one of its own */
  page(beside?: BrowserPage): Promise<BrowserPage>;
  close(): Promise<void>;
}

/** A test that needs a browser; where there is none, it is ignored. */
export function browserTest(name: string, fn: () => void | Promise<void>): void {
  Deno.test({ name, ignore: CHROMIUM === null, fn });
}

export async function startBrowser(): Promise<Browser> {
  const folder = await Deno.makeTempDir({ prefix: "sluice-browser-" });
  const child = new Deno.Command(CHROMIUM!, {
    args: [
      "--headless=new",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--disable-background-networking",
      "--disable-component-update",
      "--no-first-run",
      "--hide-scrollbars",
      "--remote-debugging-port=0",
      `--user-data-dir=${folder}`,
      "about:blank",
    ],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const { endpoint, drained } = await listening(child.stderr);
  const protocol = await Protocol.connect(endpoint);
  const pages = new Map<string, BrowserPage>();
  protocol.onEvent = (method, parameters, session) => pages.get(session ?? "")?.observe(method, parameters);
  const browser: Browser = {
    async page(beside) {
      const browserContextId = beside?.profile ??
        (await protocol.send("Target.createBrowserContext")).browserContextId;
      const { targetId } = await protocol.send("Target.createTarget", {
        url: "about:blank",
        browserContextId,
      });
      const { sessionId } = await protocol.send("Target.attachToTarget", { targetId, flatten: true });
      const page = new BrowserPage(protocol, sessionId, browserContextId);
      pages.set(sessionId, page);
      for (const domain of ["Page", "Runtime", "Log", "Network"]) await page.send(`${domain}.enable`);
      await page.size(1280);
      return page;
    },
    async close() {
      await protocol.send("Browser.close").catch(() => {});
      await protocol.close();
      await child.status;
      await drained;
      await Deno.remove(folder, { recursive: true }).catch(() => {});
    },
    [Symbol.asyncDispose]: () => browser.close(),
  };
  return browser;
}

/** The address of the protocol, which the browser prints; what it prints later is read and dropped. */
async function listening(
  stderr: ReadableStream<Uint8Array>,
): Promise<{ endpoint: string; drained: Promise<void> }> {
  const reader = stderr.pipeThrough(new TextDecoderStream() as TransformStream<Uint8Array, string>)
    .getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`Chromium ended: ${text}`);
    text += value;
    const endpoint = /DevTools listening on (ws:\/\/\S+)/.exec(text)?.[1];
    if (endpoint === undefined) continue;
    const drained = (async () => {
      while (!(await reader.read()).done);
    })();
    return { endpoint, drained };
  }
}
