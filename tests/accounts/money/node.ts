/** A process of {@link child.ts}, started, told and killed by the test. */
const CHILD = new URL("./child.ts", import.meta.url).pathname;
const ROOT = new URL("../../../deno.json", import.meta.url).pathname;

/** What nodes stand on. */
export interface Place {
  name: string;
  /** Configuration of the store, of each node. */
  stores: Record<string, unknown>[];
  workers: boolean;
  /** Nodes have no journals. */
  diskless?: boolean;
  /** Minutes of rates go by the clock of the database. */
  rateClock: "node" | "database";
}

export interface NodeOptions {
  config: unknown;
  place: string;
  ahead: number;
}

export class Node {
  url = "";
  /** What it printed on stderr. */
  said = "";
  readonly #child: Deno.ChildProcess;
  readonly #in: WritableStreamDefaultWriter<Uint8Array>;
  #lines: string[] = [];
  #wake: (() => void) | null = null;
  #over = false;

  private constructor({ config, place, ahead }: NodeOptions) {
    this.#child = new Deno.Command(Deno.execPath(), {
      args: [
        "run",
        "-A",
        "--no-check",
        "--config",
        ROOT,
        CHILD,
        JSON.stringify(config),
        place,
        String(ahead),
      ],
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#in = this.#child.stdin.getWriter();
    void this.#read();
    void this.#listen();
  }

  static async start(options: NodeOptions): Promise<Node> {
    const node = new Node(options);
    const line = await node.#line();
    node.url = line.replace("listening ", "");
    return node;
  }

  async tell(line: string): Promise<void> {
    await this.#in.write(new TextEncoder().encode(`${line}\n`));
    await this.#line();
  }

  async kill(): Promise<void> {
    this.#child.kill("SIGKILL");
    await this.#child.status;
  }

  async stop(): Promise<void> {
    await this.#in.close();
    await this.#child.status;
  }

  async #line(): Promise<string> {
    while (this.#lines.length === 0) {
      if (this.#over) throw new Error(`The node has ended: ${this.said}`);
      await new Promise<void>((resolve) => this.#wake = resolve);
    }
    return this.#lines.shift()!;
  }

  async #read(): Promise<void> {
    let rest = "";
    for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop()!;
      this.#lines.push(...lines);
      this.#wake?.();
    }
    this.#over = true;
    this.#wake?.();
  }

  async #listen(): Promise<void> {
    for await (const text of this.#child.stderr.pipeThrough(new TextDecoderStream())) this.said += text;
  }
}
