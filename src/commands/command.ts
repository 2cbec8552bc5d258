/** The commands with their parsed arguments. */

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
    /** Paths of files and folders; `-` means standard input. */
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
  /** `about`: of this command alone; without its second word: of all with the first. */
  | { command: "help"; about?: string }
  | { command: "version" };

/** Arguments of `init`. A missing one is asked for, or gets its default. */
export interface InitAnswers {
  /** Names of presets. */
  providers?: readonly string[];
  /** URL of the store. */
  store?: string;
  port?: number;
}

export interface ReplayCommand {
  command: "replay";
  config?: string;
  json: boolean;
  id: string;
  model?: string;
  /** URL of the gateway that is called; default: the one of the configuration. */
  url?: string;
  /** Its API key; default: SLUICE_KEY. */
  secret?: string;
}

export interface ConnectCommand {
  command: "connect";
  config?: string;
  client: string;
  write: boolean;
  /** An API key; default: a key is created. */
  secret?: string;
  url?: string;
  model?: string;
}

/** Arguments of `keys create`. Other fields of a key are set by the administration API. */
export interface NewKey {
  name: string;
  account?: string;
  team?: string;
  accessPolicy?: string;
  dlpPolicy?: string;
  /** ISO 8601, with a time zone. */
  expiresAt?: string;
}
