/** The commands, as the command line says them. */

export type Command =
  | { command: "serve"; config?: string; port?: number; hostname?: string; workers?: number; demo?: boolean }
  | { command: "check"; config?: string }
  | { command: "permissions"; config?: string }
  | { command: "keys"; action: "create"; config?: string; json: boolean } & NewKey
  | { command: "keys"; action: "list"; config?: string; json: boolean }
  | { command: "keys"; action: "revoke"; config?: string; json: boolean; key: string }
  | { command: "keys"; action: "rotate"; config?: string; json: boolean; key: string; overlapSeconds: number }
  | {
    command: "usage";
    config?: string;
    json: boolean;
    by: string;
    from?: string;
    to?: string;
    limit?: number;
  }
  | { command: "generations"; config?: string; json: boolean; key?: string; session?: string; limit: number }
  | {
    command: "dlp";
    action: "scan";
    config?: string;
    /** Paths of files and folders; `-` is standard input. */
    files: string[];
    policy?: string;
    form: "text" | "json" | "sarif";
  }
  | { command: "backup"; config?: string; json: boolean; file: string; force: boolean }
  | { command: "restore"; config?: string; json: boolean; file: string; force: boolean }
  | { command: "store"; action: "info"; config?: string; json: boolean }
  | {
    command: "statement";
    config?: string;
    account: string;
    month: string;
    by: string;
    form: "text" | "csv" | "json";
  }
  | { command: "payload"; config?: string; id: string }
  | ReplayCommand
  | { command: "ledger"; action: "verify"; config?: string; json: boolean }
  | { command: "models"; config?: string; json: boolean; diff: boolean }
  | { command: "init"; file: string; force: boolean } & InitAnswers
  | { command: "import"; from: "litellm"; file: string }
  | ConnectCommand
  | { command: "try"; config?: string; json: boolean; text: string; models?: string; limit: number }
  | { command: "providers"; config?: string; json: boolean }
  | { command: "help" }
  | { command: "version" };

/** What `init` is told on the command line; what is left out it asks, or takes the usual. */
export interface InitAnswers {
  /** Names of presets. */
  providers?: readonly string[];
  /** Address of the store. */
  store?: string;
  port?: number;
}

export interface ReplayCommand {
  command: "replay";
  config?: string;
  json: boolean;
  id: string;
  model?: string;
  /** Of the gateway that is asked; absent: the one of the configuration. */
  url?: string;
  /** Its secret; absent: SLUICE_KEY. */
  secret?: string;
}

export interface ConnectCommand {
  command: "connect";
  config?: string;
  client: string;
  write: boolean;
  /** A secret; absent: a key is made. */
  secret?: string;
  url?: string;
  model?: string;
}

/** What `keys create` says of the new key; the rest is set by the administration API. */
export interface NewKey {
  name: string;
  account?: string;
  team?: string;
  accessPolicy?: string;
  dlpPolicy?: string;
  /** ISO 8601, with a zone. */
  expiresAt?: string;
}
